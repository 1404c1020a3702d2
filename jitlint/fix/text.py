"""Rows, columns and offsets in a text, counted as Python's tokenizer counts them.

``str.splitlines`` also breaks at form feeds and at Unicode separators, where Python does not: row numbers of the
analysis would drift, so lines are split here.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from jitlint.findings import Span

_NEWLINE = re.compile(r"\r\n|\r|\n")


class Lines:
    """The lines of one text: from row and column to offset and back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def __len__(self) -> int:
        """Number of rows; a text that ends in a newline has an empty last row."""
        return len(self._starts)

    def row(self, row: int) -> str:
        """The text of a row (from 1) without its newline; empty when there is no such row."""
        if not 1 <= row <= len(self._starts):
            return ""
        end = self._starts[row] if row < len(self._starts) else len(self.text)
        return self.text[self._starts[row - 1] : end].rstrip("\r\n")

    def offset(self, row: int, column: int) -> int:
        """The offset of a position, both counted from 1; the row after the last one is the end of the text.

        Raises ValueError where the text has no such position.
        """
        if row == len(self._starts) + 1 and column == 1:
            return len(self.text)
        if not 1 <= row <= len(self._starts) or not 1 <= column <= len(self.row(row)) + 1:
            raise ValueError(f"no position {row}:{column} in the text")
        return self._starts[row - 1] + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Row and column, from 1, of an offset."""
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1

    def range(self, span: Span) -> tuple[int, int]:
        """Start and end offset of a span. Raises ValueError where the text has no such span."""
        start, end = self.offset(span.row, span.column), self.offset(span.end_row, span.end_column)
        if end < start:
            raise ValueError(f"span {span.row}:{span.column} ends before it starts")
        return start, end


def split_lines(text: str) -> list[str]:
    """The rows of a text without their line endings."""
    return _NEWLINE.split(text)


def newline_of(text: str) -> str:
    """The line ending that the text uses: that of its first line, ``\\n`` when it has only one line."""
    match = _NEWLINE.search(text)
    return match.group() if match else "\n"


def with_newlines(text: str, newline: str) -> str:
    """The text with every line ending spelled ``newline``."""
    return text if newline == "\n" and "\r" not in text else _NEWLINE.sub(lambda _: newline, text)
