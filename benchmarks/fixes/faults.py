"""The list of faults: reading it, and which findings count as finding one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("faults.toml")

RELATED = (
    {"JIT101", "JIT102", "JIT103", "JIT113"},
    {"JIT101", "JIT114"},
    {"JIT102", "JIT103", "JIT105", "JIT108"},
    {"JIT103", "JIT104", "JIT105", "JIT106"},
    {"JIT112", "JIT201", "JIT202", "JIT203"},
    {"JIT206", "JIT401", "JIT402"},
    {"JIT205", "JIT302", "JIT307"},
    {"JIT301", "JIT302", "JIT303"},
    {"JIT405", "JIT406"},
)
"""Codes that tell of one fault from different sides: which of them a linter reports is a matter of taste."""


@dataclass(frozen=True)
class Fault:
    """One fault: where it is ``before``, and the commit ``after`` which it is repaired."""

    id: str
    repository: str
    before: str
    after: str
    file: str
    line: int
    kind: str
    why: str
    repair: str
    code: str | None = None
    """The rule that fits best; None where none does, and any finding on the line counts."""
    others: tuple[int, ...] = ()
    """Lines on which a finding is as good."""
    elsewhere: bool = False
    """The evidence is not in the repository, but in a message or an annotation."""

    @property
    def lines(self) -> frozenset[int]:
        """The lines on which a finding counts."""
        return frozenset((self.line, *self.others))

    def is_told_by(self, code: str) -> bool:
        """Does a finding with that code tell of this fault?"""
        return self.code is None or code == self.code or any({self.code, code} <= group for group in RELATED)


@dataclass(frozen=True)
class Lookalike:
    """Code that looks like a fault that was repaired, and is fine: nothing may be reported on its line."""

    id: str
    repository: str
    before: str
    file: str
    line: int
    suggests: str
    why_fine: str


def load(path: Path = LIST) -> tuple[list[Fault], list[Lookalike]]:
    """The faults and the lookalikes of a list; raises TypeError for a field that is missing or not known."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    faults = [Fault(**{**table, "others": tuple(table.get("others", ()))}) for table in tables["fault"]]
    return faults, [Lookalike(**table) for table in tables["lookalike"]]
