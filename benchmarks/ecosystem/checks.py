"""Runs jitlint on a folder, in a process of its own, and says what it found and what it took."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

MAX_SECONDS = 3600
"""After so long a run is taken to hang."""


class CheckError(Exception):
    """jitlint did not come to an end, or failed."""


@dataclass(frozen=True)
class Outcome:
    """What a run of jitlint on one folder came to. ``findings`` are as jitlint writes them to JSON, with the path of
    the file below the folder, and with the ``text`` of their first line."""

    files: int
    lines: int
    jit_sites: int
    findings: Sequence[Mapping[str, Any]]
    cpu: float
    """Seconds of processor time, of all processes."""
    memory: float
    """Megabytes of the largest process."""


def check(folder: Path, jobs: int = 1, options: Sequence[str] = (), seconds: float = MAX_SECONDS) -> Outcome:
    """All rules over all files below ``folder``, with no configuration. Raises CheckError, also for internal errors."""
    with tempfile.TemporaryDirectory() as name:
        findings, counts = Path(name, "findings.json"), Path(name, "counts.txt")
        command = [sys.executable, "-m", "jitlint", "check", ".", "--isolated", "--select", "ALL", "--no-cache"]
        command += ["--exit-zero", "--no-respect-gitignore", f"-j{jobs}", *options]
        command += ["--output-format", "json", "-o", str(findings)]
        command += ["--output-format", "concise", "-o", str(counts)]
        cpu, memory = _run(command, folder, seconds)
        found = json.loads(findings.read_text(encoding="utf-8"))
        files, sites = _counts(counts.read_text(encoding="utf-8"))
    texts = _Texts(folder.resolve())
    lines = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))
    return Outcome(files, lines, sites, [texts.placed(finding) for finding in found], cpu, memory)


def _run(command: Sequence[str], folder: Path, seconds: float) -> tuple[float, float]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said, env=environment)
        alarm = threading.Timer(seconds, process.kill)
        alarm.start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        alarm.cancel()
        said.seek(0)
        errors = said.read().strip()
    if process.returncode < 0:
        raise CheckError(f"stopped by signal {-process.returncode} (more than {seconds:.0f} s, or out of memory)")
    if process.returncode:
        raise CheckError(f"exit code {process.returncode}: {errors[-800:]}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return used.ru_utime + used.ru_stime, used.ru_maxrss / unit


def _counts(text: str) -> tuple[int, int]:
    """The files and the jitted functions that the last line tells of."""
    files = re.search(r"(\d+) files?\b", text)
    sites = re.search(r"(\d+) jitted functions?\b", text)
    return int(files[1]) if files else 0, int(sites[1]) if sites else 0


class _Texts:
    """The lines of the files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines: dict[tuple[str, int | None], list[str]] = {}

    def placed(self, finding: Mapping[str, Any]) -> dict[str, Any]:
        """The finding with the path below the folder, and the text of its first line."""
        path = Path(finding["filename"])
        name = path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else path.as_posix()
        place = (name, finding["cell"])
        if place not in self._lines:
            self._lines[place] = _read(self.folder / name, finding["cell"]).splitlines()
        lines, row = self._lines[place], finding["location"]["row"]
        return {**finding, "filename": name, "text": lines[row - 1].strip() if 0 < row <= len(lines) else ""}


def _read(file: Path, cell: int | None) -> str:
    """The text of a file, or of a cell of a notebook; empty for a file that is not there."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    if cell is None:
        return text
    source = json.loads(text)["cells"][cell - 1]["source"]
    return source if isinstance(source, str) else "".join(source)
