"""Where the places of an outcome are in the editor: files, open documents, notebook cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types
from pygls.workspace import PositionCodec

from jitlint.output.places import split_key
from jitlint.project.discovery import absolute_path
from jitlint.server.documents import Document, Positions
from jitlint.server.run import Outcome


class Places:
    """Addresses and positions for one outcome. ``opened`` finds the open document of a file."""

    def __init__(self, outcome: Outcome, codec: PositionCodec, opened: Callable[[Path], Document | None]) -> None:
        self.outcome = outcome
        self._codec = codec
        self._opened = opened
        self._positions: dict[str, Positions] = {}

    def uri(self, name: str) -> str:
        """The address of a text by the name that located findings carry (``nb.ipynb:cell 2`` for a cell)."""
        filename, cell = split_key(name)
        document = self.outcome.document if filename == self.outcome.name else self._opened(absolute_path(filename))
        if document is None:
            return absolute_path(filename).as_uri()
        part = document.part(cell)
        return document.uri if part is None else part[0]

    def positions(self, name: str) -> Positions:
        """The positions in that text."""
        if name not in self._positions:
            self._positions[name] = Positions(self._text(name), self._codec)
        return self._positions[name]

    def _text(self, name: str) -> str:
        filename, cell = split_key(name)
        if filename == self.outcome.name:
            part = self.outcome.document.part(cell)
            if part is not None:
                return part[1]
        analysis = self.outcome.analysis
        return (analysis.shown_text(name) if analysis is not None else None) or ""

    def location(self, name: str, row: int, column: int) -> types.Location:
        """A place in that text, one character wide."""
        positions = self.positions(name)
        return types.Location(
            self.uri(name), types.Range(positions.position(row, column), positions.position(row, column + 1))
        )
