"""What the worker says, as data: one record per kind of JSON line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PROTOCOL = 1
"""The version both ends must share; the worker has the same constant."""

# The class has had two names: jaxlib's own, and the alias in jax.errors that newer versions made the real one.
_SAME_CLASS = {"XlaRuntimeError": "JaxRuntimeError"}


@dataclass(frozen=True, slots=True)
class Place:
    """A row of the user's code on a stack: in which file, and in which function."""

    path: str
    row: int
    function: str


@dataclass(frozen=True, slots=True)
class Error:
    """An exception: class, the names of its ancestors, message, and the user's frames, innermost first."""

    name: str
    ancestry: frozenset[str]
    message: str
    frames: tuple[Place, ...]
    module: str = "builtins"
    by_jax: bool = False
    """It is a class of JAX's own, or was raised in code of JAX."""
    origin: tuple[tuple[str, int], ...] = ()
    """Rows that the message names: where a leaked value was made."""

    @property
    def place(self) -> Place | None:
        """The innermost row of the user's code."""
        return self.frames[0] if self.frames else None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Error:
        """From the worker's description of an exception."""
        name = _SAME_CLASS.get(data["class"], data["class"])
        return cls(
            name=name,
            ancestry=frozenset([name, *data["mro"]]),
            message=data["message"],
            frames=tuple(Place(*frame) for frame in data["frames"]),
            module=data["module"],
            by_jax=bool(data.get("by_jax")),
            origin=tuple((path, row) for path, row in data["origin"]),
        )


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception seen in a frame of the user's. ``tracing``: while JAX traced; ``escaped``: it ended a top-level
    statement (of row ``statement``) or a job, nobody caught it."""

    error: Error
    tracing: bool = False
    escaped: bool = False
    statement: int = 0
    job: str | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter in a traced call: ``traced`` (an aval as text), ``tree`` (a container of such) or ``static``."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Trace:
    """One tracing of a user's function by JAX: one cache miss."""

    path: str
    row: int
    name: str
    qualname: str
    transform: str
    depth: int
    """Traces of user's functions that it is part of; 0: called from the host."""
    calls: tuple[Place, ...]
    """The stack that led to it, innermost first."""
    arguments: tuple[Argument, ...]
    ok: bool
    error: str | None
    """The class of an exception that left the function; None with ``ok`` false: what it returned was refused."""
    ran: Mapping[str, tuple[str, int]]
    """For each watched place that ran: ``full``, ``part`` or ``line``, and how often its first row ran."""
    equations: int | None = None
    constant_bytes: int | None = None
    job: str | None = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Trace:
        """From the worker's line."""
        return cls(
            path=data["file"],
            row=data["row"],
            name=data["name"],
            qualname=data["qualname"].replace("<locals>.", ""),
            transform=data["transform"],
            depth=data["depth"],
            calls=tuple(Place(*frame) for frame in data["calls"]),
            arguments=tuple(Argument(*argument) for argument in data["signature"]),
            ok=data["ok"],
            error=data["error"],
            ran={key: (how, hits) for key, (how, hits) in data["ran"].items()},
            equations=data.get("equations"),
            constant_bytes=data.get("constant_bytes"),
            job=data["job"],
        )


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended: ``ok``, ``raised``, ``leak``, ``late``, or ``unplanned`` (its arguments could not be built)."""

    id: str
    outcome: str
    reason: str = ""
    error: Error | None = None
    equations: int | None = None
    leaks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Stale:
    """A function traced again after the import: whether JAX then records another program than the first time."""

    path: str
    row: int
    name: str
    known: bool
    changed: bool
    unstable: bool
    """Two traces right after one another differ: it reads something that changes by itself."""


@dataclass(slots=True)
class ModuleRun:
    """All that a worker saw of one module. ``failure`` is why it ended early, "" if it did not."""

    module: str
    path: str
    failure: str = ""
    python: str = ""
    jax: str = ""
    traces: list[Trace] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    compiles: list[tuple[str, str | None]] = field(default_factory=list)
    """Names of compiled functions, each with the job it was compiled in (None: the import)."""
    jobs: dict[str, JobResult] = field(default_factory=dict)
    stale: list[Stale] = field(default_factory=list)
    leaks: list[tuple[str, str]] = field(default_factory=list)
    """Places (file, dotted name) that still held a tracer when nothing was being traced any more."""
    sites: dict[tuple[str, int], set[tuple[str, int]]] = field(default_factory=dict)
    """Where functions were given to jax.jit, by (path, row) of the function."""
    hits: dict[tuple[str, int], int] = field(default_factory=dict)
    late: list[int] = field(default_factory=list)
    """Rows of top-level statements that were stopped because their time was over."""
    finished: bool = False
    seconds: float = 0.0
    imported: bool = False

    @property
    def problems(self) -> list[Raised]:
        """Exceptions that ended top-level statements, without those that only follow from an earlier one."""
        escaped = [r for r in self.raised if r.escaped and r.job is None]
        return [r for i, r in enumerate(escaped) if i == 0 or "NameError" not in r.error.ancestry]

    def take(self, message: Mapping[str, Any]) -> None:
        """Add one message of the worker; what is not known is left out."""
        reader = _READERS.get(message.get("kind", ""))
        if reader is not None:
            reader(self, message)


def _hello(run: ModuleRun, message: Mapping[str, Any]) -> None:
    run.python = message["python"]
    if message["protocol"] != PROTOCOL:
        run.failure = "the worker is of another version of jitlint"


def _raised(run: ModuleRun, message: Mapping[str, Any]) -> None:
    run.raised.append(Raised(Error.read(message["error"]), tracing=message["tracing"], job=message["job"]))


def _problem(run: ModuleRun, message: Mapping[str, Any]) -> None:
    run.raised.append(Raised(Error.read(message["error"]), escaped=True, statement=message["row"]))


def _job(run: ModuleRun, message: Mapping[str, Any]) -> None:
    error = Error.read(message["error"]) if message.get("error") else None
    leaks = tuple((path, name) for path, name in message.get("leaks", ()))
    result = JobResult(
        message["id"], message["outcome"], message.get("reason", ""), error, message.get("equations"), leaks
    )
    run.jobs[result.id] = result
    if error is not None:
        run.raised.append(Raised(error, tracing=True, escaped=True, job=result.id))


def _stale(run: ModuleRun, message: Mapping[str, Any]) -> None:
    values = [message[key] for key in ("file", "row", "name", "known", "changed", "unstable")]
    run.stale.append(Stale(*values))


def _done(run: ModuleRun, message: Mapping[str, Any]) -> None:
    run.finished = True
    run.hits = {(path, row): count for path, row, count in message["hits"]}


def _site(run: ModuleRun, message: Mapping[str, Any]) -> None:
    path, row, _ = message["place"]
    run.sites.setdefault(tuple(message["function"]), set()).add((path, row))


def _imported(run: ModuleRun, message: Mapping[str, Any]) -> None:
    run.imported = True
    run.seconds = message["seconds"]


def _failure(text: str) -> Any:
    def read(run: ModuleRun, message: Mapping[str, Any]) -> None:
        run.failure = text.format(**message)

    return read


_READERS: dict[str, Any] = {
    "hello": _hello,
    "jax": lambda run, message: setattr(run, "jax", message["version"]),
    "trace": lambda run, message: run.traces.append(Trace.read(message)),
    "raised": _raised,
    "problem": _problem,
    "late": lambda run, message: run.late.append(message["row"]),
    "compile": lambda run, message: run.compiles.append((message["name"], message["job"])),
    "imported": _imported,
    "leaks": lambda run, message: run.leaks.extend((path, name) for path, name in message["names"]),
    "site": _site,
    "job": _job,
    "stale": _stale,
    "done": _done,
    "nojax": _failure("{reason}"),
    "crash": _failure("jitlint's worker failed: {text}"),
}
