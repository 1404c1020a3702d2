"""Code frames and inline differences, as compilers show them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from jitlint.findings import Edit, Severity, Span
from jitlint.fix.text import Lines, newline_of, with_newlines
from jitlint.output.colour import Palette
from jitlint.output.places import expand

_AROUND = 2
_LONGEST = 5
_WIDEST = 160
_DIFF_AROUND = 1


def code_frame(text: str, span: Span, severity: Severity, palette: Palette) -> list[str]:
    """The rows of a span with carets under it, and the rows around it."""
    lines = Lines(text)
    last_row = span.end_row if span.end_column > 1 or span.end_row == span.row else span.end_row - 1
    first, last = max(1, span.row - _AROUND), min(_last_row(lines), last_row + _AROUND)
    while first < span.row and not lines.row(first).strip():
        first += 1
    while last > last_row and not lines.row(last).strip():
        last -= 1
    gutter = len(str(last))
    bar = palette.frame(f"{' ' * gutter} |")
    out = [bar]
    for row in range(first, last + 1):
        marked = span.row <= row <= last_row
        hidden = last_row - span.row >= _LONGEST and span.row + 2 < row < last_row
        if hidden:
            if row == span.row + 3:
                out.append(palette.frame("..."))
            continue
        line = lines.row(row)
        start, end = _marked_columns(line, row, span)
        shown, before, width = _window(line, start, end)
        out.append(f"{palette.frame(f'{row:>{gutter}} |')} {shown}".rstrip())
        if marked and line.strip():
            carets = palette.severity(severity, "^" * max(1, width))
            out.append(f"{bar} {' ' * before}{carets}")
    return [*out, bar]


def diff_frame(old: str, edits: Sequence[Edit], palette: Palette) -> list[str]:
    """What the edits (all of one file) change, with the row numbers of the result."""
    new = _applied(old, edits)
    before, after = Lines(old), Lines(new)
    old_rows = [before.row(row) for row in range(1, _last_row(before) + 1)]
    new_rows = [after.row(row) for row in range(1, _last_row(after) + 1)]
    groups = list(SequenceMatcher(None, old_rows, new_rows, autojunk=False).get_grouped_opcodes(_DIFF_AROUND))
    gutter = len(str(max((group[-1][4] for group in groups), default=1)))
    out = [palette.frame(f"{' ' * gutter} |")]
    for number, group in enumerate(groups):
        if number:
            out.append(palette.frame("..."))
        for tag, old_start, old_end, new_start, new_end in group:
            if tag in ("replace", "delete"):
                for line in old_rows[old_start:old_end]:
                    out.append(f"{' ' * gutter} {palette.removed(f'- {expand(line, 1)[0]}')}".rstrip())
            for row in range(new_start, new_end):
                line = expand(new_rows[row], 1)[0]
                number_text = palette.frame(f"{row + 1:>{gutter}}")
                if tag == "equal":
                    out.append(f"{number_text} {palette.frame('|')} {line}".rstrip())
                else:
                    out.append(f"{number_text} {palette.added(f'+ {line}')}".rstrip())
    return out


def _applied(text: str, edits: Sequence[Edit]) -> str:
    lines = Lines(text)
    at = 0
    pieces: list[str] = []
    for start, end, new in sorted((*lines.range(edit.span), edit.text) for edit in edits):
        pieces += [text[at:start], with_newlines(new, newline_of(text))]
        at = end
    return "".join([*pieces, text[at:]])


def _last_row(lines: Lines) -> int:
    """The number of rows that have something in them: the empty one behind a final newline does not count."""
    rows = len(lines)
    return rows - 1 if rows > 1 and not lines.row(rows) else rows


def _marked_columns(line: str, row: int, span: Span) -> tuple[int, int]:
    """First and one-past-last column of the span on a row, leading blanks of further rows left out."""
    start = span.column if row == span.row else len(line) - len(line.lstrip()) + 1
    end = span.end_column if row == span.end_row else len(line) + 1
    return start, end


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """The line as printed, the cells before the mark and the cells of the mark; a very long line is cut around it."""
    cut = 0
    if len(line) > _WIDEST:
        cut = max(0, min(start - 1 - _WIDEST // 4, len(line) - _WIDEST))
        tail = "…" if cut + _WIDEST < len(line) else ""
        line = line[cut : cut + _WIDEST] + tail
        if cut:
            line, cut = "…" + line, cut - 1
    shown, before = expand(line, start - cut)
    _, until = expand(line, min(end - cut, len(line) + 1))
    return shown, before, until - before
