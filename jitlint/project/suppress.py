"""Ignore comments: which findings they cover, which of them cover none, and how to write new ones.

The forms::

    x = f(y)  # jitlint: ignore[JIT101, traced-branch] why it is fine        this line
    x = f(y)  # jitlint: ignore                                              this line, every rule
    x = f(y)  # noqa: JIT101                                                 this line
    # jitlint: ignore-next-line[JIT101]                                      the statement that follows
    # jitlint: disable[JIT101] … # jitlint: enable[JIT101]                   in between, or to the end of the block
    # jitlint: ignore-file[JIT101]                                           the file

A comment at the end of a statement that spans rows holds for all its rows. Rules are named by code or by name.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from jitlint.findings import Edit, Finding, Span
from jitlint.project.comments import Comment, Scan, scan_comments

_DIRECTIVES = ("ignore", "ignore-next-line", "ignore-file", "disable", "enable")
_OURS = re.compile(
    r"#[ \t]*jitlint:[ \t]*(?P<directive>[\w-]+)[ \t]*(?:\[(?P<codes>[^\]#]*)\])?(?P<reason>(?:(?!\s#\s).)*)",
    re.IGNORECASE,
)
_NOQA = re.compile(
    r"#[ \t]*noqa(?:[ \t]*:[ \t]*(?P<codes>[A-Z]+\d+(?:[ \t,]+[A-Z]+\d+)*))?(?=[\s,.;#]|$)", re.IGNORECASE
)
_WORDS = ("jitlint:", "noqa")
_NAMES_RULES = re.compile(r"jitlint:|noqa[ \t]*:[^\r\n]*jit\d")
_END_OF_FILE = 10**9

EVERY_RULE = ""
"""Stands for the code in a comment that names none."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """One ignore comment as written."""

    directive: str
    """``ignore``, ``ignore-next-line``, ``ignore-file``, ``disable``, ``enable`` or ``noqa``."""
    codes: tuple[str, ...]
    """Codes and names of rules, with ``noqa`` also those of other linters; empty means every rule."""
    reason: str
    span: Span
    """From the ``#`` to the end of the reason; a comment may hold other things before and after."""
    alone: bool
    """The comment has the row to itself."""


@dataclass(frozen=True, slots=True)
class Unused:
    """An ignore comment, or codes in it, that cover nothing: where, why, and the edit that takes them out."""

    span: Span
    message: str
    edit: Edit | None


@dataclass(frozen=True, slots=True)
class _Cover:
    """One code of one comment (by number) and the rows whose findings it covers."""

    comment: int
    code: str
    first_row: int
    last_row: int


@dataclass
class Suppressions:
    """The ignore comments of one text; it remembers which of them covered something."""

    ignores: tuple[Ignore, ...] = ()
    _covers: tuple[_Cover, ...] = ()
    _faults: tuple[Unused, ...] = ()
    _rows: tuple[str, ...] = ()
    _used: set[tuple[int, str]] = field(default_factory=set)

    @classmethod
    def of(cls, text: str, *, found: bool = True) -> Suppressions:
        """The ignore comments in ``text``; those that name no rule of ours only where something was ``found``, as else
        nothing is to be said of them. Never fails, whatever the text."""
        # Most files have none, and of those that have one for another linter most have nothing else.
        lowered = text.lower()
        if not any(word in lowered for word in _WORDS) or not found and _NAMES_RULES.search(lowered) is None:
            return cls()
        return _Reader(scan_comments(text)).read()

    def covers(self, finding: Finding) -> bool:
        """Whether a comment covers ``finding``, whose row is one of this text; marks the comments that do as used."""
        covered = False
        for cover in self._covers:
            if cover.first_row <= finding.span.row <= cover.last_row and _means(cover.code, finding):
                self._used.add((cover.comment, cover.code))
                covered = True
        return covered

    def unused(self, active: Collection[str], known: Collection[str] = (), *, filename: str = "") -> list[Unused]:
        """The comments and codes that have covered nothing, in order of place; ``filename`` is what edits name.

        ``active`` are the codes and names of the rules that ran: what names another rule may be needed in another run.
        A bare ``# noqa`` is meant for other linters too, and is never unused. Where ``known`` holds the codes and
        names of all rules, a comment that names none of them is a fault as well.
        """
        found = list(self._faults)
        idle: defaultdict[int, list[str]] = defaultdict(list)
        for number, code in dict.fromkeys((cover.comment, cover.code) for cover in self._covers):
            ignore = self.ignores[number]
            if (number, code) in self._used or (ignore.directive == "noqa" and code == EVERY_RULE):
                continue
            if known and code != EVERY_RULE and _canonical(code) not in known:
                found.append(Unused(ignore.span, _no_such_rule(code, known), None))
            elif code == EVERY_RULE or _canonical(code) in active:
                idle[number].append(code)
        found += [self._idle(self.ignores[number], codes) for number, codes in idle.items()]
        found.sort(key=lambda unused: (unused.span, unused.message))
        return [
            replace(unused, edit=replace(unused.edit, filename=filename)) if unused.edit else unused for unused in found
        ]

    def _idle(self, ignore: Ignore, codes: list[str]) -> Unused:
        what = f"`{ignore.directive}`" if ignore.directive != "noqa" else "`noqa`"
        message = f"{what} covers nothing" if codes == [EVERY_RULE] else f"{what} of {', '.join(codes)} covers nothing"
        if ignore.directive == "ignore" and ignore.alone:
            message += "; for the row below, write `ignore-next-line`"
        kept = tuple(code for code in ignore.codes if code not in codes)
        edit = _replace_codes(ignore, kept, self._rows) if kept else _remove(ignore, self._rows)
        return Unused(ignore.span, message, Edit("", *edit))


