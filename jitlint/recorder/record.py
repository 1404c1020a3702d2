"""The record of a run, read back: what was traced and compiled, function by function."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from jitlint.recorder.runtime.causes import Cause
from jitlint.recorder.runtime.sink import RECORD_VERSION

PATTERN = "trace-*.jsonl"


class RecordError(Exception):
    """A folder holds no record that this version can read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the program."""

    file: str
    row: int
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.row}"


@dataclass(frozen=True, slots=True)
class Trace:
    """One run of a jitted function's body by jax, to learn what it does."""

    id: int
    process: int
    function: int
    name: str
    qualname: str
    label: str
    file: str
    row: int
    library: bool
    transform: str
    made: Place | None
    call: Place | None
    parent: int | None
    rank: int | None
    start: float
    seconds: float
    self_seconds: float
    signature: Mapping[str, Any]
    causes: tuple[Cause, ...]
    error: str | None = None
    raised: Place | None = None
    """The line of the user's where :attr:`error` came up."""

    @property
    def first(self) -> bool:
        """The function had to be traced once; this is that time."""
        return any(cause.kind == "first" for cause in self.causes)


@dataclass(frozen=True, slots=True)
class Compile:
    """One program that XLA compiled: of a jitted function, of control flow outside jit, or of an eager operation."""

    id: int
    process: int
    kind: str
    name: str
    label: str
    file: str
    row: int
    library: bool
    trace: int | None
    call: Place | None
    start: float
    lower_seconds: float
    compile_seconds: float
    cached: bool
    causes: tuple[Cause, ...]

    @property
    def seconds(self) -> float:
        """Lowering and compiling together."""
        return self.lower_seconds + self.compile_seconds


@dataclass(frozen=True, slots=True)
class Process:
    """One Python process of the run."""

    number: int
    pid: int
    argv: tuple[str, ...]
    cwd: str
    python: str
    jax: str
    start: float


@dataclass(slots=True)
class Function:
    """All that happened to one function: the traces of it and the programs compiled from them."""

    name: str
    qualname: str
    label: str
    file: str
    row: int
    library: bool
    kind: str
    traces: list[Trace] = field(default_factory=list)
    compiles: list[Compile] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Time spent tracing (without the jitted functions it calls) and compiling it."""
        return sum(t.self_seconds for t in self.traces) + sum(c.seconds for c in self.compiles)

    @property
    def lost_seconds(self) -> float:
        """The part of :attr:`seconds` that went into doing it again."""
        first = {(t.process, t.id) for t in self.traces if t.first}
        again = sum(t.self_seconds for t in self.traces if not t.first)
        for compile_ in self.compiles:
            if (compile_.process, compile_.trace) not in first or compile_.causes:
                again += 0.0 if any(cause.kind == "first" for cause in compile_.causes) else compile_.seconds
        return again

    @property
    def events(self) -> list[Trace | Compile]:
        """Its traces, then its compiles."""
        return [*self.traces, *self.compiles]

    @property
    def count(self) -> int:
        """How often it was traced; control flow outside jit leaves compiles only."""
        return len(self.traces) or len(self.compiles)

    @property
    def traces_per_process(self) -> int:
        """The largest number of traces in one process: every process has to trace it once."""
        return max(Counter(t.process for t in self.traces).values(), default=0)

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Why it was done again, each reason with how often, the commonest first."""
        counts: Counter[str] = Counter()
        for event in self.events:
            for cause in event.causes:
                if cause.kind != "first":
                    counts[cause.title] += 1
        return counts.most_common()


