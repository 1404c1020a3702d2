"""Findings in notebooks are told by cell, and repairs go into the cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.programs import FLAG


def notebook(*cells: str) -> str:
    """A notebook with a text cell before each code cell, each with an output."""
    made: list[dict[str, object]] = []
    for source in cells:
        made.append({"cell_type": "markdown", "metadata": {}, "source": ["# text"]})
        lines = source.splitlines(keepends=True)
        output = {"output_type": "stream", "name": "stdout", "text": ["training: é\n"]}
        made.append(
            {"cell_type": "code", "execution_count": 3, "metadata": {"a": 1}, "outputs": [output], "source": lines}
        )
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


SETUP, USE = FLAG.split("\n\n\ng(")
CELLS = ("%matplotlib inline\nimport numpy as np", SETUP, "g(" + USE.rstrip("\n"))


@pytest.fixture
def path(here: Path) -> Path:
    path = here / "nb.ipynb"
    path.write_text(notebook(*CELLS))
    return path


def test_the_place_is_in_the_cell(run: Run, path: Path) -> None:
    assert run("check", "--output-format", "concise").out.startswith("nb.ipynb:cell 4:6:8: JIT102")
    [record] = json.loads(run("check", "--output-format", "json").out)
    assert (record["cell"], record["location"]) == (4, {"row": 6, "column": 8})
    assert "if training:" in run("check").out


def test_a_repair_changes_that_cell_and_nothing_else(run: Run, path: Path) -> None:
    before = json.loads(path.read_text())
    outcome = run("check", "--fix")
    assert outcome.code == 0
    assert "fixed nb.ipynb:cell 4:6:8" in outcome.err
    after = json.loads(path.read_text())
    assert "static_argnames" in "".join(after["cells"][3]["source"])
    for number, (old, new) in enumerate(zip(before["cells"], after["cells"], strict=True)):
        assert {**old, "source": 0} == {**new, "source": 0}
        if number > 3:
            assert old == new


def test_a_difference_is_shown_of_the_file(run: Run, path: Path) -> None:
    text = path.read_text()
    outcome = run("check", "--diff")
    assert outcome.code == 1
    assert outcome.out.startswith("--- nb.ipynb\n+++ nb.ipynb\n")
    assert path.read_text() == text


def test_a_cell_that_does_not_parse_is_one_finding(run: Run, here: Path) -> None:
    (here / "nb.ipynb").write_text(notebook("def f(:", *CELLS))
    outcome = run("check", "--output-format", "concise")
    assert "nb.ipynb:cell 2:1:" in outcome.out
    assert "JIT900" in outcome.out
    assert "nb.ipynb:cell 6:6:8: JIT102" in outcome.out


def test_an_ignore_comment_goes_into_the_cell(run: Run, path: Path) -> None:
    assert run("check", "--add-ignore").code == 0
    assert "if training:  # jitlint: ignore[JIT102]\\n" in path.read_text()
    assert run("check").code == 0
