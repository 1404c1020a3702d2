"""The state of the recorder in one process: what was traced, why, and what it cost, told to whoever listens."""

from __future__ import annotations

import inspect
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any, NamedTuple

from .causes import Cause, explain
from .functions import Definition, definition
from .identity import Serials
from .signature import Signature, describe_call
from .stack import origin, place, place_of_error, user_frame

Event = dict[str, Any]
Listener = Callable[[Event], None]

_MAX_SIGNATURES = 256


class RetraceError(RuntimeError):
    """Something was traced or compiled where the program said that nothing must be any more."""


class Unpacked(NamedTuple):
    """The user's function and its arguments, found in the call of a library's function."""

    fun: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Function:
    """One function object that was given to ``jax.jit``."""

    __slots__ = ("definition", "made", "serial", "signature", "transform", "unpack")

    def __init__(
        self,
        serial: int,
        definition: Definition,
        signature: inspect.Signature | None,
        made: dict[str, object] | None,
        transform: str,
    ) -> None:
        self.serial = serial
        self.definition = definition
        self.signature = signature
        self.made = made
        self.transform = transform
        self.unpack: Callable[[Any, tuple[Any, ...], dict[str, Any]], Unpacked | None] | None = None
        """For libraries that hand jax a function of their own: finds the user's function and arguments in a call."""


class _Group:
    """All function objects of one definition, jitted in the same way."""

    __slots__ = ("signatures",)

    def __init__(self) -> None:
        self.signatures: dict[int, list[Signature]] = {}


class _Running:
    """A trace that has begun."""

    __slots__ = ("event", "function", "inner", "key", "serial", "signature", "started")

    def __init__(
        self, event: Event, function: Function, key: Hashable, serial: int, signature: Signature, started: float
    ) -> None:
        self.event = event
        self.function = function
        self.key = key
        self.serial = serial
        self.signature = signature
        self.started = started
        self.inner = 0.0
        """Seconds spent in the traces inside of this one."""


class _Finished(NamedTuple):
    """The outermost trace that ended last in a thread: what is compiled next is most likely it."""

    trace: int
    serial: int
    name: str


class Guard:
    """What :func:`jitlint.no_retrace` asks for while it is entered."""

    __slots__ = ("eager",)

    def __init__(self, eager: bool) -> None:
        self.eager = eager


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.running: list[_Running] = []
        self.finished: _Finished | None = None
        self.forbidden: list[Guard] = []


