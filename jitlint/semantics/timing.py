"""Clocks around jitted calls: a call returns before its work is done, and the first one compiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.bare import same
from jitlint.semantics.entry import Call, Entry
from jitlint.semantics.events import Timing
from jitlint.semantics.source import descendants

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter


@dataclass(slots=True)
class Stopwatch:
    """What happened since a clock was last read on the host."""

    root: Any = None
    frame: Any = None
    running: bool = False
    pending: Entry | None = None
    """The last jitted function called whose result nothing has waited for."""
    compiled: Entry | None = None
    """A jitted function called for the first time with its signature."""


def clock_read(interp: Interpreter, node: cst.CSTNode) -> None:
    """A clock is read: record what it measures wrongly, and start again."""
    watch = interp.stopwatch
    if interp.traces:
        return
    if watch.running and watch.frame is interp.frame and _is_compared(interp, node):
        if watch.pending is not None:
            interp.emit(Timing(node=node, unit=interp.unit, entry=watch.pending, how="unfinished"))
        elif watch.compiled is not None:
            interp.emit(Timing(node=node, unit=interp.unit, entry=watch.compiled, how="first"))
    interp.stopwatch = Stopwatch(interp.root, interp.frame, running=True)


def _is_compared(interp: Interpreter, node: cst.CSTNode) -> bool:
    """Is an earlier time taken from the clock's, here or of the name that it is given?"""
    statement, func = interp.current, interp.frame.func
    around = interp.unit.around(node, statement) if statement is not None else []
    if any(isinstance(each, cst.BinaryOperation) and isinstance(each.operator, cst.Subtract) for each in around):
        return True
    names = [each.targets[0].target for each in around if isinstance(each, cst.Assign)]
    body = func.lazy.body if func is not None else None
    if not names or body is None:
        return True  # at module level, or given to something that may compare it
    return any(
        isinstance(found.operator, cst.Subtract) and same(found.left, names[0])
        for found in descendants(body, cst.BinaryOperation)
    )


def called(interp: Interpreter, entry: Entry, call: Call) -> None:
    """A jitted function is called on the host."""
    watch = interp.stopwatch
    watch.pending = entry
    if call.signature is not None and all(c.signature != call.signature for c in entry.calls if c is not call):
        watch.compiled = watch.compiled or entry


def waited(interp: Interpreter) -> None:
    """Something waited for a result, or may have."""
    if not interp.traces:
        interp.stopwatch.pending = None
