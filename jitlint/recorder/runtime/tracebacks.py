"""Tracebacks of errors that end the program, as they are without the recorder."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

from .stack import origin


def hide_own_frames() -> None:
    """Leave the recorder's frames out of what ``sys.excepthook`` and its like for threads are given to print."""
    before, before_in_thread = sys.excepthook, threading.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, without_own_frames(error, trace))

    def thread_excepthook(args: Any) -> None:
        trace = without_own_frames(args.exc_value, args.exc_traceback)
        before_in_thread(threading.ExceptHookArgs((args.exc_type, args.exc_value, trace, args.thread)))

    sys.excepthook, threading.excepthook = excepthook, thread_excepthook


def without_own_frames(error: BaseException | None, trace: TracebackType | None) -> TracebackType | None:
    """``trace`` without the recorder's frames, and ``error`` and what caused it with such a traceback."""
    seen: set[int] = set()
    todo = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _filtered(one.__traceback__)
        todo += [one.__cause__, one.__context__]
        todo += getattr(one, "exceptions", ())
    return _filtered(trace)


def _filtered(trace: TracebackType | None) -> TracebackType | None:
    entries = []
    while trace is not None:
        if origin(trace.tb_frame.f_code.co_filename) != "recorder":
            entries.append(trace)
        trace = trace.tb_next
    for entry, following in zip(entries, [*entries[1:], None], strict=True):
        entry.tb_next = following
    return entries[0] if entries else None