@dataclass
class Record:
    """The record of one run, over all of its processes."""

    folder: Path
    processes: list[Process] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    compiles: list[Compile] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @cached_property
    def functions(self) -> list[Function]:
        """Jitted functions, and control flow outside jit, by time lost, then by time spent."""
        found: dict[tuple[object, ...], Function] = {}
        owners: dict[tuple[int, int | None], Function] = {}
        for trace in self.traces:
            key = ("jit", trace.file, trace.row, trace.label)
            if key not in found:
                found[key] = Function(
                    trace.name, trace.qualname, trace.label, trace.file, trace.row, trace.library, trace.transform
                )
            found[key].traces.append(trace)
            owners[trace.process, trace.id] = found[key]
        for compile_ in self.compiles:
            if compile_.kind == "eager":
                continue
            owner = owners.get((compile_.process, compile_.trace))
            if owner is None:
                place = (compile_.kind, compile_.file, compile_.row, compile_.label, compile_.call)
                if place not in found:
                    found[place] = Function(
                        compile_.name,
                        compile_.label,
                        compile_.label,
                        compile_.file,
                        compile_.row,
                        compile_.library,
                        compile_.kind,
                    )
                owner = found[place]
            owner.compiles.append(compile_)
        return sorted(found.values(), key=lambda f: (-f.lost_seconds, -f.seconds, f.file, f.row))

    @property
    def eager(self) -> list[Compile]:
        """Operations that were compiled because the program ran them outside of any jit."""
        return [compile_ for compile_ in self.compiles if compile_.kind == "eager"]

    @property
    def seconds(self) -> float:
        """All time spent tracing and compiling."""
        return sum(t.self_seconds for t in self.traces) + sum(c.seconds for c in self.compiles)

    @property
    def start(self) -> float:
        """When the first process was there."""
        return min((p.start for p in self.processes), default=0.0)


def load_record(folder: Path) -> Record:
    """Read the record that ``jitlint trace`` left in ``folder``.

    A line that was cut off when its process was killed is left out.

    Raises:
        RecordError: there is no record, or it was written by a newer version.
    """
    files = sorted(folder.glob(PATTERN)) if folder.is_dir() else []
    if not files:
        raise RecordError(
            f"no record in {folder}: run `jitlint trace -o {folder} -- COMMAND` first"
            " (nothing is written for commands that never import jax)"
        )
    record = Record(folder)
    for number, file in enumerate(files):
        _read(record, number, _lines(file))
    record.traces.sort(key=lambda t: (t.start, t.process, t.id))
    record.compiles.sort(key=lambda c: (c.start, c.process, c.id))
    return record


def record_of_events(events: Iterable[Mapping[str, Any]]) -> Record:
    """The record of events that were kept in memory, of this process alone."""
    record = Record(Path())
    _read(record, 0, events)
    return record


def _lines(file: Path) -> Iterable[Mapping[str, Any]]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(event, dict):
                yield event


def _read(record: Record, number: int, events: Iterable[Mapping[str, Any]]) -> None:
    for event in events:
        match event.get("event"):
            case "process":
                if event["record"] > RECORD_VERSION:
                    raise RecordError(f"the record in {record.folder} was written by a newer jitlint: update jitlint")
                record.processes.append(_process(number, event))
            case "trace":
                record.traces.append(_trace(number, event))
            case "compile":
                record.compiles.append(_compile(number, event))
            case "error":
                record.faults.append(f"{event.get('message')} ({event.get('where')})")


def _process(number: int, event: Mapping[str, Any]) -> Process:
    return Process(
        number, event["pid"], tuple(event["argv"]), event["cwd"], event["python"], event["jax"] or "", event["start"]
    )


def _trace(number: int, event: Mapping[str, Any]) -> Trace:
    return Trace(
        id=event["id"],
        process=number,
        function=event["function"],
        name=event["name"],
        qualname=event["qualname"],
        label=event["label"],
        file=event["file"],
        row=event["row"],
        library=event["library"],
        transform=event["transform"],
        made=_place(event["made"]),
        call=_place(event["call"]),
        parent=event["parent"],
        rank=event.get("rank"),
        start=event["start"],
        seconds=event["seconds"],
        self_seconds=event["self_seconds"],
        signature=event["signature"],
        causes=_causes(event),
        error=event.get("error"),
        raised=_place(event.get("raised")),
    )


def _compile(number: int, event: Mapping[str, Any]) -> Compile:
    name = event.get("name") or "unnamed"
    return Compile(
        id=event["id"],
        process=number,
        kind=event["kind"],
        name=name,
        label=event.get("label") or name,
        file=event.get("file") or "",
        row=event.get("row") or 0,
        library=event.get("library", False),
        trace=event.get("trace"),
        call=_place(event.get("call")),
        start=event["start"],
        lower_seconds=event["lower_seconds"],
        compile_seconds=event["compile_seconds"],
        cached=event.get("cached", False),
        causes=_causes(event),
    )


def _causes(event: Mapping[str, Any]) -> tuple[Cause, ...]:
    return tuple(Cause(**cause) for cause in event.get("causes", ()))


def _place(data: Mapping[str, Any] | None) -> Place | None:
    return None if data is None else Place(data["file"], data["row"], data.get("function", ""))
