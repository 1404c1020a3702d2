"""Limits on the number of traces, and what exceeds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jitlint.recorder.record import Function, Record, Trace


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit that a run did not keep to."""

    name: str
    limit: int
    count: int
    traces: tuple[Trace, ...]

    def lines(self) -> list[str]:
        """What to tell the user: the count, then each trace with its reason."""
        head = f"{self.name}: {plural(self.count, 'trace')}, allowed {self.limit}"
        return [head, *(f"  {describe(trace)}" for trace in self.traces)]


def plural(count: int, noun: str) -> str:
    """``1 trace``, ``2 traces``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def describe(trace: Trace) -> str:
    """One line for a trace: where it was called and why it was traced."""
    where = f"{shown(trace.call.file)}:{trace.call.row}" if trace.call else "called from jax"
    return f"{where}: {trace.label}: {'; '.join(cause.describe() for cause in trace.causes)}"


def shown(file: str) -> str:
    """A path as a user wants to read it: relative to the working directory, or to where packages are installed."""
    _, installed, inside = file.rpartition("/site-packages/")
    if installed:
        return inside
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def matches(function: Function, name: str) -> bool:
    """Whether ``name`` in a budget means this function: its name, its qualified name or the end of that."""
    qualname = function.qualname.replace(".<locals>", "")
    return name in (function.name, function.label, function.qualname, qualname) or qualname.endswith(f".{name}")


def exceeded(record: Record, per_function: Mapping[str, int], total: int | None) -> list[Excess]:
    """The limits that the run did not keep to.

    ``per_function`` limits the traces of each function of that name, ``total`` those of all functions of the user's
    own. Both count within one process, as every process has to trace what it runs.
    """
    found = []
    for name, limit in per_function.items():
        for function in record.functions:
            if matches(function, name) and function.traces_per_process > limit:
                worst = _worst_process(function.traces)
                found.append(Excess(function.label, limit, len(worst), tuple(worst)))
    if total is not None:
        own = _worst_process([trace for trace in record.traces if not trace.library])
        if len(own) > total:
            again = [trace for trace in own if not trace.first]
            found.append(Excess("all functions", total, len(own), tuple(again)))
    return found


def unknown_names(record: Record, per_function: Mapping[str, int]) -> list[str]:
    """Names in a budget that no recorded function has."""
    return [name for name in per_function if not any(matches(function, name) for function in record.functions)]


def _worst_process(traces: list[Trace]) -> list[Trace]:
    counts = Counter(trace.process for trace in traces)
    if not counts:
        return []
    worst = counts.most_common(1)[0][0]
    return [trace for trace in traces if trace.process == worst]
