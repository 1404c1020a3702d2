"""Programs for the tests of the dynamic mode: written to a folder, loaded as a project, put to the trial."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jitlint.dynamic.confirm import Options, Summary, confirm
from jitlint.dynamic.protocol import ModuleRun
from jitlint.dynamic.run import Limits, ModuleRequest, run_module
from jitlint.findings import Certainty, Finding, Severity, Span, Step
from jitlint.project.config import Config
from jitlint.project.model import Project
from jitlint.project.modules import load_project

OLD_JAX = os.environ.get("JITLINT_OLD_JAX_PYTHON")
"""A Python with jax 0.4.38, for the tests that also run there."""

PYTHONS = [
    pytest.param(Path(sys.executable), id="this-jax"),
    pytest.param(
        Path(OLD_JAX or "."),
        id="old-jax",
        marks=[pytest.mark.slow, pytest.mark.skipif(not OLD_JAX, reason="JITLINT_OLD_JAX_PYTHON names no Python")],
    ),
]

PATIENT = Limits(seconds=120)


def write(folder: Path, **files: str) -> Path:
    """Write ``name.py`` for each name, dedented; returns the folder."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


def load(folder: Path) -> Project:
    """The folder as a project."""
    return load_project([folder], Config())


def module(folder: Path, name: str = "program", **more: Any) -> ModuleRequest:
    """A request to import one file of a folder."""
    path = folder / f"{name}.py"
    return ModuleRequest(name, str(path), path.read_text(encoding="utf-8"), (str(folder),), **more)


def run(folder: Path, python: Path | None = None, limits: Limits = PATIENT, **more: Any) -> ModuleRun:
    """What a worker sees of ``program.py`` of a folder."""
    return run_module(module(folder, **more), python, limits)


def claim(
    project: Project, code: str, marked: str, *, filename: str = "program.py", steps: Sequence[str] = ()
) -> Finding:
    """A finding on the text ``marked``, which must be unique in its file; ``steps`` are texts of its trace."""
    source = next(m for m in project.modules if m.path.name == filename)

    def place(text: str) -> Span:
        assert source.text.count(text) == 1, f"{text!r} must be in the program once"
        before, _, _ = source.text.partition(text)
        row, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return Span(row, column, row, column + len(text))

    trace = tuple(Step(source.display, place(step).row, "") for step in steps)
    return Finding(code, "claim", "", source.display, place(marked), Severity.ERROR, Certainty.DEFINITE, trace=trace)


def trial(
    folder: Path, *claims: tuple[str, str], options: Options | None = None, steps: Sequence[str] = ()
) -> tuple[dict[str, tuple[str, str]], list[Finding], Summary]:
    """Put claims (code, marked text) on ``program.py`` to the trial: (verdict, reason) by marked text, what else was
    found, and the summary."""
    project = load(folder)
    findings = [claim(project, code, marked, steps=steps) for code, marked in claims]
    out, summary = confirm(findings, project, options or Options(limits=PATIENT))
    judged = {
        marked: (str(found.properties["verdict"]), str(found.properties["verdict_reason"]))
        for (_, marked), found in zip(claims, out, strict=False)
    }
    return judged, list(out[len(findings) :]), summary