def add_ignores(text: str, findings: Iterable[Finding], *, filename: str = "", reason: str = "") -> list[Edit]:
    """Edits that write ``# jitlint: ignore[…]`` with ``reason`` at each of ``findings``, merged per row.

    The comment goes to the finding's row, or where none can stand there (inside a string, before a backslash) to the
    end of the statement. Codes join an ``ignore`` that is already on the row.
    """
    scan = scan_comments(text)
    present = {ignore.span.row: ignore for ignore in _Reader(scan).read().ignores if ignore.directive == "ignore"}
    codes: defaultdict[int, set[str]] = defaultdict(set)
    for finding in findings:
        codes[_row_for_comment(scan, finding.span.row)].add(finding.code)
    edits = []
    for row, wanted in sorted(codes.items()):
        ignore = present.get(row)
        if ignore is None:
            line = scan.rows[row - 1].rstrip("\r\n")
            code = line.rstrip()
            span = Span(row, len(code) + 1, row, len(line) + 1)
            comment = f"  # jitlint: ignore[{', '.join(sorted(wanted))}] {reason}".rstrip()
            edits.append(Edit(filename, span, comment))
        elif ignore.codes and not wanted <= set(ignore.codes):
            merged = (*ignore.codes, *sorted(wanted - set(ignore.codes)))
            edits.append(Edit(filename, *_replace_codes(ignore, merged, scan.rows)))
    return edits


def _row_for_comment(scan: Scan, row: int) -> int:
    row = min(max(row, 1), max(1, len(scan.rows)))
    line = scan.line_at(row)
    return row if row in scan.open_rows or line is None else line.last_row


