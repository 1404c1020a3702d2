"""Asks jitlint for findings and repairs, through its library interface."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from jitlint.findings import Finding
from tests.judge.fixtures import Fixture
from tests.judge.marks import strip_marks


def known_codes() -> frozenset[str]:
    """The codes of the rules that exist."""
    from jitlint.registry import all_rules

    return frozenset(rule.code for rule in all_rules())


def findings(paths: Iterable[Path], select: Iterable[str] = ("ALL",)) -> list[Finding]:
    """What jitlint finds in files and folders, of the codes selected; skips the test while jitlint has no checker."""
    check = pytest.importorskip("jitlint.check")
    raise NotImplementedError(check)


def fixed_texts(fixture: Fixture, unsafe: bool) -> dict[str, str]:
    """The texts of the fixture's files, by path relative to its folder, after its own rule's fixes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        copy_without_marks(fixture, folder)
        raise NotImplementedError(unsafe)


def copy_without_marks(fixture: Fixture, folder: Path) -> None:
    """Copy the fixture's files into a folder, without the marks, which a user's file does not have."""
    if fixture.path.is_dir():
        shutil.copytree(fixture.path, folder, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        folder.mkdir(parents=True)
        shutil.copy(fixture.path, folder)
    for path in folder.rglob("*.py"):
        path.write_text(strip_marks(path.read_text(encoding="utf-8")), encoding="utf-8")
