"""Code frames and inline differences, as compilers show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from jitlint.findings import Edit, Severity, Span
from jitlint.fix.text import Lines, split_lines
from jitlint.output.colour import Palette
from jitlint.output.places import expand

_AROUND = 2
_LONGEST = 5
_WIDEST = 160
_DIFF_AROUND = 1


def code_frame(lines: Lines, span: Span, severity: Severity, palette: Palette) -> list[str]:
    """The rows of a span with carets under it, and the rows around it."""
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


def diff_frame(lines: Lines, edits: Sequence[Edit], palette: Palette) -> list[str]:
    """What the edits (all of one file) change, with the row numbers of the result."""
    hunks = _hunks(lines, edits)
    gutter = len(str(max((hunk.new_row + len(hunk.new) for hunk in hunks), default=1)))
    blank = " " * gutter
    out = [palette.frame(f"{blank} |")]
    for hunk in hunks:
        if hunk is not hunks[0]:
            out.append(palette.frame("..."))
        for tag, old_start, old_end, new_start, new_end in SequenceMatcher(None, hunk.old, hunk.new).get_opcodes():
            if tag in ("replace", "delete"):
                for line in hunk.old[old_start:old_end]:
                    out.append(f"{blank} {palette.removed(f'- {expand(line, 1)[0]}'.rstrip())}")
            for index in range(new_start, new_end):
                line = expand(hunk.new[index], 1)[0]
                number = palette.frame(f"{hunk.new_row + index:>{gutter}}")
                sign = f"{palette.frame('|')} {line}" if tag == "equal" else palette.added(f"+ {line}".rstrip())
                out.append(f"{number} {sign}".rstrip())
    return out


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Some rows as they are and as they will be, and the number of the first of the new ones."""

    old: list[str]
    new: list[str]
    new_row: int


def _hunks(lines: Lines, edits: Sequence[Edit]) -> list[_Hunk]:
    """The rows around the edits; edits whose rows lie close are one hunk."""
    groups: list[list[Edit]] = []
    last = 0
    for edit in sorted(edits):
        if groups and edit.span.row - _DIFF_AROUND <= last + _DIFF_AROUND + 1:
            groups[-1].append(edit)
        else:
            groups.append([edit])
        last = max(last, edit.span.end_row)
    hunks: list[_Hunk] = []
    shift = 0
    for group in groups:
        first = max(1, group[0].span.row - _DIFF_AROUND)
        last = min(_last_row(lines), max(edit.span.end_row for edit in group) + _DIFF_AROUND)
        at, end = lines.offset(first, 1), lines.offset(last, len(lines.row(last)) + 1)
        old = lines.text[at:end]
        pieces: list[str] = []
        for edit in group:
            start, stop = lines.range(edit.span)
            pieces += [lines.text[at:start], edit.text]
            at = stop
        new = "".join([*pieces, lines.text[at:end]])
        hunk = _Hunk(split_lines(old), split_lines(new), first + shift)
        shift += len(hunk.new) - len(hunk.old)
        hunks.append(_trimmed(hunk))
    return hunks


def _trimmed(hunk: _Hunk) -> _Hunk:
    """The hunk with no more equal rows at its ends than are shown around a change."""
    shorter = min(len(hunk.old), len(hunk.new))
    head = next((i for i in range(shorter) if hunk.old[i] != hunk.new[i]), shorter)
    tail = next((i for i in range(shorter - head) if hunk.old[-1 - i] != hunk.new[-1 - i]), shorter - head)
    cut, keep = max(0, head - _DIFF_AROUND), max(0, tail - _DIFF_AROUND)
    return _Hunk(hunk.old[cut : len(hunk.old) - keep], hunk.new[cut : len(hunk.new) - keep], hunk.new_row + cut)


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