class _Reader:
    """Makes the ignores of one scan."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._ignores: list[Ignore] = []
        self._covers: list[_Cover] = []
        self._faults: list[Unused] = []
        self._open: list[_Cover] = []
        """What ``disable`` comments opened and nothing has closed yet; ``last_row`` is the end of the block."""

    def read(self) -> Suppressions:
        for comment in self._scan.comments:
            for match in _OURS.finditer(comment.text):
                self._ours(comment, match)
            for match in _NOQA.finditer(comment.text):
                self._noqa(comment, match)
        self._covers += self._open
        rows = tuple(self._scan.rows)
        return Suppressions(tuple(self._ignores), tuple(self._covers), tuple(self._faults), rows)

    def _ours(self, comment: Comment, match: re.Match[str]) -> None:
        directive = match["directive"].lower()
        span = _span(comment, match.start(), match.end())
        reason = match["reason"].strip()
        if directive not in _DIRECTIVES:
            close = difflib.get_close_matches(directive, _DIRECTIVES, n=1)
            if close or match["codes"] is not None:
                hint = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(_DIRECTIVES)}"
                self._fault(span, f"there is no directive `{directive}`; {hint}")
            return
        codes = tuple(dict.fromkeys(re.split(r"[\s,]+", (match["codes"] or "").strip(" \t,"))))
        if match["codes"] is not None and codes == ("",):
            self._faults.append(
                Unused(span, f"`{directive}[]` names no rule; leave out the brackets for every rule", None)
            )
            return
        if reason.startswith("["):
            self._faults.append(Unused(span, f"the bracket of `{directive}[` is not closed", None))
            return
        ignore = Ignore(directive, codes if codes != ("",) else (), reason, span, comment.alone)
        if directive == "enable":
            self._enable(ignore, comment.row)
        else:
            self._add(ignore, comment)

    def _fault(self, span: Span, message: str) -> None:
        self._faults.append(Unused(span, message, None))

    def _noqa(self, comment: Comment, match: re.Match[str]) -> None:
        codes = tuple(re.split(r"[\s,]+", match["codes"])) if match["codes"] else ()
        if not codes or any(_is_ours(code) for code in codes):
            self._add(Ignore("noqa", codes, "", _span(comment, match.start(), match.end()), comment.alone), comment)

    def _add(self, ignore: Ignore, comment: Comment) -> None:
        number = len(self._ignores)
        self._ignores.append(ignore)
        first_row, last_row = self._extent(ignore.directive, comment)
        for code in ignore.codes or (EVERY_RULE,):
            if ignore.directive == "noqa" and code != EVERY_RULE and not _is_ours(code):
                continue
            cover = _Cover(number, code, first_row, last_row)
            (self._open if ignore.directive == "disable" else self._covers).append(cover)

    def _extent(self, directive: str, comment: Comment) -> tuple[int, int]:
        """The rows whose findings a comment with this directive covers."""
        row = comment.row
        line = self._scan.line_at(row)
        match directive:
            case "ignore-file":
                return 1, _END_OF_FILE
            case "disable":
                indent = comment.offset if comment.alone or line is None else line.indent
                ends = (after.first_row - 1 for after in self._scan.lines_after(row) if after.indent < indent)
                return row, next(ends, _END_OF_FILE)
            case "ignore-next-line":
                return self._next_statement(row)
        if line is not None and line.last_row == row:
            return line.first_row, line.last_row
        return row, row

    def _next_statement(self, row: int) -> tuple[int, int]:
        """The rows of the logical line after ``row``; after a decorator, with the head of what it decorates."""
        first_row, last_row = _END_OF_FILE, 0
        for line in self._scan.lines_after(row):
            first_row, last_row = min(first_row, line.first_row), line.last_row
            if not line.decorates:
                break
        return first_row, last_row

    def _enable(self, ignore: Ignore, row: int) -> None:
        codes = ignore.codes or tuple({cover.code for cover in self._open})
        closed = [cover for cover in self._open if cover.code in codes and cover.last_row >= row]
        if not closed:
            edit = Edit("", *_remove(ignore, self._scan.rows))
            self._faults.append(Unused(ignore.span, "`enable` without a `disable` before it", edit))
            return
        for cover in closed:
            self._open.remove(cover)
            self._covers.append(_Cover(cover.comment, cover.code, cover.first_row, row))


def _means(code: str, finding: Finding) -> bool:
    return code == EVERY_RULE or code.upper() == finding.code or code == finding.name


def _canonical(code: str) -> str:
    return code.upper() if _is_ours(code) else code


def _is_ours(code: str) -> bool:
    return re.fullmatch(r"JIT\d+", code, re.IGNORECASE) is not None


def _no_such_rule(code: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(_canonical(code), sorted(known), n=1)
    return f"there is no rule `{code}`{f'; did you mean `{close[0]}`?' if close else ''}"


def _span(comment: Comment, start: int, end: int) -> Span:
    matched = comment.text[start:end]
    end = start + len(matched.rstrip())
    return Span(comment.row, comment.offset + start + 1, comment.row, comment.offset + end + 1)


def _replace_codes(ignore: Ignore, codes: tuple[str, ...], rows: Iterable[str]) -> tuple[Span, str]:
    """The edit that makes ``ignore`` name ``codes``."""
    span = ignore.span
    text = list(rows)[span.row - 1][span.column - 1 : span.end_column - 1]
    match = (_NOQA if ignore.directive == "noqa" else _OURS).match(text)
    assert match is not None
    start, end = match.span("codes")
    return Span(span.row, span.column + start, span.row, span.column + end), ", ".join(codes)


def _remove(ignore: Ignore, rows: Iterable[str]) -> tuple[Span, str]:
    """The edit that takes ``ignore`` out: with its row where nothing else is on it."""
    span = ignore.span
    all_rows = list(rows)
    row = all_rows[span.row - 1]
    before = row[: span.column - 1]
    after = row[span.end_column - 1 :].rstrip("\r\n")
    if not before.strip() and not after.strip():
        if row.endswith(("\n", "\r")):
            return Span(span.row, 1, span.row + 1, 1), ""
        return Span(span.row, 1, span.row, len(row.rstrip("\r\n")) + 1), ""
    if after.strip():  # another comment follows and takes the place
        return Span(span.row, span.column, span.row, span.end_column + len(after) - len(after.lstrip())), ""
    return Span(span.row, len(before.rstrip()) + 1, span.row, span.end_column + len(after)), ""
