"""What a long run is doing, on the last line of a terminal."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

_PATIENCE = 1.0
"""Seconds that a run takes without a word."""

_CLEAR = "\r\x1b[K"


class Progress:
    """Tells how much is done, once a second, and wipes it away at its end: ``with progress:`` around the work."""

    def __init__(self, stream: TextIO | None = None, *, patience: float = _PATIENCE) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._patience = patience
        self._started = time.monotonic()
        self._parts = self._done = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            self._thread = None

    def begin(self, parts: int) -> None:
        """There are so many parts to do. Nothing is started before this call: threads and forks do not get on."""
        self._parts, self._done = parts, 0
        if self._thread is None:
            self._ended.clear()
            self._thread = threading.Thread(target=self._tell, name="jitlint progress", daemon=True)
            self._thread.start()

    def advance(self) -> None:
        """One part is done."""
        self._done += 1

    def _tell(self) -> None:
        told = False
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone: nobody to tell
            while not self._ended.wait(self._patience):
                seconds = time.monotonic() - self._started
                parts = f", {self._done} of {self._parts} parts done" if self._parts > 1 else ""
                self._stream.write(f"{_CLEAR}jitlint: analysing{parts}, {seconds:.0f} s")
                self._stream.flush()
                told = True
            if told:
                self._stream.write(_CLEAR)
                self._stream.flush()


def wants_progress(*, quiet: bool) -> bool:
    """Whether there is somebody to tell: standard error is a terminal that can wipe a line."""
    return not quiet and os.environ.get("TERM") != "dumb" and not os.environ.get("CI") and sys.stderr.isatty()
