"""The loop of ``--fix``: apply what can be applied, look again, until nothing is left to repair.

Nothing is written while it runs: later passes see the earlier ones as texts that stand in for files. So a difference
can be shown without writing, and a file is written once, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jitlint.check import Report
from jitlint.findings import Finding, Fix
from jitlint.fix.apply import OVERLAPS, Skipped, applicable, apply_fixes

MAX_PASSES = 10


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair came to: the new texts by filename, what was fixed, what was not and why, and what remains."""

    texts: dict[str, str]
    fixed: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    report: Report
    converged: bool = True
    """False if after the last pass there was still something to repair: a fault of a rule."""


def repair(check: Callable[[Mapping[str, str]], Report], *, unsafe: bool = False) -> Repair:
    """Repair in memory what ``check`` reports.

    ``check`` analyses the program with some texts (by filename) in place of the files. Only files that it checked are
    changed: a fix that would reach into another is skipped.
    """
    texts: dict[str, str] = {}
    fixed: list[Finding] = []
    report = check(texts)
    skipped: tuple[Skipped, ...] = ()
    for _ in range(MAX_PASSES):
        candidates, outside = _within(report, unsafe)
        applied = apply_fixes(candidates, report.text, unsafe=unsafe)
        skipped = (*outside, *(skip for skip in applied.skipped if skip.reason != OVERLAPS))
        if not applied.texts:
            return Repair(texts, tuple(fixed), skipped, report)
        texts = {**texts, **applied.texts}
        fixed += applied.fixed
        report = check(texts)
    return Repair(texts, tuple(fixed), skipped, report, converged=not any(_can(f, unsafe) for f in report.findings))


def _can(finding: Finding, unsafe: bool) -> bool:
    return applicable(finding.fix, unsafe=unsafe)


def _within(report: Report, unsafe: bool) -> tuple[list[Finding], list[Skipped]]:
    """The findings whose fix stays within the checked files, and the others."""
    inside, outside = [], []
    for finding in report.findings:
        if finding.fix is None or not _can(finding, unsafe):
            continue
        foreign = sorted(_files(finding.fix) - report.files)
        if foreign:
            outside.append(Skipped(finding, f"the fix changes {foreign[0]}, which was not checked"))
        else:
            inside.append(finding)
    return inside, outside


def _files(fix: Fix) -> set[str]:
    return {edit.filename for edit in fix.edits} | {new.filename for new in fix.imports}