class Recorder:
    """Collects trace and compile events and passes each to its listeners, in the thread where it happened.

    A fault in the recorder itself never reaches the user's program: it is counted and told as an ``error`` event.
    """

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self.serials = Serials()
        self.recording = True
        self._here = _PerThread()
        self._groups: dict[Hashable, _Group] = {}
        self._last_traces: dict[int | str, _Finished] = {}
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._faults = 0

    # -- functions -------------------------------------------------------------------------------------------------

    def describe(self, fun: Any, serial: int, transform: str) -> Function:
        """The record of a function object at the moment when it is given to ``jax.jit`` (or ``transform``)."""
        return Function(serial, definition(fun), signature_of(fun), place(user_frame(sys._getframe(1))), transform)

    # -- traces ----------------------------------------------------------------------------------------------------

    def begin(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Running | None:
        """To be called where the body of ``function`` is about to run; None says that this is no trace.

        Raises:
            RetraceError: a :func:`jitlint.no_retrace` is entered in this thread.
        """
        if not self.recording or not _is_trace(sys._getframe(1)):
            return None
        try:
            running = self._begin(function, args, kwargs)
        except Exception as error:
            self.fault(error)
            return None
        self._refuse(running.event)
        self._here.running.append(running)
        return running

    def _begin(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Running:
        started = time.perf_counter()
        jax = sys.modules["jax"]
        defined, serial, parameters = function.definition, function.serial, function.signature
        if function.unpack is not None and (unpacked := function.unpack(jax, args, kwargs)) is not None:
            defined = definition(unpacked.fun)
            args, kwargs = unpacked.args, unpacked.kwargs
            parameters = signature_of(unpacked.fun)
            serial = self.serials.of(unpacked.fun) if inspect.isfunction(unpacked.fun) else function.serial
        signature = describe_call(jax, parameters, args, kwargs, self.serials)
        key = (defined.key, function.transform)
        with self._lock:
            causes = self._causes(self._groups.setdefault(key, _Group()), serial, signature, function)
        here = self._here
        event: Event = {
            "event": "trace",
            "id": next(self._ids),
            "function": serial,
            **defined.as_json(),
            "transform": function.transform,
            "made": function.made,
            "call": place(user_frame(sys._getframe(1))),
            "parent": here.running[-1].event["id"] if here.running else None,
            "thread": threading.get_ident(),
            "rank": _rank(),
            "start": time.time(),
            "signature": signature.as_json(),
            "causes": [cause.as_json() for cause in causes],
        }
        return _Running(event, function, key, serial, signature, started)

    def _causes(self, group: _Group, serial: int, signature: Signature, function: Function) -> list[Cause]:
        known = group.signatures.get(serial)
        if known:
            return explain(known, signature) or [Cause("evicted", note="the same signature was traced before")]
        if group.signatures:
            made: dict[str, Any] = function.made or {}
            where = f"made at {os.path.basename(made['file'])}:{made['row']}" if made else ""
            return [Cause("new_function_object", note=where)]
        return [Cause("first")]

    def end(self, running: _Running, error: BaseException | None) -> None:
        """To be called when the body that :meth:`begin` announced has returned or raised."""
        try:
            self._end(running, error)
        except Exception as fault:
            self.fault(fault)

    def _end(self, running: _Running, error: BaseException | None) -> None:
        here = self._here
        while here.running and here.running.pop() is not running:
            pass
        seconds = time.perf_counter() - running.started
        event = running.event
        event["seconds"] = seconds
        event["self_seconds"] = max(0.0, seconds - running.inner)
        if here.running:
            here.running[-1].inner += seconds
        if error is not None:
            event["error"] = type(error).__name__
            event["raised"] = place_of_error(error)
        else:
            with self._lock:
                known = self._groups[running.key].signatures.setdefault(running.serial, [])
                known.append(running.signature)
                del known[:-_MAX_SIGNATURES]
            finished = _Finished(running.event["id"], running.function.serial, event["name"])
            self._last_traces[event["name"]] = self._last_traces[running.function.serial] = finished
            if not here.running:
                here.finished = finished
        self.emit(event)

    # -- compiles --------------------------------------------------------------------------------------------------

    def claim(self, serial: int | None, name: str) -> tuple[int | None, bool]:
        """The trace whose program is being compiled, given the function's serial or else its name.

        Returns its id (None: not known) and whether it was traced just now, so that the trace tells the cause.
        """
        finished = self._here.finished
        if finished is not None and (serial == finished.serial if serial is not None else name in ("", finished.name)):
            self._here.finished = None
            return finished.trace, True
        last = self._last_traces.get(name if serial is None else serial)
        return (None if last is None else last.trace), False

    @property
    def forbids_compiles(self) -> bool:
        """A :func:`jitlint.no_retrace` is entered in this thread."""
        return bool(self._here.forbidden)

    def next_id(self) -> int:
        """A new number for an event."""
        return next(self._ids)

    # -- guards ----------------------------------------------------------------------------------------------------

    def forbid(self, guard: Guard) -> None:
        """From now on, in this thread, every trace and compile raises :class:`RetraceError`."""
        self._here.forbidden.append(guard)

    def allow(self, guard: Guard) -> None:
        """Undo :meth:`forbid`."""
        self._here.forbidden.remove(guard)

    def refuse_compile(self, event: Event) -> None:
        """Raise :class:`RetraceError` if a guard of this thread forbids what ``event`` tells.

        A function that is traced was refused then; what gets here was traced before or is no function of the user's.
        """
        self._refuse(event)

    def _refuse(self, event: Event) -> None:
        guards = self._here.forbidden
        if not guards or (event.get("kind", "jit") != "jit" and not any(guard.eager for guard in guards)):
            return
        raise RetraceError(refusal(event))

    # -- telling ---------------------------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        """Pass an event to every listener; a listener that fails does not stop the others."""
        for listener in tuple(self.listeners):
            try:
                listener(event)
            except Exception as error:
                self._faults += 1
                if self._faults == 1 and len(self.listeners) > 1:
                    self.fault(error)

    def fault(self, error: Exception) -> None:
        """Tell, once in a while, that the recorder itself failed."""
        self._faults += 1
        if self._faults > 20:
            return
        event = {"event": "error", "id": self.next_id(), "message": f"{type(error).__name__}: {error}"[:500]}
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is not None:
            event["where"] = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        self.emit(event)


def refusal(event: Event) -> str:
    """The message of :class:`RetraceError` for a trace or compile event."""
    verb = "traced" if event["event"] == "trace" else "compiled"
    call = event.get("call") or {}
    where = f" at {call['file']}:{call['row']}" if call else ""
    what = event.get("label") or event.get("name") or "something"
    kind = event.get("kind", "jit")
    subject = f"{what} was {verb}" if kind == "jit" else f"the eager operation {what} was {verb}"
    reasons = "; ".join(Cause(**cause).describe() for cause in event.get("causes", ()))
    return f"{subject}{where}, where no compilation is allowed" + (f": {reasons}" if reasons else "")


def _is_trace(frame: FrameType | None) -> bool:
    """Whether the body whose stand-in ``frame`` is runs to be traced: jax called it, in a trace, with jit enabled."""
    while frame is not None and origin(frame.f_code.co_filename) == "recorder":
        frame = frame.f_back
    if frame is None or origin(frame.f_code.co_filename) != "jax":
        return False
    jax = sys.modules.get("jax")
    if jax is None or getattr(jax.config, "jax_disable_jit", False):
        return False
    clean = getattr(getattr(getattr(jax, "_src", None), "core", None), "trace_state_clean", None)
    return clean is None or not clean()


def signature_of(fun: Any) -> inspect.Signature | None:
    """The parameters of ``fun``, None where Python does not know them."""
    try:
        return inspect.signature(fun)
    except (TypeError, ValueError):
        return None


def _rank() -> int | None:
    """The rank of this process in a distributed job, without starting one."""
    module = sys.modules.get("jax._src.distributed")
    state = getattr(module, "global_state", None)
    if state is None or getattr(state, "client", None) is None:
        return None
    rank = getattr(state, "process_id", None)
    return rank if isinstance(rank, int) else None


_RECORDER = Recorder()


def recorder() -> Recorder:
    """The recorder of this process."""
    return _RECORDER
