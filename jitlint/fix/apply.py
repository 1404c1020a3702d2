"""Apply the fixes of findings to the texts of their files.

A fix is applied whole or not at all. Fixes are taken in the order of their first edit; one that overlaps what is
already taken is skipped (the next pass of the caller's loop sees it again), one whose edits are all taken already is
counted as applied with them. A result that does not parse is never handed out: the fix that breaks it is skipped.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from jitlint.findings import Applicability, Edit, Finding, Fix, NewImport
from jitlint.fix.imports import add_imports, import_edits, parse
from jitlint.fix.text import Lines, newline_of, with_newlines

_BOM = "\ufeff"

_Range = tuple[int, int, str]

OVERLAPS = "overlaps another fix"
"""Reason of a fix that a further pass may apply."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A fix that was not applied, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of it: the new text of every file that changed, the findings repaired and those skipped.

    Findings without a fix, or whose fix is less safe than asked for, are in neither list.
    """

    texts: dict[str, str]
    fixed: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]


def applicable(fix: Fix | None, *, unsafe: bool = False) -> bool:
    """Whether ``--fix`` (with ``unsafe``: ``--unsafe-fixes``) applies this fix."""
    if fix is None:
        return False
    return fix.applicability is Applicability.SAFE or (unsafe and fix.applicability is Applicability.UNSAFE)


def apply_fixes(findings: Iterable[Finding], sources: Callable[[str], str | None], *, unsafe: bool = False) -> Applied:
    """Apply the safe fixes (and the unsafe ones if asked) of ``findings``.

    ``sources`` gives the present text of a file, by the filename that the edits carry, or None when there is none.
    Nothing is written. One call is one pass: call again with the findings of the new texts until nothing is fixed.
    """
    candidates = [
        (finding, finding.fix)
        for finding in sorted(findings, key=lambda finding: finding.sort_key)
        if finding.fix is not None and applicable(finding.fix, unsafe=unsafe)
    ]
    candidates.sort(key=lambda pair: sorted(pair[1].edits) or [Edit("", pair[0].span, "")])
    batch = _Batch(sources)
    fixed, skipped = _take_all(candidates, batch.take)
    results = batch.results()
    if None in results.values():
        # Rare, and a fault of a rule: find the fix that does it, and keep the others.
        batch = _Batch(sources)
        fixed, skipped = _take_all(candidates, batch.take_if_it_parses)
        results = batch.results()
    texts = {name: text for name, text in results.items() if text is not None and text != sources(name)}
    return Applied(texts, tuple(fixed), tuple(skipped))


def _take_all(
    candidates: Iterable[tuple[Finding, Fix]], take: Callable[[Fix], str | None]
) -> tuple[list[Finding], list[Skipped]]:
    fixed: list[Finding] = []
    skipped: list[Skipped] = []
    for finding, fix in candidates:
        reason = take(fix)
        if reason is None:
            fixed.append(finding)
        else:
            skipped.append(Skipped(finding, reason))
    return fixed, skipped


def edits_of(fix: Fix, sources: Callable[[str], str | None]) -> tuple[Edit, ...]:
    """Every edit of a fix, those of its imports included, by file and place.

    Imports of a file that cannot be read or parsed are left out.
    """
    edits = list(fix.edits)
    for filename in sorted({new.filename for new in fix.imports}):
        text = sources(filename)
        if text is not None:
            try:
                edits += import_edits(filename, text, (new for new in fix.imports if new.filename == filename))
            except SyntaxError:
                continue
    return tuple(sorted(edits))


def parses(text: str) -> bool:
    """Whether the text is Python, of the running version or of one that libcst knows."""
    try:
        parse(text.removeprefix(_BOM))
    except SyntaxError:
        return _parses_with_libcst(text)
    return True


def unified_diff(old: str, new: str, filename: str, *, context: int = 3) -> str:
    """The change of one file as ``patch`` and ``git apply`` take it; empty when nothing changed."""
    lines = difflib.unified_diff(_diff_lines(old), _diff_lines(new), filename, filename, n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _diff_lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _parses_with_libcst(text: str) -> bool:
    import libcst

    try:
        libcst.parse_module(text)
    except (libcst.ParserSyntaxError, RecursionError):
        return False
    return True


class _FileEdits:
    """What is taken for one file: ranges of its text to replace, and imports to add."""

    def __init__(self, text: str) -> None:
        # Positions do not count a byte order mark; it is put back in the result.
        self._bom = _BOM if text.startswith(_BOM) else ""
        self._text = text.removeprefix(_BOM)
        self.lines = Lines(self._text)
        self.ranges: list[_Range] = []
        self.imports: set[NewImport] = set()

    def clashes(self, start: int, end: int) -> bool:
        for other_start, other_end, _ in self.ranges:
            if start < other_end and other_start < end:
                return True
            if start == other_start and (start == end or other_start == other_end):
                return True
        return False

    def result(self) -> str | None:
        """The new text, or None if it would not parse."""
        newline = newline_of(self._text)
        pieces: list[str] = []
        at = 0
        for start, end, text in sorted(self.ranges):
            pieces += [self._text[at:start], with_newlines(text, newline)]
            at = end
        new = "".join([*pieces, self._text[at:]])
        try:
            new = add_imports(new, self.imports)
        except SyntaxError:
            return None
        return self._bom + new if parses(new) else None


class _Batch:
    """Fixes that are applied together against one baseline."""

    def __init__(self, sources: Callable[[str], str | None]) -> None:
        self._sources = sources
        self._files: dict[str, _FileEdits | None] = {}

    def take(self, fix: Fix) -> str | None:
        """Add a fix; the reason if it cannot be added, and then nothing of it is."""
        placed: list[tuple[_FileEdits, _Range]] = []
        for edit in sorted(set(fix.edits)):
            file = self._file(edit.filename)
            if file is None:
                return f"{edit.filename} cannot be read"
            try:
                start, end = file.lines.range(edit.span)
            except ValueError:
                return f"{edit.filename} has changed since it was checked"
            if (start, end, edit.text) in file.ranges:
                continue
            if file.clashes(start, end):
                return OVERLAPS
            placed.append((file, (start, end, edit.text)))
        needed: list[tuple[_FileEdits, NewImport]] = []
        for new in fix.imports:
            file = self._file(new.filename)
            if file is None:
                return f"{new.filename} cannot be read"
            needed.append((file, new))
        for file, place in placed:
            file.ranges.append(place)
        for file, new in needed:
            file.imports.add(new)
        return None

    def take_if_it_parses(self, fix: Fix) -> str | None:
        """As :meth:`take`, and refused also if a file it touches would not parse with it."""
        touched = [self._file(name) for name in sorted(_filenames(fix))]
        before = [(file, list(file.ranges), set(file.imports)) for file in touched if file is not None]
        reason = self.take(fix)
        if reason is None and any(file.result() is None for file, _, _ in before):
            for file, ranges, imports in before:
                file.ranges, file.imports = ranges, imports
            return "the result would not be valid Python"
        return reason

    def results(self) -> dict[str, str | None]:
        """The new text of every file touched; None where it would not parse."""
        return {name: file.result() for name, file in self._files.items() if file is not None}

    def _file(self, filename: str) -> _FileEdits | None:
        if filename not in self._files:
            text = self._sources(filename)
            self._files[filename] = None if text is None else _FileEdits(text)
        return self._files[filename]


def _filenames(fix: Fix) -> set[str]:
    return {edit.filename for edit in fix.edits} | {new.filename for new in fix.imports}
