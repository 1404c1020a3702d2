"""Figures out of labelled findings: precision with Wilson's interval, by rule and severity, and of a random sample."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.ecosystem.checks import Outcome
from benchmarks.ecosystem.packages import Package
from benchmarks.ecosystem.record import Recorded

SEED = 10
SAMPLE = 100


def wilson(right: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval for a share, of 95 % unless told; from 0 to 1 where nothing was counted."""
    if of == 0:
        return 0.0, 1.0
    share, square = right / of, z * z / of
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(share * (1 - share) / of + square / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Share:
    """How many findings have which label; ``meant`` are those of the true ones that their authors want so."""

    true: int
    meant: int
    false: int
    undecided: int

    @classmethod
    def of(cls, findings: Iterable[Recorded]) -> Share:
        """Of some findings, each counted once; those without a label are left out."""
        some = list(findings)
        true, false, undecided = (sum(each.label == label for each in some) for label in ("true", "false", "undecided"))
        return cls(true, sum(each.meant for each in some), false, undecided)

    @property
    def precision(self) -> float | None:
        """The share of the true ones among those that were decided; None where none was."""
        decided = self.true + self.false
        return self.true / decided if decided else None

    def row(self, name: str) -> str:
        """A row of a table in Markdown, with Wilson's interval, and with the precision if what is meant is no fault."""
        decided = self.true + self.false
        cells = [str(count) for count in (self.true, self.meant, self.false, self.undecided)]
        if decided:
            low, high = wilson(self.true, decided)
            cells += [f"{self.true / decided:.2f} ({low:.2f} to {high:.2f})"]
            cells += [f"{(self.true - self.meant) / decided:.2f}"]
        else:
            cells += ["-", "-"]
        return f"| {' | '.join([name, *cells])} |"


def _table(title: str, rows: Iterable[str]) -> str:
    head = f"| {title} | true | of these meant | false | undecided | precision | if meant is false |"
    return "\n".join([head, "|---|--:|--:|--:|--:|--:|--:|", *rows])


def _each(findings: Iterable[Recorded]) -> list[Recorded]:
    """Every finding as often as it was found."""
    return [finding for finding in findings for _ in range(finding.times)]


def by_rule(findings: Sequence[Recorded]) -> str:
    """A table of the labels by rule and severity."""
    groups: dict[tuple[str, str], list[Recorded]] = {}
    for finding in _each(findings):
        groups.setdefault((finding.key.rule, finding.severity), []).append(finding)
    return _table("rule", (Share.of(groups[group]).row(" ".join(group)) for group in sorted(groups)))


def by_severity(findings: Sequence[Recorded]) -> str:
    """A table of the labels by severity."""
    some = _each(findings)
    rows = (Share.of(f for f in some if f.severity == name).row(name) for name in ("error", "warning", "info"))
    return _table("severity", rows)


def sample(findings: Iterable[Recorded], size: int = SAMPLE, seed: int = SEED) -> list[Recorded]:
    """``size`` warnings drawn at random, always the same for the same findings; all where there are no more."""
    warnings = sorted((finding for finding in findings if finding.severity == "warning"), key=lambda each: each.key)
    single = _each(warnings)
    return single if len(single) <= size else random.Random(seed).sample(single, size)


def of_sample(findings: Sequence[Recorded]) -> str:
    """A table of the labels of the sample."""
    drawn = sample(findings)
    warnings = sum(finding.times for finding in findings if finding.severity == "warning")
    name = f"{len(drawn)} of {warnings} warnings, at random" if len(drawn) < warnings else f"all {warnings} warnings"
    return _table("sample", [Share.of(drawn).row(name)])


def packages_table(outcomes: Mapping[str, Outcome], packages: Mapping[str, Package]) -> str:
    """A row for each package: its size, what was found, and what it took."""
    rows = ["| package | files | lines | jit sites | findings | seconds | peak MB |", "|---|--:|--:|--:|---|--:|--:|"]
    for name, outcome in sorted(outcomes.items()):
        codes = sorted({finding["code"] for finding in outcome.findings})
        counted = ", ".join(f"{code} {sum(f['code'] == code for f in outcome.findings)}" for code in codes)
        rows.append(
            f"| {name} {packages[name].version} | {outcome.files} | {outcome.lines:,} | {outcome.jit_sites} |"
            f" {counted or '-'} | {outcome.cpu:.0f} | {outcome.memory:.0f} |"
        )
    total = [sum(getattr(outcome, field) for outcome in outcomes.values()) for field in ("files", "lines", "jit_sites")]
    found = sum(len(outcome.findings) for outcome in outcomes.values())
    cpu = sum(outcome.cpu for outcome in outcomes.values())
    memory = max((outcome.memory for outcome in outcomes.values()), default=0.0)
    rows.append(f"| all | {total[0]} | {total[1]:,} | {total[2]} | {found} | {cpu:.0f} | {memory:.0f} |")
    return "\n".join(rows)
