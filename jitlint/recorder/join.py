"""Static findings and the record, held against each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from jitlint.findings import Finding
from jitlint.recorder.budget import describe, shown
from jitlint.recorder.record import Function, Record
from jitlint.recorder.sources import always_runs, last_row


class Verdict(StrEnum):
    """What the record says of a finding."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding, and what the record says of it and why."""

    finding: Finding
    verdict: Verdict
    reason: str
    variants: int = 0
    """How often the function that the finding is about was traced, where there is one."""


@dataclass(slots=True)
class Joined:
    """All findings that the record can speak about, and what it shows that no finding told."""

    judged: list[Judged] = field(default_factory=list)
    unforeseen: list[str] = field(default_factory=list)


CAUSES_BY_CODE = {
    "JIT204": {"static"},
    "JIT205": {"static"},
    "JIT206": {"static"},
    "JIT301": {"new_function_object"},
    "JIT302": {"new_function_object"},
    "JIT303": {"new_function_object"},
    "JIT304": {"shape"},
    "JIT305": {"dtype", "weak_type"},
    "JIT306": {"structure", "spelling"},
    "JIT307": {"new_function_object"},
}
"""The findings that claim repeated compilation, and the causes that prove them right."""

_RAISING = ("JIT1", "JIT2")


def join(record: Record, findings: Iterable[Finding]) -> Joined:
    """Judge each finding by the record.

    *Confirmed*: what it claims happened, there. *Refuted*: the program got there more than once and it did not happen.
    *Not reached*: the run does not tell. Findings about anything but retraces and errors while tracing are left out.
    """
    lines = _Lines(record)
    joined = Joined()
    explained: set[int] = set()
    for finding in findings:
        judged = _judge(finding, lines, explained)
        if judged is not None:
            joined.judged.append(judged)
    joined.judged.sort(key=lambda item: item.finding.sort_key)
    for function in record.functions:
        if not function.library:
            joined.unforeseen += _unforeseen(function, explained)
    return joined


def with_verdicts(record: Record, findings: Iterable[Finding]) -> list[Finding]:
    """The findings in their order, those that the record can speak about with a verdict as the dynamic mode gives it.

    ``verdict`` is ``confirmed``, ``refuted`` or ``unresolved``, ``verdict_reason`` says why, and ``variants`` is how
    often the function was traced.
    """
    findings = list(findings)
    judged = {item.finding.sort_key: item for item in join(record, findings).judged}
    return [_with_verdict(finding, judged.get(finding.sort_key)) for finding in findings]


def _with_verdict(finding: Finding, judged: Judged | None) -> Finding:
    if judged is None:
        return finding
    verdict = "unresolved" if judged.verdict is Verdict.NOT_REACHED else judged.verdict.value
    properties: dict[str, object] = {"verdict": verdict, "verdict_reason": judged.reason}
    if judged.variants:
        properties["variants"] = judged.variants
    return replace(finding, properties={**finding.properties, **properties})


class _Lines:
    """The functions of a record by the lines that a finding about them may lie on."""

    def __init__(self, record: Record) -> None:
        self.failed = [trace for trace in record.traces if trace.error]
        self._functions = [(function, _lines_of(function), _extent(function)) for function in record.functions]

    def touching(self, finding: Finding) -> list[Function]:
        """Functions that are defined, made or called on the finding's lines."""
        file = _resolved(finding.filename)
        rows = range(finding.span.row, finding.span.end_row + 1)
        return [f for f, places, _ in self._functions if any((file, row) in places for row in rows)]

    def around(self, finding: Finding) -> list[Function]:
        """Functions whose body the finding lies in."""
        file, row = _resolved(finding.filename), finding.span.row
        return [f for f, _, extent in self._functions if extent[0] == file and extent[1] <= row <= extent[2]]


def _judge(finding: Finding, lines: _Lines, explained: set[int]) -> Judged | None:
    expected = CAUSES_BY_CODE.get(finding.code)
    if expected is not None:
        return _judge_retraces(finding, expected, [*lines.touching(finding), *lines.around(finding)], explained)
    if finding.code.startswith(_RAISING) and finding.severity.value == "error":
        return _judge_error(finding, lines.around(finding), lines, explained)
    return None


def _judge_retraces(finding: Finding, expected: set[str], functions: list[Function], explained: set[int]) -> Judged:
    if not functions:
        return Judged(finding, Verdict.NOT_REACHED, "nothing on this line was traced")
    for function in functions:
        events = [e for e in function.events if any(c.kind in expected for c in e.causes)]
        if events:
            explained.add(id(function))
            times = "once" if len(events) == 1 else f"{len(events)} times"
            reason = f"{function.label} was traced again {times} for this reason"
            return Judged(finding, Verdict.CONFIRMED, reason, function.count)
    function = functions[0]
    if function.count > 1:
        reason = f"{function.label} was traced {function.count} times, but not for this reason"
        return Judged(finding, Verdict.REFUTED, reason, function.count)
    reason = f"{function.label} was traced once: the run may not have repeated it"
    return Judged(finding, Verdict.NOT_REACHED, reason, function.count)


def _judge_error(finding: Finding, functions: list[Function], lines: _Lines, explained: set[int]) -> Judged:
    rows = range(finding.span.row, finding.span.end_row + 1)
    file = _resolved(finding.filename)
    for trace in lines.failed:
        if trace.raised is not None and trace.raised.row in rows and _resolved(trace.raised.file) == file:
            explained.add(id(trace))
            return Judged(finding, Verdict.CONFIRMED, f"tracing {trace.label} raised {trace.error} here")
    for function in functions:
        clean = [trace for trace in function.traces if not trace.error]
        if clean and always_runs(function.file, function.row, finding.span.row):
            return Judged(finding, Verdict.REFUTED, f"{function.label} was traced through this line without an error")
    return Judged(finding, Verdict.NOT_REACHED, "the record does not show that this line was traced")


def _unforeseen(function: Function, explained: set[int]) -> list[str]:
    found = []
    for trace in function.traces:
        if trace.error and id(trace) not in explained:
            where = f"{shown(trace.raised.file)}:{trace.raised.row}" if trace.raised else "no line of yours"
            found.append(f"{describe(trace)}: raised {trace.error} at {where}")
    if id(function) in explained:
        return found
    reasons = ", ".join(f"{reason} ({count})" for reason, count in function.reasons[:3])
    if function.count >= _MANY:
        where = f"{shown(function.file)}:{function.row} " if function.file else ""
        found.append(f"{where}{function.label} was compiled {function.count} times: {reasons}")
    return found


_MANY = 4
"""Two or three variants are what jit is for."""


def _lines_of(function: Function) -> set[tuple[str, int]]:
    places = {(_resolved(function.file), function.row)}
    for event in function.events:
        if event.call is not None:
            places.add((_resolved(event.call.file), event.call.row))
    for trace in function.traces:
        if trace.made is not None:
            places.add((_resolved(trace.made.file), trace.made.row))
    return places


def _extent(function: Function) -> tuple[str, int, int]:
    """File, first and last row of the function, as far as its source can be read."""
    return _resolved(function.file), function.row, last_row(function.file, function.row)


def _resolved(file: str) -> str:
    return str(Path(file).resolve()) if file else ""
