"""What ``jax.monitoring`` tells of compilations, and whose each of them is.

The event names are all that is taken from jax as given. Whose compilation it is, the stack says best: jax reports in
the thread that compiles, below the call that missed its cache. Where the stack does not say, the name that newer
versions report and the last trace of the thread do.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Hashable
from types import FrameType
from typing import Any

from .bodies import Bodies
from .causes import Cause, explain
from .functions import Definition, definition
from .recorder import Event, Function, Recorder, signature_of
from .signature import Signature, describe_operands, name_arguments
from .stack import frames, origin, place, user_frame

LOWERED = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILED = "/jax/core/compile/backend_compile_duration"
CACHE_HIT = "/jax/compilation_cache/cache_hits"

_CONTROL_FLOW = {
    "scan": ("f",),
    "while_loop": ("cond_fun", "body_fun"),
    "fori_loop": ("body_fun",),
    "cond": ("true_fun", "false_fun"),
    "_cond": ("true_fun", "false_fun"),
    "switch": ("branches",),
    "map": ("f",),
}
"""Functions of ``jax.lax`` that take functions, and the names under which they have them."""

_CONTROL_FLOW_PRIMITIVES = frozenset({"scan", "while", "cond"})
_Placement = tuple[tuple[str, str], ...]
_TRANSFORM_FILES = ("ad.py", "batching.py")


class Compiles:
    """Listens to ``jax.monitoring`` and tells the recorder of each compilation."""

    def __init__(self, recorder: Recorder, bodies: Bodies) -> None:
        self._recorder = recorder
        self._bodies = bodies
        self._here = threading.local()
        self._control_flow: dict[Hashable, dict[tuple[int, ...], list[Signature]]] = {}
        self._placements: dict[int, list[_Placement]] = {}

    def listen(self, monitoring: Any) -> None:
        """Register with ``jax.monitoring``."""
        monitoring.register_event_duration_secs_listener(self.on_duration)
        monitoring.register_event_listener(self.on_event)

    def on_event(self, name: str, **_: Any) -> None:
        """The persistent compilation cache had the program: the compile that is reported next was none."""
        if name == CACHE_HIT:
            self._here.cached = True

    def on_duration(self, name: str, seconds: float, **details: Any) -> None:
        """A step of a compilation has ended.

        Raises:
            RetraceError: a :func:`jitlint.no_retrace` is entered in this thread.
        """
        if name not in (LOWERED, COMPILED) or not self._recorder.recording:
            return
        try:
            event = self._event(str(details.get("fun_name", "")), sys._getframe(1), lowered=name == LOWERED)
        except Exception as error:
            self._recorder.fault(error)
            return
        if name == LOWERED:
            self._here.lowering = seconds
            self._recorder.refuse_compile(event)
            return
        event["lower_seconds"] = getattr(self._here, "lowering", 0.0)
        event["compile_seconds"] = seconds
        event["cached"] = getattr(self._here, "cached", False)
        event["start"] = time.time() - seconds - event["lower_seconds"]
        self._here.lowering, self._here.cached = 0.0, False
        self._recorder.emit(event)

    def _event(self, reported: str, top: FrameType, lowered: bool) -> Event:
        event: Event = {"event": "compile", "kind": "eager", "name": _bare(reported), "thread": threading.get_ident()}
        if lowered and not self._recorder.forbids_compiles:
            return event
        event["call"] = place(user_frame(top))
        miss, transformed = _cache_miss(top)
        missed = miss.f_locals.get("fun") if miss is not None else None
        function = self._bodies.function_of(missed) or self._bodies.function_of(getattr(missed, "_fun", None))
        event["name"] = name = event["name"] or getattr(missed, "__name__", "") or _program_name(top)
        if function is not None:
            event.update(function.definition.as_json(), kind="jit", function=function.serial)
        elif (unseen := _of_the_user(missed)) is not None:
            event.update(unseen.as_json(), kind="jit")
        elif miss is None or transformed:
            event["kind"] = "jit"
        elif name in _CONTROL_FLOW_PRIMITIVES:
            self._control_flow_event(event, miss, lowered)
        if event["kind"] == "jit":
            self._jit_event(event, function, name, miss, transformed, lowered)
        if not lowered:
            event["id"] = self._recorder.next_id()
        return event

    def _jit_event(
        self,
        event: Event,
        function: Function | None,
        name: str,
        miss: FrameType | None,
        transformed: bool,
        lowered: bool,
    ) -> None:
        """Complete the event of a jitted function: its trace, and the cause where no trace tells it."""
        if lowered:
            return
        serial = None if function is None else function.serial
        event["trace"], fresh = self._recorder.claim(serial, name)
        if event["trace"] is None and function is None and "file" not in event:
            # Nothing that was given to jit.
            event["kind"] = "eager"
            return
        placement = _placement(function, miss)
        known = self._placements.setdefault(event["function"], []) if function is not None else []
        if not fresh:
            if transformed or miss is None:
                causes = [Cause("transform", note="compiled for its gradient, its batched form or the like")]
            elif event["trace"] is None:
                causes = [Cause("unseen", note="traced where the recorder could not see it")]
            else:
                causes = _moved(known, placement) if known else [Cause("first")]
            event["causes"] = [cause.as_json() for cause in causes]
        known.append(placement)
        del known[:-64]

    def _control_flow_event(self, event: Event, miss: FrameType, lowered: bool) -> None:
        """``lax.scan`` and its like outside jit: their functions are part of the key of what is compiled."""
        found = _control_flow_call(miss)
        if found is None:
            return
        api, functions = found
        definitions = [definition(function) for function in functions]
        key = (api, *(d.key for d in definitions))
        serials = tuple(self._recorder.serials.of(function) for function in functions)
        operands = describe_operands(miss.f_locals.get("args", ()))
        known = self._control_flow.setdefault(key, {})
        if not known:
            causes = [Cause("first")]
        elif serials not in known:
            causes = [Cause("new_function_object", " and ".join(d.qualname for d in definitions))]
        else:
            causes = explain(known[serials], operands)
            if not causes and api == "map":
                causes = [Cause("new_function_object", note="lax.map makes a new body at each call")]
        if not lowered:
            known.setdefault(serials, []).append(operands)
        event.update(
            kind="control_flow",
            api=api,
            label=f"lax.{api}({', '.join(d.qualname for d in definitions)})",
            file=definitions[0].file,
            row=definitions[0].row,
            causes=[cause.as_json() for cause in causes],
        )


def _of_the_user(missed: Any) -> Definition | None:
    """The definition of a function that was jitted before the recorder was there, None for one of jax's own."""
    if not callable(missed):
        return None
    found = definition(missed)
    return found if found.file and origin(found.file) != "jax" else None


