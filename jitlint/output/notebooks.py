"""Edits of notebook cells as edits of the file, for formats that know no cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jitlint.findings import Edit, Span
from jitlint.fix.text import Lines
from jitlint.output.places import split_key
from jitlint.project.notebook import Notebook


def notebook_edits(filename: str, notebook: Notebook, edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits of the JSON text that change cells as ``edits`` (named ``nb.ipynb:cell 2``) do, one a cell."""
    by_cell: dict[int | None, list[Edit]] = {}
    for edit in edits:
        by_cell.setdefault(split_key(edit.filename)[1], []).append(edit)
    document = Lines(notebook.document)
    for cell in notebook.cells:
        if cell.number not in by_cell:
            continue
        new = notebook.rewritten(notebook.with_cells({cell.number: _edited(cell.text, by_cell[cell.number])}))
        start, end = cell.span
        value = new[start : len(new) - (len(notebook.document) - end)]
        start, end, value = _changed_rows(notebook.document, start, end, value)
        (row, column), (end_row, end_column) = document.position(start), document.position(end)
        yield Edit(filename, Span(row, column, end_row, end_column), value)


def _edited(text: str, edits: Iterable[Edit]) -> str:
    lines = Lines(text)
    for edit in sorted(edits, reverse=True):
        start, end = lines.range(edit.span)
        text = text[:start] + edit.text + text[end:]
    return text


def _changed_rows(document: str, start: int, end: int, value: str) -> tuple[int, int, str]:
    """The replacement without the rows at its ends that stay as they are."""
    old = document[start:end]
    before = next((at for at, (a, b) in enumerate(zip(old, value, strict=False)) if a != b), min(len(old), len(value)))
    before = old.rfind("\n", 0, before) + 1
    after = next(
        (at for at, (a, b) in enumerate(zip(reversed(old), reversed(value), strict=False)) if a != b),
        min(len(old), len(value)),
    )
    after = min(after, len(old) - before, len(value) - before)
    following = old.find("\n", len(old) - after)
    after = 0 if following < 0 else len(old) - following
    return start + before, end - after, value[before : len(value) - after]
