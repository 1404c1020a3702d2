"""What the engine knows of values, held against the ``reveal`` marks that JAX has confirmed."""

from __future__ import annotations

import pytest

from tests.judge.fixtures import Fixture, engine_fixtures
from tests.judge.marks import read_marks, strip_marks
from tests.judge.verdict import same_value

FILES = [fixture for fixture in engine_fixtures() if not fixture.path.is_dir()]


@pytest.mark.parametrize("fixture", FILES, ids=lambda fixture: fixture.id)
def test_the_engine_knows_what_jax_has(fixture: Fixture) -> None:
    reveal = pytest.importorskip("jitlint.semantics.reveal")
    text = fixture.path.read_text(encoding="utf-8")
    said: dict[int, str] = reveal.revealed(strip_marks(text))
    marks = read_marks(text, fixture.path.name).reveal
    wrong = [
        f"{fixture.path.name}:{row}: marked `{wanted}`, the engine says `{said.get(row)}`"
        for row, wanted in sorted(marks.items())
        if not same_value(wanted, said.get(row, ""))
    ]
    assert not wrong, "\n".join(["", *wrong])


@pytest.mark.parametrize(
    "names",
    [
        'names = {"a"}; names.discard("a")',
        'names = {"a"} - set(dir(x))',
        'names = {"a"} if x.ndim == len(dir(x)) else set()',
        "names = set(); names.update(dir(x))",
        "names = set(dir(x))",
    ],
)
def test_whether_a_set_has_an_element_is_not_known(names: str) -> None:
    reveal = pytest.importorskip("jitlint.semantics.reveal")
    text = f"import jax\n\n\n@jax.jit\ndef f(x):\n    {names}\n    reveal(1 if names else x)\n    return x\n"
    assert reveal.revealed(text)[7].startswith("static 1 | ")
