"""Asks jitlint for findings and repairs, through the pipeline that its command line uses."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from jitlint.check import Analysis, analyse
from jitlint.findings import Finding
from jitlint.project.config import ConfigResolver
from jitlint.project.modules import load_project
from jitlint.registry import all_rules
from jitlint.repair import repair
from jitlint.settings import Selection
from tests.judge.fixtures import Fixture
from tests.judge.marks import strip_marks


class InternalFaultError(Exception):
    """jitlint itself failed; carries the ends of its tracebacks."""


def known_codes() -> frozenset[str]:
    """The codes of the rules that exist."""
    return frozenset(rule.code for rule in all_rules())


def findings(paths: Iterable[Path], select: tuple[str, ...] | None = ("ALL",)) -> list[Finding]:
    """What jitlint finds in files and folders, of the codes selected (None: by default), with absolute filenames."""
    found = _analysis(list(paths), select, {}).findings
    return [replace(finding, filename=str(Path(finding.filename).absolute())) for finding in found]


def fixed_texts(fixture: Fixture, unsafe: bool = False) -> dict[str, str]:
    """The texts of the fixture's files, by path relative to its folder, after its own rule's fixes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "work"
        copy_without_marks(fixture, folder)
        fix_in_place(folder, unsafe, (fixture.code,))
        return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.py")}


def fix_in_place(folder: Path, unsafe: bool = False, select: tuple[str, ...] = ("ALL",)) -> None:
    """Do what ``jitlint check --fix`` does to the Python files below a folder."""
    files = sorted(folder.rglob("*.py"))
    for name, text in repair(lambda texts: _analysis(files, select, texts), unsafe=unsafe).texts.items():
        Path(name).write_text(text, encoding="utf-8")


def _analysis(paths: list[Path], select: tuple[str, ...] | None, texts: Mapping[str, str]) -> Analysis:
    resolver = ConfigResolver(isolated=True)
    analysis = analyse(load_project(paths, resolver, overlay=texts), resolver, Selection(select=select))
    if analysis.internal_errors:
        told = {error.message: error for error in analysis.internal_errors}
        raise InternalFaultError("\n".join(f"{error.where}: {error.details[-600:]}" for error in told.values()))
    return analysis


def copy_without_marks(fixture: Fixture, folder: Path) -> None:
    """Copy the fixture's files into a folder, without the marks, which a user's file does not have."""
    if fixture.path.is_dir():
        shutil.copytree(fixture.path, folder, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        folder.mkdir(parents=True)
        shutil.copy(fixture.path, folder)
    for path in folder.rglob("*.py"):
        path.write_text(strip_marks(path.read_text(encoding="utf-8")), encoding="utf-8")
