"""Source trees out of git directories, and what jitlint finds in them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Findings = Mapping[str, Sequence[Mapping[str, Any]]]
"""Findings as jitlint writes them to JSON, by the path of the file."""


class CheckError(Exception):
    """jitlint did not come to an end, or said something that is no JSON."""


def git_directory(repositories: Path, name: str) -> Path | None:
    """The git directory of ``owner/name``: in a folder of that name, or ``owner+name``, or right below one."""
    for folder in (repositories / name, repositories / name.replace("/", "+")):
        inner = sorted(folder.iterdir()) if folder.is_dir() else []
        for candidate in (folder / ".git", folder, *inner):
            if (candidate / "HEAD").is_file():
                return candidate
    return None


@dataclass
class Trees:
    """What jitlint finds in the Python files of a commit, each asked for once."""

    repositories: Path
    timeout: float
    _found: dict[tuple[str, str], Findings | None] = field(default_factory=dict)

    def findings(self, repository: str, commit: str) -> Findings | None:
        """The findings in a commit, or None where it is not at hand. Raises CheckError."""
        key = (repository, commit)
        if key not in self._found:
            self._found[key] = self._check(repository, commit)
        return self._found[key]

    def lines(self, repository: str, commit: str, file: str) -> list[str]:
        """The lines of a file in a commit; none where there is no such file."""
        git = git_directory(self.repositories, repository)
        shown = _git(git, "show", f"{commit}:{file}") if git is not None else None
        return [] if shown is None else shown.decode(errors="replace").splitlines()

    def _check(self, repository: str, commit: str) -> Findings | None:
        git = git_directory(self.repositories, repository)
        archive = _git(git, "archive", commit, ":(glob)**/*.py") if git is not None else None
        if git is None or archive is None:
            return None
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                for member in tar.getmembers():
                    if member.isfile():
                        tar.extract(member, folder, filter="data")
            settings = _git(git, "show", f"{commit}:pyproject.toml")
            if settings is not None:
                (folder / "pyproject.toml").write_bytes(settings)
            return _jitlint(folder, self.timeout)


def _git(directory: Path, *arguments: str) -> bytes | None:
    """What a git command prints; None where it fails."""
    run = subprocess.run(["git", "--git-dir", str(directory), *arguments], capture_output=True, check=False)
    return None if run.returncode else run.stdout


def _jitlint(folder: Path, timeout: float) -> Findings:
    command = [sys.executable, "-m", "jitlint", "check", "--no-cache", "--output-format", "json", "--exit-zero", "."]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
        found = json.loads(run.stdout or "[]")
    except subprocess.TimeoutExpired:
        raise CheckError(f"not ready after {timeout:.0f} seconds") from None
    except json.JSONDecodeError:
        raise CheckError(f"no JSON (exit code {run.returncode}): {run.stderr[-200:].strip()}") from None
    by_file: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for finding in found:
        path = Path(finding["filename"])
        by_file[(path.relative_to(folder) if path.is_absolute() else path).as_posix()].append(finding)
    return by_file
