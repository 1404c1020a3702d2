"""The files of a revision are laid out as they were, with the configuration of today."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from jitlint import revision


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    git(root, "init", "-q")
    (root / "src" / "a.py").write_text("old = 1\n" * 20)
    (root / "naïve name.py").write_text("x = 1\n")
    (root / "data.bin").write_bytes(b"\0" * 9)
    (root / "pyproject.toml").write_text("old\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "mv", "src/a.py", "src/b.py")
    (root / "new.py").write_text("y = 1\n")
    (root / "naïve name.py").unlink()
    (root / "pyproject.toml").write_text("new\n")
    git(root, "add", "new.py")
    return root


def laid_out(repository: Path, rev: str, destination: Path) -> dict[str, str]:
    revision.lay_out(repository, rev, destination)
    return {p.relative_to(destination).as_posix(): p.read_text() for p in destination.rglob("*") if p.is_file()}


def test_python_files_are_old_and_configuration_is_new(repository: Path, tmp_path: Path) -> None:
    assert laid_out(repository, "HEAD", tmp_path / "out") == {
        "src/a.py": "old = 1\n" * 20,
        "naïve name.py": "x = 1\n",
        "pyproject.toml": "new\n",
    }


def test_moves_are_known(repository: Path) -> None:
    assert revision.renamed_since(repository, "HEAD") == {"src/a.py": "src/b.py"}


def test_the_root_is_found_from_below(repository: Path) -> None:
    assert revision.repository_root(repository / "src") == repository.resolve()


@pytest.mark.parametrize("rev", ["nowhere", "--all", "HEAD:src", ""])
def test_what_is_no_revision_is_refused(rev: str, repository: Path, tmp_path: Path) -> None:
    with pytest.raises(revision.RevisionError, match="no such revision"):
        revision.lay_out(repository, rev, tmp_path / "out")
    with pytest.raises(revision.RevisionError, match="no such revision"):
        revision.renamed_since(repository, rev)


def test_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(revision.RevisionError, match="not a git repository"):
        revision.repository_root(tmp_path)


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(revision.RevisionError, match="needs git"):
        revision.repository_root(repository)
