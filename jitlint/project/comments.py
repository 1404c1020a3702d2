"""Comments and logical lines of a source text, read with ``tokenize`` so that strings are not mistaken for comments."""

from __future__ import annotations

import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from jitlint.project.index import split_rows

_NOT_IN_LINE = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT})
_FSTRING_STARTS = frozenset(
    getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name)
)
_FSTRING_ENDS = frozenset(getattr(tokenize, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, name))


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: its row, the column (from 0) of its ``#``, its text, and whether it has the row to itself."""

    row: int
    offset: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """The rows of one statement, or of the head of a compound one, and how far it is indented."""

    first_row: int
    last_row: int
    indent: int
    decorates: bool
    """It is a decorator, so that what it belongs to follows."""


@dataclass(slots=True)
class Scan:
    """What one pass over the tokens found."""

    rows: list[str]
    comments: list[Comment] = field(default_factory=list)
    lines: list[LogicalLine] = field(default_factory=list)
    open_rows: set[int] = field(default_factory=set)
    """Rows at whose end a comment can stand."""

    def line_at(self, row: int) -> LogicalLine | None:
        """The logical line that ``row`` is part of."""
        place = bisect_right(self.lines, row, key=lambda line: line.first_row) - 1
        return self.lines[place] if place >= 0 and row <= self.lines[place].last_row else None

    def lines_after(self, row: int) -> Iterator[LogicalLine]:
        """The logical lines that begin after ``row``."""
        yield from self.lines[bisect_left(self.lines, row + 1, key=lambda line: line.first_row) :]


def scan_comments(text: str) -> Scan:
    """Scan ``text``; from where it does not tokenize on, each row counts as a statement, each ``#`` as a comment."""
    scan = Scan(split_rows(text))
    reached = 0
    try:
        for token in _tokens(scan, _bare_rows(scan.rows)):
            reached = max(reached, token)
    except (tokenize.TokenError, SyntaxError):
        _scan_plainly(scan, reached)
    return scan


def _bare_rows(rows: list[str]) -> Iterator[str]:
    for row in rows:
        yield row.rstrip("\r\n") + "\n"


def _tokens(scan: Scan, rows: Iterator[str]) -> Iterator[int]:
    """Fill ``scan`` token by token, yielding the last row that is dealt with."""
    first: tokenize.TokenInfo | None = None
    nested = 0
    for token in tokenize.generate_tokens(lambda: next(rows, "")):
        row = token.start[0]
        if token.type == tokenize.COMMENT:
            alone = not token.line[: token.start[1]].strip() and (first is None or first.start[0] < row)
            scan.comments.append(Comment(row, token.start[1], token.string, alone))
        if token.type in _FSTRING_STARTS:
            nested += 1
        elif token.type in _FSTRING_ENDS:
            nested -= 1
        if token.type in (tokenize.NL, tokenize.NEWLINE) and not nested:
            scan.open_rows.add(row)
        if token.type == tokenize.NEWLINE:
            start = first or token
            scan.lines.append(LogicalLine(start.start[0], row, start.start[1], start.string == "@"))
            first = None
            yield row
        elif first is None and token.type not in _NOT_IN_LINE:
            first = token
        elif first is None:
            yield row if token.type in (tokenize.NL, tokenize.COMMENT) else 0


def _scan_plainly(scan: Scan, reached: int) -> None:
    scan.comments = [comment for comment in scan.comments if comment.row <= reached]
    for row, text in enumerate(scan.rows[reached:], start=reached + 1):
        code = text.strip()
        scan.open_rows.add(row)
        offset = text.find("#")
        if offset >= 0:
            scan.comments.append(Comment(row, offset, text[offset:].rstrip(), code.startswith("#")))
        if code and not code.startswith("#"):
            indent = len(text) - len(text.lstrip())
            scan.lines.append(LogicalLine(row, row, indent, code.startswith("@")))
