"""``--dynamic``: JAX judges findings and repairs."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, FLAG


def test_a_finding_gets_a_verdict(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    outcome = run("check", "--dynamic", "--output-format", "json")
    assert outcome.code == 1
    [record] = json.loads(outcome.out)
    assert record["verdict"] == "confirmed"
    assert record["raised"]["class"] == "TracerBoolConversionError"
    assert "1 confirmed" in outcome.err


def test_people_are_told(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    assert "(confirmed by JAX)" in run("check", "--dynamic", "--output-format", "concise").out


def test_a_repair_that_traces_is_kept(run: Run, here: Path) -> None:
    path = here / "a.py"
    path.write_text(FLAG)
    assert run("check", "--fix", "--dynamic").code == 0
    assert "static_argnames" in path.read_text()


def test_variants_are_foreseen_without_running(run: Run, here: Path) -> None:
    (here / "a.py").write_text("import jax\n\n\n@jax.jit\ndef f(x):\n    return x + 1\n\n\nf(1.0)\nf(2)\n")
    outcome = run("check", "--variants", "--quiet", "--ignore", "JIT305")
    assert outcome.code == 0
    assert outcome.out.splitlines()[-2:] == [
        "a.py:4: f: exactly 2",
        "    the dtype of `x` changes from call to call: exactly 2 (float, int)",
    ]


def test_variants_are_listed(run: Run, here: Path) -> None:
    (here / "a.py").write_text("import jax\n\n\n@jax.jit\ndef f(x):\n    return x + 1\n\n\nf(1.0)\nf(2)\n")
    outcome = run("check", "--dynamic", "--variants", "--quiet", "--ignore", "JIT305")
    assert outcome.code == 0
    assert "f: 2 variants" in outcome.out


def test_a_program_that_cannot_run_changes_nothing(run: Run, here: Path) -> None:
    (here / "a.py").write_text("import no_such_module_at_all\n" + BRANCH)
    outcome = run("check", "--dynamic", "--verbose", "--output-format", "concise")
    assert outcome.code == 1
    assert "JIT101" in outcome.out
    assert "no_such_module_at_all" in outcome.err


def test_the_configuration_can_forbid_it(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text("[dynamic]\nallow-import = false\n")
    outcome = run("check", "--dynamic")
    assert outcome.code == 2
    assert "allow-import" in outcome.err


@pytest.mark.parametrize("by", ["option", "configuration"])
def test_an_interpreter_may_be_a_relative_path(by: str, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "bin").mkdir()
    (here / "bin" / "python").symlink_to(sys.executable)
    (here / "jitlint.toml").write_text('[dynamic]\npython = "bin/python"\n' if by == "configuration" else "")
    (here / "app").mkdir()
    (here / "app" / "a.py").write_text("def f(x):\n    return x\n")
    (here / "app" / "b.py").write_text("import jax\nf = jax.jit(lambda x: x)\n")
    monkeypatch.chdir(here / "app")
    python = ["--python", "../bin/python"] if by == "option" else []
    outcome = run("check", "--dynamic", "--verbose", *python)
    assert "cannot start" not in outcome.err


def test_an_interpreter_that_is_not_there_is_named(run: Run, here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    outcome = run("check", "--dynamic", "--python", "bin/no-such-python", "--output-format", "concise")
    assert outcome.code == 1
    assert "cannot start bin/no-such-python: No such file or directory" in outcome.err


@pytest.mark.parametrize("option", [["--python", "x"], ["--timeout", "5"], ["--dynamic-allow-import", "a"]])
def test_its_options_need_it(option: list[str], run: Run) -> None:
    outcome = run("check", *option)
    assert outcome.code == 2
    assert "--dynamic" in outcome.err


def test_what_was_traced_is_held_against_the_estimate(run: Run, here: Path) -> None:
    (here / "a.py").write_text("import jax\n\n\n@jax.jit\ndef f(x):\n    return x + 1\n\n\nf(1.0)\nf(2)\n")
    assert "    estimated: exactly 2" in run("check", "--dynamic", "--variants", "-q").out.splitlines()
    outcome = run("check", "--dynamic", "--variants", "-q", "--output-format", "json")
    (found,) = json.loads(outcome.out)
    assert (found["function"], found["estimate"]["count"], found["traced"]["count"]) == ("f", 2, 2)
    assert found["agrees"] is True
    assert found["recorded"] is None


def test_json_of_the_estimate_alone(run: Run, here: Path) -> None:
    (here / "a.py").write_text("import jax\n\n\n@jax.jit\ndef f(x):\n    return x + 1\n\n\nf(1.0)\nf(2)\n")
    outcome = run("check", "--variants", "--output-format", "json")
    (found,) = json.loads(outcome.out)
    assert found["estimate"]["text"] == "exactly 2"
    assert found["traced"] is None
    assert found["agrees"] is None
    assert outcome.code == 1


@pytest.mark.parametrize(
    ("hostile", "reason"),
    [
        ("raise RuntimeError('no data here')\n", "importing it raised RuntimeError: no data here .in its package."),
        ("import time\ntime.sleep(3600)\n", "because its time was over|took longer than 60 s"),
        ("import sys\nsys.exit(0)\n", "the module exits while it is imported .in its package."),
        ("import os\nos._exit(0)\n", "exit code 0"),
        ("print('[]' * 100_000, flush=True)\n", ""),
        ("import os\nif os.fork() == 0:\n    os._exit(0)\n", "importing it raised Refused"),
        ("x = bytearray(1 << 45)\n", "importing it raised MemoryError"),
        ("import a_package_that_nobody_has\n", "importing it raised ModuleNotFoundError"),
        ("import pathlib\npathlib.Path(__file__).with_name('trace.txt').touch()\n", "importing it raised Refused"),
    ],
    ids=["raises", "hangs", "exits", "dies", "prints", "forks", "grows", "lacks", "writes"],
)
def test_a_hostile_project_ends_with_the_reason_and_the_same_exit_code(
    hostile: str, reason: str, run: Run, here: Path
) -> None:
    """Each is a package, so that its other modules run into it as well."""
    package = here / "app"
    package.mkdir()
    (package / "__init__.py").write_text(hostile)
    (package / "model.py").write_text(BRANCH + "\n\nf(1.0)\n")
    (here / "pyproject.toml").write_text("[tool.jitlint.dynamic]\ntimeout = 60\n")
    plain = run("check", "--output-format", "json")
    outcome = run("check", "--dynamic", "--verbose", "--output-format", "json")
    assert outcome.code == plain.code == 1
    assert [each["code"] for each in json.loads(outcome.out)] == ["JIT101"]
    (found,) = json.loads(outcome.out)
    # What stands beside the hostile code is still tried, where it can be.
    assert found["verdict"] in ("confirmed", "unresolved")
    assert re.search(reason, outcome.err)
    assert sorted(path.name for path in package.iterdir()) == ["__init__.py", "model.py"]
