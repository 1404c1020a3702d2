"""``jitlint explain``: what is traced in a function, and why."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from jitlint.cli.app import app

PROGRAM = """\
import jax


def scale(x, factor):
    y = x * factor
    return y


@jax.jit
def step(params, rate):
    n = params["w"].shape[0]
    return scale(params["w"], rate), n


step({"w": jax.numpy.ones(3)}, 0.1)
"""


def explain(place: str, *paths: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["explain", place, *paths])
    return result.exit_code, result.output


def test_a_function_with_the_way_its_values_came_to_be_traced(tmp_path: Path) -> None:
    file = tmp_path / "prog.py"
    file.write_text(PROGRAM, "utf-8")
    code, text = explain(f"{file}:scale")
    assert code == 0
    rows = {line.split()[1]: line.split()[-1] for line in text.splitlines() if not line.startswith(" ")}
    assert rows == {"x": "traced", "factor": "traced", "y": "traced"}
    assert "`rate` is traced: an argument of `step`" in text


def test_structures_and_what_is_static(tmp_path: Path) -> None:
    file = tmp_path / "prog.py"
    file.write_text(PROGRAM, "utf-8")
    _, text = explain(f"{file}:step")
    assert "dict(w: traced)" in text
    assert any(line.split()[1:] == ["n", "static", "3"] for line in text.splitlines())


def test_a_line(tmp_path: Path) -> None:
    file = tmp_path / "prog.py"
    file.write_text(PROGRAM, "utf-8")
    code, text = explain(f"{file}:5")
    assert code == 0
    assert all(f"{file.name}:5:" in line for line in text.splitlines() if not line.startswith(" "))


def test_callers_in_other_files_count(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("def double(x):\n    return x + x\n", "utf-8")
    (tmp_path / "main.py").write_text("import jax\nfrom lib import double\n\njax.jit(double)(1.0)\n", "utf-8")
    code, text = explain(f"{tmp_path / 'lib.py'}:double")
    assert code == 0
    assert "traced" in text


def test_wrong_places_say_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "prog.py"
    file.write_text(PROGRAM, "utf-8")
    for place, said in (
        (str(file), "FILE:FUNCTION"),
        (f"{tmp_path}/none.py:f", "no such file"),
        (f"{file}:nope", "nothing is known"),
    ):
        code, text = explain(place)
        assert code in (1, 2)
        assert said in text
