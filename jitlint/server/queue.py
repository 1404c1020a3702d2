"""One job at a time, on a thread of its own: waits until the typing pauses, and stops what is out of date."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_LOG = logging.getLogger(__name__)

Stopped = Callable[[], bool]
Job = Callable[[Stopped], None]
"""Does something. It is given a function that says whether the result is still wanted; if not, it may just return."""

_STACK = 64 * 1024 * 1024
"""Bytes: the analysis recurses as deeply as the program does, and threads of some systems get half a megabyte."""


_FAREWELL = 10.0
"""Seconds to wait for a job that is stopped: a process that ends in the middle of a parse would abort."""


class Queue:
    """Jobs by key, of which the one that is due first is first."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, Job]] = {}
        self._running: tuple[str, Job] | None = None
        self._stop_running = False
        self._closed = False
        self._changed = threading.Condition()
        before = threading.stack_size(_STACK)
        try:
            self._thread = threading.Thread(target=self._loop, name="jitlint analysis", daemon=True)
            self._thread.start()
        finally:
            threading.stack_size(before)

    def ask(self, key: str, job: Job, delay: float = 0.0, *, interrupt: bool = True) -> None:
        """Do ``job`` in ``delay`` seconds, in place of what waits under the same key.

        With ``interrupt``, whatever runs now is stopped, and begun again after it.
        """
        with self._changed:
            due = time.monotonic() + delay
            self._waiting[key] = (due, job)
            if interrupt and self._running is not None:
                self._stop_running = True
                running, unfinished = self._running
                self._waiting.setdefault(running, (due + 0.001, unfinished))
            self._changed.notify_all()

    def hurry(self, key: str) -> None:
        """Do what waits under ``key`` at once."""
        with self._changed:
            if key in self._waiting:
                self._waiting[key] = (0.0, self._waiting[key][1])
                self._changed.notify_all()

    def drop(self, key: str) -> None:
        """Forget what waits or runs under ``key``."""
        with self._changed:
            self._waiting.pop(key, None)
            if self._running is not None and self._running[0] == key:
                self._stop_running = True

    def is_waiting(self, key: str) -> bool:
        """Whether something waits or runs under ``key``."""
        with self._changed:
            return key in self._waiting or (self._running is not None and self._running[0] == key)

    def close(self) -> None:
        """Stop what runs, wait for that, and begin nothing more."""
        with self._changed:
            self._closed = self._stop_running = True
            self._waiting.clear()
            self._changed.notify_all()
        self._thread.join(_FAREWELL)

    def _next(self) -> Job | None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                key = min(self._waiting, key=lambda key: self._waiting[key][0], default=None)
                if key is not None and self._waiting[key][0] <= now:
                    _, job = self._waiting.pop(key)
                    self._running, self._stop_running = (key, job), False
                    return job
                self._changed.wait(None if key is None else self._waiting[key][0] - now)
            return None

    def _loop(self) -> None:
        while (job := self._next()) is not None:
            try:
                job(lambda: self._stop_running)
            except Exception:  # a job answers for its own faults; one that does not must not end all others
                _LOG.exception("an analysis failed")
            finally:
                with self._changed:
                    self._running = None
