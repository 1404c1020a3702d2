"""jitlint against some 800 small programs whose outcome under JAX was executed."""

from __future__ import annotations

import json

import pytest

from tests.judge.fixtures import FIXTURES
from tests.judge.lint import findings
from tests.judge.scores import Score, below_floor, read_floors, score_oracle, summary

FOLDER = FIXTURES / "oracle"


@pytest.fixture(scope="module")
def score() -> Score:
    """The score of one run over all programs."""
    programs = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
    return score_oracle(findings((FOLDER / program["file"] for program in programs), select=None))


def test_no_figure_is_worse_than_recorded(score: Score) -> None:
    worse = below_floor(score, read_floors("oracle"))
    assert not worse, "\n".join([*worse, summary(score, verbose=True)])


def test_the_truth_names_every_program() -> None:
    named = {program["file"] for program in json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))}
    assert named == {path.name for path in FOLDER.glob("*.py")}
