"""Matches what JAX did with what was claimed: a verdict, and its grounds, for every finding.

*confirmed*: JAX raised such an error at that place, compiled that often, or recorded another program when asked again.
*refuted*: JAX traced all of that place and nothing of the kind happened.
*unresolved*: neither could be shown, and why. A finding is refuted only on evidence for its whole span, never because
nothing happened.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from jitlint.dynamic.protocol import Error, JobResult, ModuleRun, Raised, Trace
from jitlint.findings import Finding

CONCRETIZATION = frozenset(
    {
        "ConcretizationTypeError",
        "TracerBoolConversionError",
        "TracerArrayConversionError",
        "TracerIntegerConversionError",
        "NonConcreteBooleanIndexError",
    }
)
PLAIN = frozenset({"TypeError", "ValueError", "IndexError"})

RAISES: dict[str, frozenset[str]] = {
    "JIT101": CONCRETIZATION | {"ValueError"},
    "JIT102": CONCRETIZATION | PLAIN,
    "JIT103": CONCRETIZATION | {"TypeError"},
    "JIT104": CONCRETIZATION | {"TypeError", "AttributeError", "ValueError"},
    "JIT105": CONCRETIZATION | PLAIN,
    "JIT106": CONCRETIZATION | {"TypeError", "IndexError"},
    "JIT107": CONCRETIZATION | PLAIN,
    "JIT108": PLAIN,
    "JIT109": frozenset({"TypeError"}),
    "JIT110": CONCRETIZATION | {"TypeError", "ValueError", "AttributeError"},
    "JIT111": frozenset({"TypeError", "ValueError", "AttributeError"}),
    "JIT112": CONCRETIZATION | {"TypeError"},
    "JIT114": CONCRETIZATION | {"TypeError"},
    "JIT201": frozenset({"ValueError", "TypeError"}),
    "JIT202": CONCRETIZATION | PLAIN,
    "JIT203": frozenset({"ValueError", "TypeError"}),
    "JIT406": frozenset({"UnexpectedTracerError", *CONCRETIZATION}),
    "JIT408": frozenset({"RuntimeError", "ValueError", "JaxRuntimeError"}),
}
"""The classes of error that a finding of each code claims; ``properties["raises"]`` of a finding overrides it."""

# These raise where the host calls or makes a jitted function; the place need not be in traced code.
AT_CALL = frozenset({"JIT108", "JIT111", "JIT201", "JIT202", "JIT408", "JIT110"})
RECOMPILES = frozenset({"JIT204", "JIT205", "JIT301", "JIT302", "JIT303", "JIT304", "JIT305", "JIT306", "JIT307"})
STALE = frozenset({"JIT206", "JIT401", "JIT402"})
WHILE_TRACING = frozenset({"JIT403", "JIT404", "JIT405"})
LARGE_CONSTANT = 1_000_000
UNROLLED = 8


class Verdict(StrEnum):
    """What the trial came to."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its grounds in a few words."""

    verdict: Verdict
    reason: str
    error: Error | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A finding with what is needed to find it in what the worker saw."""

    id: str
    finding: Finding
    path: str
    text: str
    related: tuple[tuple[str, int], ...] = ()
    """(path, row) of the steps of the finding's trace."""

    @property
    def rows(self) -> range:
        """Rows of the marked span."""
        return range(self.finding.span.row, self.finding.span.end_row + 1)

    @property
    def statement(self) -> range:
        """Rows of the simple statement, or of the header of the compound one, that holds the span."""
        return statement_rows(self.text, self.finding.span.row)

    def at(self, path: str, row: int) -> bool:
        """Whether a row lies on the finding: in its span, else in its statement."""
        return path == self.path and (row in self.rows or row in self.statement)

    @property
    def claimed(self) -> frozenset[str]:
        """The classes of error it claims."""
        own = self.finding.properties.get("raises")
        if isinstance(own, str):
            return frozenset({own})
        if isinstance(own, (list, tuple, set, frozenset)):
            return frozenset(str(name) for name in own)
        return RAISES.get(self.finding.code, frozenset())


