"""Findings in notebooks are told by cell, and repairs go into the cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jitlint.fix.text import Lines
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


def apply(text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]]) -> str:
    """The text with replacements from one row and column, both from 1, to another."""
    lines = Lines(text)
    for start, end, new in sorted(edits, reverse=True):
        text = text[: lines.offset(*start)] + new + text[lines.offset(*end) :]
    return text


@pytest.mark.parametrize("cells", [CELLS, ("x = 'é'\n", *CELLS)], ids=["as is", "not ascii"])
@pytest.mark.parametrize("layout", ["lines", "one string", "no line breaks"])
def test_machine_formats_carry_the_repair_that_fix_makes(
    layout: str, cells: tuple[str, ...], run: Run, here: Path
) -> None:
    path = here / "nb.ipynb"
    content = json.loads(notebook(*cells))
    if layout == "one string":
        for cell in content["cells"]:
            cell["source"] = "".join(cell["source"])
    path.write_text(json.dumps(content, indent=None if layout == "no line breaks" else 1, ensure_ascii=False) + "\n")
    before = path.read_text()
    sarif = json.loads(run("check", "--output-format", "sarif").out)
    rdjson = json.loads(run("check", "--output-format", "rdjson").out)
    [record] = json.loads(run("check", "--output-format", "json").out)
    run("check", "--fix")
    wanted = path.read_text()
    assert wanted != before

    [change] = sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "nb.ipynb"
    edits = []
    for each in change["replacements"]:
        region = each["deletedRegion"]
        start, end = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
        edits.append((start, end, each["insertedContent"]["text"]))
    assert apply(before, edits) == wanted

    edits = []
    for each in rdjson["diagnostics"][0]["suggestions"]:
        start, end = each["range"]["start"], each["range"]["end"]
        edits.append(((start["line"], start["column"]), (end["line"], end["column"]), each["text"]))
    as_bytes = apply(before.encode().decode("latin-1"), [(a, b, new.encode().decode("latin-1")) for a, b, new in edits])
    assert as_bytes.encode("latin-1").decode() == wanted

    texts = {number: "".join(cell["source"]) for number, cell in enumerate(content["cells"], start=1)}
    for number in texts:
        edits = [
            ((one["location"]["row"], one["location"]["column"]), tuple(one["end_location"].values()), one["content"])
            for one in record["fix"]["edits"]
            if one.get("cell", record["cell"]) == number and "filename" not in one
        ]
        texts[number] = apply(texts[number], edits)
    assert texts == {n: "".join(cell["source"]) for n, cell in enumerate(json.loads(wanted)["cells"], start=1)}
