"""The files of a git revision, laid into a folder so that they can be analysed beside the present ones."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

SUFFIXES = frozenset({".py", ".pyi", ".ipynb"})
CONFIG_NAMES = frozenset({"pyproject.toml", "jitlint.toml", ".jitlint.toml", ".gitignore"})


class RevisionError(Exception):
    """Git is not there, this is no repository, or the revision does not exist."""


def repository_root(folder: Path) -> Path:
    """The top folder of the repository that ``folder`` lies in. Raises RevisionError."""
    return Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel")).removesuffix("\n"))


def lay_out(repository: Path, revision: str, destination: Path) -> None:
    """Write the Python files that ``revision`` had into ``destination``, with the *present* configuration.

    The configuration is the present one because a change of it introduces no fault. Raises RevisionError.
    """
    commit = _commit(repository, revision)
    names = [name for name in _names(repository, commit) if PurePosixPath(name).suffix in SUFFIXES]
    for name, content in zip(names, _contents(repository, commit, names), strict=True):
        target = destination / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for name in _fields(_git(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard")):
        present = repository / name
        if PurePosixPath(name).name in CONFIG_NAMES and present.is_file():
            target = destination / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(present.read_bytes())


def renamed_since(repository: Path, revision: str) -> dict[str, str]:
    """Of the files moved since ``revision``: the path now, by the path then. Raises RevisionError."""
    commit = _commit(repository, revision)
    fields = iter(_fields(_git(repository, "diff", "--name-status", "-z", "-M", commit, "--")))
    moved = {}
    for status in fields:
        if status.startswith("R"):
            old = next(fields)
            moved[old] = next(fields)
        else:
            next(fields)
    return moved


def _commit(repository: Path, revision: str) -> str:
    try:
        found = _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except RevisionError:
        raise RevisionError(f"no such revision: {revision}; a shallow clone may lack it") from None
    return found.decode().strip()


def _fields(output: bytes) -> list[str]:
    """The fields of ``-z`` output."""
    return [os.fsdecode(field) for field in output.split(b"\0") if field]


def _names(repository: Path, commit: str) -> Iterator[str]:
    for record in _fields(_git(repository, "ls-tree", "-r", "-z", "--full-tree", commit)):
        meta, _, name = record.partition("\t")
        if meta.startswith("100"):
            yield name


def _contents(repository: Path, commit: str, names: list[str]) -> Iterator[bytes]:
    """What each file held, read from one git process."""
    if not names:
        return
    if any("\n" in name for name in names):
        raise RevisionError("a file name with a line break cannot be compared")
    request = os.fsencode("".join(f"{commit}:{name}\n" for name in names))
    output = _git(repository, "cat-file", "--batch", stdin=request)
    position = 0
    for _ in names:
        end = output.index(b"\n", position)
        size = int(output[position:end].rsplit(b" ", 1)[1])
        yield output[end + 1 : end + 1 + size]
        position = end + 1 + size + 1


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    try:
        run = subprocess.run(["git", "-C", str(folder), *arguments], input=stdin, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise RevisionError("--diff-base needs git, which is not installed") from error
    if run.returncode != 0:
        said = run.stderr.decode(errors="replace").strip()
        raise RevisionError(said or f"git {arguments[0]} failed")
    return run.stdout