class Evidence:
    """What all runs saw, as the judge asks for it."""

    def __init__(self, runs: Sequence[ModuleRun], why_not: Callable[[str, int], str]) -> None:
        self.runs = tuple(runs)
        self._why_not = why_not
        self._groups = probe_groups(runs)

    def errors(self) -> Iterator[Raised]:
        """Exceptions that count: of probes only those that every guess gave alike."""
        for run in self.runs:
            for raised in run.raised:
                if self._agreed(run, raised):
                    yield raised

    def traces(self) -> Iterator[Trace]:
        """Traces that count: of probes only where every guess traced cleanly."""
        for run in self.runs:
            for trace in run.traces:
                group = _group(trace.job)
                if group is None or self._groups.get(group) == CLEAN:
                    yield trace

    def sites(self, trace: Trace) -> set[tuple[str, int]]:
        """Where the function of a trace was given to jax.jit."""
        return {place for run in self.runs for place in run.sites.get((trace.path, trace.row), ())}

    def hits(self, path: str, row: int) -> int:
        """How often a watched row ran."""
        return sum(run.hits.get((path, row), 0) for run in self.runs)

    def why_not(self, case: Case) -> str:
        """Why nothing was seen of the place of a finding: what the caller knows of that row of that file."""
        return self._why_not(case.path, case.finding.span.row)

    def _agreed(self, run: ModuleRun, raised: Raised) -> bool:
        group = _group(raised.job)
        place = raised.error.place
        return group is None or (place is not None and self._groups.get(group) == (place.path, place.row))


def is_guess(job: str | None) -> bool:
    """Whether a job tries arguments that nothing in the program says."""
    return _group(job) is not None


def _group(job: str | None) -> str | None:
    """The probe a job belongs to, None for any other job and for the import."""
    return job.partition(":probe:")[0] if job and ":probe:" in job else None


CLEAN = ("", 0)


def probe_groups(runs: Sequence[ModuleRun]) -> dict[str, tuple[str, int] | None]:
    """For each probed function, what all guesses agree on: that it traces (``CLEAN``), or the place where JAX asks for
    a concrete value. None if they differ, or fail in a way that the guess itself may have brought about."""
    outcomes: dict[str, list[JobResult]] = {}
    for run in runs:
        for result in run.jobs.values():
            if group := _group(result.id):
                outcomes.setdefault(group, []).append(result)
    return {group: _common(results) for group, results in outcomes.items()}


def _common(results: Sequence[JobResult]) -> tuple[str, int] | None:
    if all(result.outcome == "ok" for result in results):
        return CLEAN
    errors = [result.error for result in results if result.error is not None and result.error.place is not None]
    places = {(e.place.path, e.place.row) for e in errors if e.place is not None}
    # The truth of an array of several elements is refused as a ValueError before JAX sees that it is traced.
    wanted = sum(asks_for_a_value(error) or "NameError" in error.ancestry for error in errors)
    plain = sum("ValueError" in error.ancestry for error in errors)
    if len(errors) == len(results) and len(places) == 1 and wanted and wanted + plain >= len(errors):
        return places.pop()
    return None


def asks_for_a_value(error: Error) -> bool:
    """Whether JAX raised an error because a traced value stood where a concrete one is needed."""
    return bool(error.ancestry & CONCRETIZATION) or (error.by_jax and "concrete" in error.message)


def judge(case: Case, evidence: Evidence) -> Judgement:
    """The verdict on one finding."""
    code = case.finding.code
    for codes, decide in _DECIDERS:
        if code in codes:
            return decide(case, evidence)
    return Judgement(Verdict.UNRESOLVED, "whether this matters is not something that tracing shows")


# ------------------------------------------------------------------------------------------------- what raises


def _raising(case: Case, evidence: Evidence) -> Judgement:
    other: Error | None = None
    for raised in evidence.errors():
        place = raised.error.place
        if place is None or not case.at(place.path, place.row):
            continue
        if raised.error.ancestry & case.claimed:
            tried = " with every kind of array that was tried" if _group(raised.job) else ""
            return Judgement(Verdict.CONFIRMED, f"JAX raised {raised.error.name} here{tried}", raised.error)
        other = other or raised.error
    if case.finding.code == "JIT109" and (trace := _refused_result(case, evidence)):
        return Judgement(Verdict.CONFIRMED, f"JAX refused what {trace.name} returned")
    if case.finding.code == "JIT111" and (error := _call_into(case, evidence)):
        return Judgement(Verdict.CONFIRMED, f"JAX raised {error.name} when it was called", error)
    if other is not None:
        return Judgement(Verdict.UNRESOLVED, f"{other.name} was raised here, which is not what the finding says", other)
    return _survived(case, evidence)


