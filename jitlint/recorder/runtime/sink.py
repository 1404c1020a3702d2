"""The record on disk: one file of JSON lines per process."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

RECORD_VERSION = 1


class JsonLines:
    """Writes each event at once, as one line with one ``write``, so that a process that is killed loses nothing.

    The file is made when there is something to say; a forked child makes its own.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._pid = -1
        self._file = -1

    def __call__(self, event: dict[str, Any]) -> None:
        """Write an event.

        Raises:
            OSError: the folder cannot be written to.
        """
        if self._pid != os.getpid():
            self._open()
        self._write(event)

    def _open(self) -> None:
        self._pid = os.getpid()
        name = f"trace-{self._pid}-{time.time_ns():x}.jsonl"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._file = os.open(os.path.join(self._folder, name), flags, 0o644)
        self._write(process_event())

    def _write(self, event: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(event, default=str, separators=(",", ":")).encode() + b"\n")


def process_event() -> dict[str, Any]:
    """The event that comes first in a record: which process it is of."""
    return {
        "event": "process",
        "record": RECORD_VERSION,
        "pid": os.getpid(),
        "parent": os.getppid(),
        "argv": list(getattr(sys, "orig_argv", sys.argv)),
        "cwd": os.getcwd(),
        "python": sys.version.split()[0],
        "jax": getattr(sys.modules.get("jax"), "__version__", None),
        "start": time.time(),
    }
