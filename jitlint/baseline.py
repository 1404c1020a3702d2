"""Baselines: the findings a project already has, so that only new ones are reported.

A finding is known by its file, the function it lies in, its code and a hash of its line without spacing, never by a
row: text moved within a function or a file stays known. The file has one entry a line, sorted, so that two branches
merge like any text::

    src/train.py::Trainer.step JIT101 3f2a9c1b4d5e 2

which says: two such findings are known.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from jitlint.findings import Finding
from jitlint.fix.files import write_atomic

_HEADER = "# Findings that jitlint knows of. Made by `jitlint check --write-baseline`; it shrinks by itself."


class BaselineError(Exception):
    """A baseline that cannot be read; the message says where and what to do."""


@dataclass(frozen=True, order=True, slots=True)
class Entry:
    """What identifies a finding across edits."""

    file: str
    qualname: str
    code: str
    line_hash: str


def line_hash(line: str) -> str:
    """A short hash of a line of code that does not see its spacing."""
    return hashlib.sha256("".join(line.split()).encode()).hexdigest()[:12]


class Fingerprints:
    """Makes entries. ``line_of`` gives the text of a finding's first row; paths are relative to ``root``."""

    def __init__(self, line_of: Callable[[Finding], str], root: Path) -> None:
        self._line_of = line_of
        self._root = root.resolve()

    def entry(self, finding: Finding) -> Entry:
        """The entry of ``finding``."""
        path = Path(finding.filename).resolve()
        file = path.relative_to(self._root) if path.is_relative_to(self._root) else PurePath(finding.filename)
        return Entry(file.as_posix(), finding.qualname, finding.code, line_hash(self._line_of(finding)))

    def count(self, findings: Iterable[Finding]) -> Counter[Entry]:
        """How many findings each entry stands for."""
        return Counter(self.entry(finding) for finding in findings)


def subtract(
    findings: Sequence[Finding], known: Counter[Entry], fingerprints: Fingerprints
) -> tuple[list[Finding], Counter[Entry]]:
    """The findings that are not known, in order, and the entries that were used, with their counts."""
    used: Counter[Entry] = Counter()
    new = []
    for finding in findings:
        entry = fingerprints.entry(finding)
        if used[entry] < known[entry]:
            used[entry] += 1
        else:
            new.append(finding)
    return new, +used


def read(path: Path) -> Counter[Entry]:
    """The entries of a baseline file. Raises BaselineError where it is missing or damaged."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror}; `--write-baseline` makes one") from error
    except UnicodeDecodeError as error:
        raise BaselineError(f"{path}: not UTF-8; is it a baseline?") from error
    known: Counter[Entry] = Counter()
    for row, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            place, code, hashed, count = line.rsplit(" ", 3)
            file, separator, qualname = place.rpartition("::")
            if not separator:
                raise ValueError
            known[Entry(file, qualname, code, hashed)] += int(count)
        except ValueError:
            raise BaselineError(
                f"{path}:{row}: not a baseline entry: {line!r}; resolve a merge by keeping both sides, "
                "or make it anew with `--write-baseline`"
            ) from None
    return known


def write(path: Path, known: Counter[Entry]) -> None:
    """Write a baseline file whole or not at all. Raises OSError."""
    lines = [
        f"{entry.file}::{entry.qualname} {entry.code} {entry.line_hash} {count}"
        for entry, count in sorted((+known).items())
    ]
    write_atomic(path, "\n".join([_HEADER, *lines, ""]))


def shrunk(
    known: Counter[Entry], used: Counter[Entry], *, checked_files: frozenset[str], codes: frozenset[str], root: Path
) -> Counter[Entry]:
    """``known`` without what is repaired: what this run could have found again and did not, and files that are gone.

    Only entries of ``checked_files`` (relative to ``root``) with a code that was on can be judged.
    """
    rest: Counter[Entry] = Counter()
    for entry, count in known.items():
        judged = entry.file in checked_files and entry.code in codes
        if judged:
            rest[entry] = min(count, used[entry])
        elif (root / entry.file).exists():
            rest[entry] = count
    return +rest
