"""Runs programs with and without the recorder, for the tests of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jitlint.recorder.launch import environment
from jitlint.recorder.record import Record, load_record

PROGRAMS = Path(__file__).parent.parent / "fixtures" / "recorder"

OLD_JAX = os.environ.get("JITLINT_OLD_JAX_PYTHON")
"""A Python with jax 0.4.38, flax, equinox and optax, for the tests that also run there."""

PYTHONS = [
    pytest.param(sys.executable, id="this-jax"),
    pytest.param(
        OLD_JAX or "",
        id="old-jax",
        marks=[pytest.mark.slow, pytest.mark.skipif(not OLD_JAX, reason="JITLINT_OLD_JAX_PYTHON names no Python")],
    ),
]
"""To run a test in this environment, and in the old one where there is one."""


@dataclass(frozen=True)
class Ran:
    """What became of a program."""

    code: int
    out: str
    err: str


def plain_environment(**more: str) -> dict[str, str]:
    """The environment for programs: the CPU, and nothing of this checkout to be imported by accident."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "JITLINT_TRACE_DIR")}
    return {**kept, "JAX_PLATFORMS": "cpu", **more}


def run(command: list[str], cwd: Path, env: dict[str, str]) -> Ran:
    """Run a command to its end."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def run_plain(python: str, *args: str, cwd: Path, **more: str) -> Ran:
    """Run a Python program without the recorder."""
    return run([python, *args], cwd, plain_environment(**more))


def run_recorded(python: str, *args: str, cwd: Path, folder: Path, **more: str) -> Ran:
    """Run a Python program with the recorder, as ``jitlint trace`` does."""
    folder.mkdir(exist_ok=True)
    recorded = environment(folder)
    return run(
        [python, *args],
        cwd,
        plain_environment(**more)
        | {k: recorded[k] for k in ("JITLINT_TRACE_DIR",)}
        | {
            "PYTHONPATH": os.pathsep.join(
                [recorded["PYTHONPATH"].split(os.pathsep)[0], *filter(None, [more.get("PYTHONPATH")])]
            )
        },
    )


def record_program(text: str, tmp_path: Path, python: str = sys.executable, **more: str) -> tuple[Ran, Record]:
    """Run a program given as text under the recorder, and read the record. It must not raise."""
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    ran = run_recorded(python, str(program), cwd=tmp_path, folder=tmp_path / "record", **more)
    assert ran.code == 0, ran.err
    record = load_record(tmp_path / "record")
    assert record.faults == []
    return ran, record


def events(folder: Path) -> list[dict[str, Any]]:
    """Every event of a record, as written."""
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


def causes_of(record: Record, label: str) -> Counter[str]:
    """The titles of the causes that functions of this label were traced or compiled for."""
    return Counter(
        cause.title for f in record.functions if f.label == label for event in f.events for cause in event.causes
    )
