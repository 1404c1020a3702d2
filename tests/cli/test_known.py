"""Adoption: baselines and earlier revisions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, BROKEN, CLEAN, FLAG

FILE = "jitlint-baseline.txt"


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def adopted(run: Run, here: Path) -> Path:
    """A project with one known finding in a.py."""
    (here / "a.py").write_text(BRANCH)
    outcome = run("check", "--write-baseline")
    assert outcome.code == 0
    assert f"Wrote 1 known finding to {FILE}" in outcome.err
    return here


def test_what_is_known_is_silent(run: Run, adopted: Path) -> None:
    assert run("check").code == 1
    assert run("check", "--baseline", FILE).code == 0


def test_moved_lines_stay_known(run: Run, adopted: Path) -> None:
    (adopted / "a.py").write_text("# new\n\n" + BRANCH)
    assert run("check", "--baseline", FILE).code == 0


def test_a_second_one_is_new(run: Run, adopted: Path) -> None:
    (adopted / "b.py").write_text(BRANCH)
    outcome = run("check", "--baseline", FILE, "--output-format", "concise")
    assert outcome.code == 1
    assert "b.py:6:8" in outcome.out
    assert "a.py:6:8" not in outcome.out


def test_it_shrinks_by_itself(run: Run, adopted: Path) -> None:
    (adopted / "a.py").write_text(CLEAN)
    outcome = run("check", "--baseline", FILE)
    assert outcome.code == 0
    assert "1 known finding is gone" in outcome.err
    (adopted / "a.py").write_text(BRANCH)
    assert run("check", "--baseline", FILE).code == 1


@pytest.mark.parametrize("arguments", [["--select", "JIT9"], ["b.py"], ["--min-severity", "error"], ["--diff"]])
def test_it_does_not_shrink_by_what_was_not_looked_for(arguments: list[str], run: Run, adopted: Path) -> None:
    (adopted / "b.py").write_text(CLEAN)
    (adopted / "a.py").write_text(CLEAN)
    before = (adopted / FILE).read_text()
    assert run("check", "--baseline", FILE, *arguments).code == 0
    assert (adopted / FILE).read_text() == before


def test_it_can_be_written_from_below_and_in_the_configuration(run: Run, here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "a.py").write_text(BRANCH)
    (here / "jitlint.toml").write_text('baseline = "sub/known.txt"\n')
    assert run("check", "--write-baseline").code == 0
    assert "a.py::f JIT101" in (here / "sub" / "known.txt").read_text()
    assert run("check").code == 0
    assert run("check", "--no-baseline").code == 1


def test_writing_again_keeps_what_was_not_judged(run: Run, adopted: Path) -> None:
    (adopted / "b.py").write_text(FLAG)
    assert run("check", "--write-baseline", "b.py").code == 0
    assert run("check", "--baseline", FILE).code == 0


def test_a_file_that_cannot_be_read_is_never_known(run: Run, here: Path) -> None:
    (here / "bad.py").write_text(BROKEN)
    assert run("check", "--write-baseline").code == 0
    assert run("check", "--baseline", FILE).code == 1


def test_only_new_findings_are_repaired(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    assert run("check", "--write-baseline").code == 0
    (here / "b.py").write_text(FLAG)
    assert run("check", "--fix", "--baseline", FILE).code == 0
    assert (here / "a.py").read_text() == FLAG
    assert (here / "b.py").read_text() != FLAG


@pytest.fixture
def repository(here: Path) -> Path:
    """A repository whose only commit has a finding in old.py."""
    git(here, "init", "-q")
    (here / "old.py").write_text(BRANCH)
    git(here, "add", "-A")
    git(here, "commit", "-qm", "one")
    return here


def test_only_what_a_change_introduced_is_reported(run: Run, repository: Path) -> None:
    (repository / "old.py").write_text("# comment\n" + BRANCH)
    assert run("check", "--diff-base", "HEAD").code == 0
    (repository / "new.py").write_text(BRANCH)
    outcome = run("check", "--diff-base", "HEAD", "--output-format", "concise")
    assert outcome.code == 1
    assert outcome.out.startswith("new.py:6:8: JIT101")
    assert "old.py" not in outcome.out


def test_a_renamed_file_introduces_nothing(run: Run, repository: Path) -> None:
    git(repository, "mv", "old.py", "renamed.py")
    assert run("check", "--diff-base", "HEAD").code == 0


def test_it_works_from_below_and_for_single_files(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sub = repository / "sub"
    sub.mkdir()
    (sub / "a.py").write_text(BRANCH)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "two")
    monkeypatch.chdir(sub)
    assert run("check", "--diff-base", "HEAD").code == 0
    assert run("check", "--diff-base", "HEAD", sub / "a.py").code == 0
    assert run("check", "--diff-base", "HEAD~1").code == 1


def test_a_rule_that_is_turned_on_today_was_on_then(run: Run, repository: Path) -> None:
    (repository / "jitlint.toml").write_text('ignore = ["JIT101"]\n')
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "two")
    (repository / "jitlint.toml").write_text("")
    assert run("check", "--diff-base", "HEAD").code == 0


def test_an_unknown_revision_is_refused(run: Run, repository: Path) -> None:
    outcome = run("check", "--diff-base", "nowhere")
    assert outcome.code == 2
    assert "no such revision: nowhere" in outcome.err