def _survived(case: Case, evidence: Evidence) -> Judgement:
    """Nothing was raised here: refuted if all of the place ran under tracing, or on the host where that is enough."""
    coverage = [how for trace in evidence.traces() for key, (how, _) in trace.ran.items() if key == case.id]
    if "full" in coverage:
        return Judgement(Verdict.REFUTED, "JAX traced all of this place and raised nothing")
    if "line" in coverage and not has_branches(case.text, case.finding.span.row):
        return Judgement(Verdict.REFUTED, "JAX traced this row and raised nothing")
    if coverage:
        return Judgement(Verdict.UNRESOLVED, "only part of this place ran while JAX traced it")
    if case.finding.code in AT_CALL and evidence.hits(case.path, case.finding.span.row):
        if has_branches(case.text, case.finding.span.row):
            return Judgement(Verdict.UNRESOLVED, "the row ran, but perhaps not all of it")
        return Judgement(Verdict.REFUTED, "this row ran and nothing was raised")
    return Judgement(Verdict.UNRESOLVED, evidence.why_not(case))


def _refused_result(case: Case, evidence: Evidence) -> Trace | None:
    for trace in evidence.traces():
        inside = trace.path == case.path and any(key == case.id for key in trace.ran)
        if inside and not trace.ok and trace.error is None:
            return trace
    return None


def _call_into(case: Case, evidence: Evidence) -> Error | None:
    """An error of a method that was jitted, raised where it is called."""
    name = case.finding.qualname.rpartition(".")[2]
    for raised in evidence.errors():
        if raised.error.by_jax and raised.error.ancestry & case.claimed and name and f"{name}" in raised.error.message:
            return raised.error
    return None


# --------------------------------------------------------------------------------------------- what recompiles


def _recompiling(case: Case, evidence: Evidence) -> Judgement:
    groups: dict[tuple[str, int, str], list[Trace]] = {}
    for trace in evidence.traces():
        if trace.job is None and trace.ok and trace.depth == 0 and _concerns(case, trace, evidence):
            groups.setdefault((trace.path, trace.row, trace.name), []).append(trace)
    if not groups:
        return Judgement(Verdict.UNRESOLVED, evidence.why_not(case))
    traces = max(groups.values(), key=len)
    if len(traces) > 1:
        return Judgement(Verdict.CONFIRMED, f"JAX traced {traces[0].name} {len(traces)} times")
    runs = evidence.hits(case.path, case.finding.span.row)
    if runs > 1 and case.at(traces[0].calls[0].path, traces[0].calls[0].row):
        return Judgement(Verdict.REFUTED, f"this ran {runs} times and JAX traced {traces[0].name} once")
    return Judgement(Verdict.UNRESOLVED, f"{traces[0].name} was traced once; what ran calls it no other way")


def _concerns(case: Case, trace: Trace, evidence: Evidence) -> bool:
    """Whether a trace belongs to a finding: it marks the call, the function, or what makes the jitted function."""
    if any(case.at(place.path, place.row) for place in trace.calls) or case.at(trace.path, trace.row):
        return True
    if any(case.at(path, row) for path, row in evidence.sites(trace)):
        return True
    if (trace.path, trace.row) in case.related or any((c.path, c.row) in case.related for c in trace.calls):
        return True
    named = case.finding.properties.get("function")
    if isinstance(named, str) and named:
        return named.rpartition(".")[2] in (trace.name, trace.qualname)
    return False


# ------------------------------------------------------------------------------- what goes stale, leaks, and others


def _stale(case: Case, evidence: Evidence) -> Judgement:
    traces = [trace for trace in evidence.traces() if case.id in trace.ran]
    seen = False
    for run in evidence.runs:
        for stale in run.stale:
            concerned = any(
                (trace.path, trace.row) == (stale.path, stale.row)
                and (case.id in trace.ran or _concerns(case, trace, evidence))
                for trace in run.traces
            )
            if not concerned or not stale.known:
                continue
            seen = True
            if stale.changed:
                return Judgement(Verdict.CONFIRMED, f"traced again, {stale.name} became another program")
    if seen:
        return Judgement(Verdict.UNRESOLVED, "traced again it became the same program: nothing changed while it ran")
    if any(trace.job is None for trace in traces):
        return Judgement(Verdict.UNRESOLVED, "it could not be traced a second time")
    if traces:
        return Judgement(Verdict.UNRESOLVED, "the import does not call it: what the program changes later is not seen")
    return Judgement(Verdict.UNRESOLVED, evidence.why_not(case))


def _while_tracing(case: Case, evidence: Evidence) -> Judgement:
    count = sum(1 for trace in evidence.traces() if case.id in trace.ran)
    if count:
        times = "once" if count == 1 else f"{count} times"
        return Judgement(Verdict.CONFIRMED, f"it ran {times}, while JAX traced, and not with the compiled code")
    return Judgement(Verdict.UNRESOLVED, evidence.why_not(case))


