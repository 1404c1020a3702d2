"""A fault of jitlint itself loses nothing and shows no traceback."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from jitlint import semantics
from jitlint.api import Rule
from jitlint.project.config import Config
from jitlint.project.model import JaxTarget, Project
from jitlint.semantics.driver import Analysis
from tests.cli.conftest import Run
from tests.cli.programs import BRANCH


@pytest.fixture
def faulty(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine that fails on every module that says so, and two files, one of which does."""
    engine = semantics.run

    def run(project: Project, config: Config, rules: Sequence[Rule], *, target: JaxTarget) -> Analysis:
        if any("fail here" in module.text for module in project.modules):
            raise RuntimeError("something unforeseen\nwith details")
        return engine(project, config, rules, target=target)

    monkeypatch.setattr(semantics, "run", run)
    (here / "a.py").write_text(BRANCH)
    (here / "b.py").write_text("# fail here\nimport a\n" + BRANCH)
    return here


def test_the_other_files_are_still_checked(run: Run, faulty: Path) -> None:
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 2
    assert "a.py:6:8: JIT101" in outcome.out
    assert "jitlint failed on b.py: RuntimeError: something unforeseen\n" in outcome.err
    assert "please report" in outcome.err


def test_one_fault_in_many_files_is_told_once(run: Run, faulty: Path) -> None:
    (faulty / "c.py").write_text("# fail here\nimport jax\n")
    outcome = run("check", "b.py", "c.py")
    assert outcome.err.count("something unforeseen") == 1
    assert "b.py and 1 more" in outcome.err
    assert "passed" not in outcome.out


def test_exit_zero_does_not_hide_it(run: Run, faulty: Path) -> None:
    assert run("check", "--exit-zero").code == 2


def test_no_comment_is_called_idle_then(run: Run, faulty: Path) -> None:
    (faulty / "c.py").write_text("import jax  # jitlint: ignore[JIT101]\n")
    assert "JIT901" not in run("check").out


def test_no_baseline_is_written_then(run: Run, faulty: Path) -> None:
    assert run("check", "--write-baseline").code == 2
    assert not (faulty / "jitlint-baseline.txt").exists()


def test_what_nothing_catches_is_still_no_traceback(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(options: object) -> int:
        raise AssertionError("never")

    monkeypatch.setattr("jitlint.cli.session.run_check", broken)
    outcome = run("check")
    assert outcome.code == 2
    assert "AssertionError: never" in outcome.err
    assert "JITLINT_DEBUG" in outcome.err
