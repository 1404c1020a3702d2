"""Runs a command with the recorder in every Python process of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from jitlint.recorder.record import PATTERN
from jitlint.recorder.runtime.startup import FOLDER_VARIABLE

SITE = Path(__file__).parent / "site"


class LaunchError(Exception):
    """The command could not be started; the message says why."""


def prepare_folder(folder: Path) -> None:
    """Make the folder for a record and take an earlier record out of it. Other files in it are left alone.

    Raises:
        LaunchError: the folder cannot be made or written to.
    """
    try:
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(PATTERN):
            old.unlink()
        if made:
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise LaunchError(f"cannot write the record to {folder}: {error.strerror or error}") from error


def environment(folder: Path) -> dict[str, str]:
    """The environment in which every Python process records itself into ``folder``."""
    found = dict(os.environ)
    path = [str(SITE), *([found["PYTHONPATH"]] if found.get("PYTHONPATH") else [])]
    return {**found, "PYTHONPATH": os.pathsep.join(path), FOLDER_VARIABLE: str(folder.absolute())}


def run(command: Sequence[str], folder: Path) -> int:
    """Run ``command`` to its end with the recorder in it, and return the exit code that a shell would give.

    Its input and output are those of this process, and so are the signals that it gets.

    Raises:
        LaunchError: there is no such command, or it cannot be run.
    """
    words = _python_command(command)
    # Found here, and not by the system, so that a missing command is told apart from a missing interpreter of it.
    program = shutil.which(words[0])
    if program is None:
        raise LaunchError(f"no such command: {words[0]}")
    try:
        child = subprocess.Popen([program, *words[1:]], env=environment(folder))
    except OSError as error:
        raise LaunchError(f"cannot run {words[0]}: {error.strerror or error}") from error
    return _exit_code(_wait(child))


def _python_command(command: Sequence[str]) -> list[str]:
    """``train.py`` and ``-m module`` are short for Python running them."""
    if command[0] == "-m" or (command[0].endswith(".py") and shutil.which(command[0]) is None):
        return [sys.executable, *command]
    return list(command)


def _wait(child: subprocess.Popen[bytes]) -> int:
    def forward(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    # The terminal sends Ctrl-C to the child as well: it decides what comes of it. Others reach only this process.
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            before[number] = signal.signal(number, forward)
    try:
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit_code(status: int) -> int:
    """A process that a signal ended has 128 and the signal's number, as in a shell."""
    return 128 - status if status < 0 else status
