"""A command line that runs in this process, in an empty folder."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from jitlint.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one; no variable of the environment changes what is printed."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "JITLINT_OUTPUT_FORMAT", "GITHUB_STEP_SUMMARY", "CI"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("check", "a.py", stdin="…")`` in the folder ``here``."""

    def run(*arguments: str | Path, stdin: str = "") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        assert "Traceback" not in printed.err
        return Outcome(stop.value.code, printed.out, printed.err)

    return run