def _leaking(case: Case, evidence: Evidence) -> Judgement:
    for raised in evidence.errors():
        error = raised.error
        frames = error.frames if "UnexpectedTracerError" in error.ancestry else error.frames[:1]
        if error.ancestry & case.claimed and any(case.at(frame.path, frame.row) for frame in frames):
            return Judgement(Verdict.CONFIRMED, f"JAX raised {error.name} here", error)
        if any(case.at(path, row) or _inside(case, path, row, evidence) for path, row in error.origin):
            return Judgement(
                Verdict.CONFIRMED, f"the value that leaks here was used, and JAX raised {error.name}", error
            )
    for run in evidence.runs:
        leaking = [r for r in run.jobs.values() if r.outcome == "leak" or r.leaks]
        if any(_job_concerns(case, run, result.id) for result in leaking):
            return Judgement(Verdict.CONFIRMED, "a tracer was left behind after the trace")
        if run.leaks and any(case.id in trace.ran for trace in run.traces):
            return Judgement(Verdict.CONFIRMED, f"a tracer was left behind in {run.leaks[0][1]}")
    if any(case.id in trace.ran for trace in evidence.traces()):
        return Judgement(Verdict.UNRESOLVED, "no tracer was seen to be left behind")
    return Judgement(Verdict.UNRESOLVED, evidence.why_not(case))


def _inside(case: Case, path: str, row: int, evidence: Evidence) -> bool:
    """Whether a traced function defined on this row ran the place of the finding."""
    return any(t.path == path and t.row == row and case.id in t.ran for t in evidence.traces())


def _job_concerns(case: Case, run: ModuleRun, job: str) -> bool:
    return any(trace.job == job and case.id in trace.ran for trace in run.traces)


def _large_constant(case: Case, evidence: Evidence) -> Judgement:
    sizes = [t.constant_bytes for t in evidence.traces() if t.constant_bytes is not None and case.id in t.ran]
    if any(size >= LARGE_CONSTANT for size in sizes):
        return Judgement(Verdict.CONFIRMED, f"the program carries {max(sizes):,} bytes of constants")
    if sizes:
        return Judgement(Verdict.UNRESOLVED, f"the program carries {max(sizes):,} bytes of constants")
    return Judgement(Verdict.UNRESOLVED, evidence.why_not(case))


def _unrolled(case: Case, evidence: Evidence) -> Judgement:
    counts = [trace.ran[case.id][1] for trace in evidence.traces() if case.id in trace.ran]
    if counts and max(counts) >= UNROLLED:
        return Judgement(Verdict.CONFIRMED, f"one trace went through it {max(counts)} times")
    if counts:
        return Judgement(Verdict.UNRESOLVED, f"the traces went through it at most {max(counts)} times")
    return Judgement(Verdict.UNRESOLVED, evidence.why_not(case))


_Decider = Callable[[Case, Evidence], Judgement]
_DECIDERS: tuple[tuple[frozenset[str], _Decider], ...] = (
    (frozenset({"JIT406"}), _leaking),
    (frozenset(RAISES), _raising),
    (RECOMPILES, _recompiling),
    (STALE, _stale),
    (WHILE_TRACING, _while_tracing),
    (frozenset({"JIT409"}), _large_constant),
    (frozenset({"JIT308"}), _unrolled),
)


# ------------------------------------------------------------------------------------------------- the source text


@lru_cache(maxsize=32)
def _statements(text: str) -> tuple[tuple[range, bool], ...]:
    """Rows of every simple statement and compound header, smallest last; and whether it may leave parts unrun."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    out = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            continue
        body = getattr(node, "body", None)
        first = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
        last = getattr(node, "end_lineno", None) or first
        head: list[ast.AST] = [node]
        if isinstance(body, list) and body:
            begin = min([body[0].lineno, *(d.lineno for d in getattr(body[0], "decorator_list", ()))])
            last = max(first, begin - 1) if begin > first else first
            head = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        branches = any(isinstance(inner, _BRANCHES) for part in head for inner in ast.walk(part))
        out.append((range(first, last + 1), branches))
    return tuple(sorted(out, key=lambda entry: -len(entry[0])))


_BRANCHES = (
    ast.BoolOp,
    ast.IfExp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Assert,
)


def statement_rows(text: str, row: int) -> range:
    """Rows of the smallest simple statement, or header of a compound one, that has this row."""
    found = range(row, row + 1)
    for rows, _ in _statements(text):
        if row in rows:
            found = rows
    return found


def has_branches(text: str, row: int) -> bool:
    """Whether a statement on this row has parts that may not run although the statement does."""
    return any(branches for rows, branches in _statements(text) if row in rows)
