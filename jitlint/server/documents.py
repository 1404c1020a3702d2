"""The texts that the editor has open, and the positions in them.

The protocol counts rows from 0, and columns in units of an encoding that client and server agree on; jitlint counts
rows and characters from 1. Rows are the same: both end them at ``\\n``, ``\\r\\n`` and ``\\r``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsprotocol import types
from pygls.workspace import PositionCodec

from jitlint.findings import Span
from jitlint.fix.text import Lines


@dataclass(frozen=True, slots=True)
class CellText:
    """A code cell that is open: its address, its number in the notebook (all cells count, from 1) and its text."""

    uri: str
    number: int
    text: str


@dataclass(frozen=True)
class Document:
    """One version of a file, or of a notebook with all its cells, as the editor has it."""

    uri: str
    path: Path
    """Absolute. What has no file yet has a path all the same, which does not exist."""
    text: str
    """The text of the file; of a notebook its JSON, made up from the cells."""
    version: int
    cells: tuple[CellText, ...] = ()
    is_notebook: bool = False

    @classmethod
    def of_notebook(cls, uri: str, path: Path, version: int, cells: Sequence[CellText], count: int) -> Document:
        """A notebook of ``count`` cells, of which ``cells`` are code."""
        sources = {cell.number: cell.text for cell in cells}
        made: list[dict[str, object]] = [
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": sources[number]}
            if number in sources
            else {"cell_type": "markdown", "metadata": {}, "source": ""}
            for number in range(1, count + 1)
        ]
        text = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        return cls(uri, path.with_suffix(".ipynb"), text, version, tuple(cells), is_notebook=True)

    def parts(self) -> list[tuple[int | None, str, str]]:
        """What the editor shows as a text of its own: the number of the cell (None for a file), address and text."""
        if self.is_notebook:
            return [(cell.number, cell.uri, cell.text) for cell in self.cells]
        return [(None, self.uri, self.text)]

    def part(self, cell: int | None) -> tuple[str, str] | None:
        """Address and text of a cell, or of the file; None where there is no such cell."""
        return next(((uri, text) for number, uri, text in self.parts() if number == cell), None)

    def cell_at(self, uri: str) -> int | None:
        """The number of the cell at an address; None for a file."""
        return next((cell.number for cell in self.cells if cell.uri == uri), None)


class Positions:
    """Translates places of one text. ``codec`` knows the units that were agreed on."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._lines = Lines(text)
        self._codec = codec

    @cached_property
    def end(self) -> types.Position:
        """The end of the text."""
        row = len(self._lines)
        return self.position(row, len(self._lines.row(row)) + 1)

    def position(self, row: int, column: int) -> types.Position:
        """The position of a row and a column, both from 1; a place that the text does not have is moved into it."""
        row = max(row, 1)
        if row > len(self._lines):
            return self.end
        before = self._lines.row(row)[: max(column, 1) - 1]
        return types.Position(row - 1, self._codec.client_num_units(before))

    def range(self, span: Span) -> types.Range:
        """The range of a span; at least one character wide, so that it can be seen."""
        start, end = self.position(span.row, span.column), self.position(span.end_row, span.end_column)
        if end == start:
            end = self.position(span.row, span.column + 1)
        return types.Range(start, end)

    def exact(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(*self._lines.position(start)), self.position(*self._lines.position(end)))

    def row_end(self, row: int) -> types.Position:
        """The end of a row (from 1)."""
        return self.position(row, len(self._lines.row(row)) + 1)

    def place(self, position: types.Position) -> tuple[int, int]:
        """Row and column, from 1, of a position of the client."""
        row = self._lines.row(position.line + 1)
        units = 0
        for column, character in enumerate(row, start=1):
            if units >= position.character:
                return position.line + 1, column
            units += self._codec.client_num_units(character)
        return position.line + 1, len(row) + 1
