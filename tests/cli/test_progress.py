"""Progress: only on a terminal, only when it takes long, and gone at the end."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jitlint.cli.progress import Progress, wants_progress
from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, CLEAN


class Terminal(io.StringIO):
    """A terminal that remembers what was ever on it, and says when something is."""

    def __init__(self) -> None:
        super().__init__()
        self.told = threading.Event()

    def write(self, text: str) -> int:
        self.told.set()
        return super().write(text)

    def isatty(self) -> bool:
        return True


def test_a_long_run_tells_how_far_it_is_and_wipes_it_away() -> None:
    terminal = Terminal()
    with Progress(terminal, patience=0.01) as progress:
        progress.begin(3)
        progress.advance()
        assert terminal.told.wait(60)
    told = terminal.getvalue()
    assert "of 3 parts done" in told
    assert told.endswith("\r\x1b[K")


def test_a_short_run_says_nothing() -> None:
    terminal = Terminal()
    with Progress(terminal, patience=3600) as progress:
        progress.begin(1)
        progress.advance()
    assert terminal.getvalue() == ""


def test_a_terminal_that_is_gone_is_no_error() -> None:
    terminal = Terminal()
    terminal.close()
    with Progress(terminal, patience=0.0) as progress:
        progress.begin(1)


def test_who_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert wants_progress(quiet=False)
    assert not wants_progress(quiet=True)
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_progress(quiet=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not wants_progress(quiet=False)


def test_findings_on_a_terminal_are_those_of_a_pipe(here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    command = [sys.executable, "-m", "jitlint", "check", "--output-format", "concise"]
    piped = subprocess.run(command, cwd=here, capture_output=True, text=True)
    inner, outer = pty.openpty()
    shown = subprocess.run(command, cwd=here, stdout=subprocess.PIPE, stderr=outer, text=True)
    os.close(outer)
    os.close(inner)
    first = piped.stdout.splitlines()[0]
    assert shown.stdout.splitlines()[0] == first
    assert "JIT101" in first


def test_the_last_line_counts_files_and_jitted_functions(run: Run, here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    (here / "b.py").write_text(CLEAN)
    (here / "c.py").write_text("x = 1\n")
    assert "Checked 3 files, 2 jitted functions in " in run("check").out


def test_verbose_says_what_was_not_analysed_and_why(run: Run, here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    (here / "plain.py").write_text("x = 1\n")
    (here / "build").mkdir()
    (here / "build" / "b.py").write_text(BRANCH)
    outcome = run("check", "--verbose")
    assert "skipped build: excluded by the configuration" in outcome.err
    assert "not analysed: 1 file without jax" in outcome.err
