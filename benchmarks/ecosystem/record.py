"""The recorded findings with their labels: reading, writing, and holding a run against them."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

RECORD = Path(__file__).with_name("findings.toml")

Label = Literal["", "true", "false", "undecided"]

_HEAD = """\
# What jitlint says about the packages of packages.toml, with what was made of it by reading the code or running it.
# Written by `python -m benchmarks.ecosystem --record`; `label` (true, false, undecided), `meant` and `reason` are by
# hand. true: JAX does what the message says. meant: it does, and the authors want it so.
"""


@dataclass(frozen=True, order=True)
class Key:
    """What a finding is recognised by, also after lines were added above it."""

    package: str
    path: str
    rule: str
    function: str
    text: str
    """Of the line where it starts."""


@dataclass(frozen=True)
class Recorded:
    """A finding of the record; ``times`` is how many with the same key there are."""

    key: Key
    severity: str
    message: str
    label: Label = ""
    reason: str = ""
    meant: bool = False
    """It is true, and the authors want it so: they would have to silence it."""
    times: int = 1

    def __post_init__(self) -> None:
        if self.label not in get_args(Label):
            raise ValueError(f"{self.key}: label is true, false or undecided, not {self.label!r}")
        if self.label and not self.reason:
            raise ValueError(f"{self.key}: a label needs a reason")
        if self.meant and self.label != "true":
            raise ValueError(f"{self.key}: only what is true can be meant")

    @property
    def wants_label(self) -> bool:
        """Is a label owed and missing? Those of severity info may go without."""
        return not self.label and self.severity != "info"


@dataclass(frozen=True)
class Comparison:
    """A run, held against the record: findings that are new, gone, or of another severity."""

    new: Sequence[Recorded]
    gone: Sequence[Recorded]
    changed: Sequence[tuple[Recorded, Recorded]]
    current: Sequence[Recorded]
    """All of the run, with the labels that the record has for them."""

    @property
    def unlabelled(self) -> list[Recorded]:
        """Those of the run that a label is owed for."""
        return [finding for finding in self.current if finding.wants_label]


def from_run(package: str, findings: Iterable[Mapping[str, Any]]) -> list[Recorded]:
    """The findings of a run of jitlint (see ``checks.Outcome``) as they would be recorded, without labels."""
    by_key: dict[Key, Recorded] = {}
    for each in findings:
        key = Key(package, each["filename"], each["code"], each["function"] or "", each["text"])
        known = by_key.get(key)
        if known is None:
            by_key[key] = Recorded(key, each["severity"], each["message"])
        else:
            by_key[key] = replace(known, times=known.times + 1)
    return [by_key[key] for key in sorted(by_key)]


def compare(record: Iterable[Recorded], run: Iterable[Recorded], packages: Iterable[str]) -> Comparison:
    """Hold the findings of a run of ``packages`` against the record, of which the rest is left out."""
    of_run = set(packages)
    old = {recorded.key: recorded for recorded in record if recorded.key.package in of_run}
    now = {
        found.key: replace(found, label=known.label, reason=known.reason, meant=known.meant) if (known := old.get(found.key)) else found
        for found in run
    }
    return Comparison(
        new=[found for key, found in now.items() if key not in old],
        gone=[recorded for key, recorded in old.items() if key not in now],
        changed=[(old[key], found) for key, found in now.items() if key in old and _differ(old[key], found)],
        current=list(now.values()),
    )


def _differ(old: Recorded, new: Recorded) -> bool:
    return (old.severity, old.times) != (new.severity, new.times)


def load(path: Path = RECORD) -> list[Recorded]:
    """The findings of a record; raises ValueError for a wrong label, or one without a reason, and for two of one key."""
    found = []
    for table in tomllib.loads(path.read_text(encoding="utf-8")).get("finding", ()):
        key = Key(*(table.pop(name, "") for name in Key.__dataclass_fields__))
        found.append(Recorded(key, **table))
    doubled = [key for key, count in Counter(finding.key for finding in found).items() if count > 1]
    if doubled:
        raise ValueError(f"recorded twice: {doubled[0]}")
    return found


def write(findings: Iterable[Recorded], path: Path = RECORD) -> None:
    """Write a record, sorted; what was there is replaced as a whole."""
    parts = [_HEAD]
    for finding in sorted(findings, key=lambda finding: finding.key):
        fields = {**dict(zip(Key.__dataclass_fields__, astuple(finding.key), strict=True))}
        fields |= {"severity": finding.severity, "message": finding.message}
        fields |= {"label": finding.label, "reason": finding.reason}
        rows = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items() if value]
        rows += ["meant = true"] if finding.meant else []
        rows += [f"times = {finding.times}"] if finding.times > 1 else []
        parts.append("\n".join(["[[finding]]", *rows, ""]))
    temporary = path.with_suffix(".new")
    temporary.write_text("\n".join(parts), encoding="utf-8")
    temporary.replace(path)