def _bare(reported: str) -> str:
    return reported[4:-1] if reported.startswith("jit(") and reported.endswith(")") else reported


def _cache_miss(top: FrameType) -> tuple[FrameType | None, bool]:
    """The innermost call that missed its cache, and whether a transformation stands between it and the compiler."""
    transformed = False
    for frame in frames(top):
        code = frame.f_code
        if origin(code.co_filename) == "jax":
            if code.co_name == "cache_miss" and "fun" in frame.f_locals:
                return frame, transformed
            transformed = transformed or code.co_filename.endswith(_TRANSFORM_FILES)
    return None, transformed


def _program_name(top: FrameType) -> str:
    """The name of the program, from versions of jax that do not report it."""
    for frame in frames(top):
        if frame.f_code.co_name == "_pjit_call_impl_python":
            return str(frame.f_locals.get("name", ""))
    return ""


def _control_flow_call(miss: FrameType) -> tuple[str, list[Any]] | None:
    """Which function of ``jax.lax`` the user called, and with which functions."""
    found: tuple[str, list[Any]] | None = None
    for frame in frames(miss):
        if origin(frame.f_code.co_filename) not in ("jax", "recorder"):
            break
        names = _CONTROL_FLOW.get(frame.f_code.co_name)
        if names is None or "control_flow" not in frame.f_code.co_filename:
            continue
        functions: list[Any] = []
        for name in names:
            value = frame.f_locals.get(name)
            functions.extend(value if isinstance(value, (list, tuple)) else [value])
        functions = [function for function in functions if callable(function)]
        if functions:
            found = frame.f_code.co_name.lstrip("_"), functions
    return found


def _placement(function: Function | None, miss: FrameType | None) -> _Placement:
    """Where the arguments of a call are: the devices or the sharding of each, and whether it is bound to them."""
    if miss is None or function is None:
        return ()
    jax = sys.modules["jax"]
    args, kwargs, signature = miss.f_locals.get("args", ()), miss.f_locals.get("kwargs", {}), function.signature
    if function.unpack is not None and (unpacked := function.unpack(jax, args, kwargs)) is not None:
        args, kwargs, signature = unpacked.args, unpacked.kwargs, signature_of(unpacked.fun)
    places = []
    for name, value in name_arguments(signature, args, kwargs)[0]:
        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            sharding = None if isinstance(leaf, jax.core.Tracer) else getattr(leaf, "sharding", None)
            if sharding is not None:
                committed = " (committed)" if getattr(leaf, "committed", False) else ""
                places.append((name + jax.tree_util.keystr(path), f"{sharding}{committed}"[:160]))
    return tuple(places)


def _moved(known: list[_Placement], placement: _Placement) -> list[Cause]:
    """Why a function was compiled that was not traced: its arguments are elsewhere, or its options are others."""
    before = dict(known[-1])
    moved = [
        Cause("sharding", path, before[path], where)
        for path, where in placement
        if path in before and before[path] != where
    ]
    return moved or [Cause("options", note="the same trace compiled again: other options of jit, or a dropped entry")]
