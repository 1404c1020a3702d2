"""Room for the recursion of the analysis, which follows calls of the program by calls of its own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

_FRAMES = 12_000
"""Python frames: a followed call, with the expressions and blocks around it, takes some dozens."""
_STACK = 256 * 2**20
"""Bytes of address space, of which only what is used is taken."""


def with_room(run: Callable[[], _T]) -> _T:
    """What ``run`` returns, or raises, when it is called in a thread of its own with a deep stack."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            results.append(_in_one_chunk(run))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=body, daemon=True)
    _limit.lift()
    try:
        _start(thread)
        _wait(thread)
    finally:
        _limit.lower()
    if errors:
        raise errors[0]
    return results[0]


def _in_one_chunk(run: Callable[[], _T]) -> _T:
    return run()


# CPython keeps the frames of a thread in chunks of 16 kB, which it maps and unmaps whenever calls and returns cross from
# one to the next. The chunk for a frame that says to need 5 MB has 8 MB: room for all others, touched where it is used.
_in_one_chunk.__code__ = _in_one_chunk.__code__.replace(co_stacksize=600_000)


def _start(thread: threading.Thread) -> None:
    with _starting:
        size = threading.stack_size(_STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(size)


def _wait(thread: threading.Thread) -> None:
    try:
        thread.join()
    except BaseException:
        # Ctrl-C reaches the main thread only. The other must not outlive it: its stack has frames that are not Python's,
        # and the process would abort.
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
        thread.join()
        raise


class _Limit:
    """The limit of frames, one for all threads: several may need it high at once, and the last one lowers it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 0

    def lift(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, _FRAMES))
            self._users += 1

    def lower(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                sys.setrecursionlimit(self._before)


_limit = _Limit()
_starting = threading.Lock()
