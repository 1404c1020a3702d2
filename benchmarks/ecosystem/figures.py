"""Figures out of labelled findings: precision with Wilson's interval, by rule and severity, and of a random sample."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.ecosystem.checks import Outcome
from benchmarks.ecosystem.packages import Package
from benchmarks.ecosystem.record import Recorded, label_counts

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
    """How many findings have which label."""

    true: int
    false: int
    undecided: int
    unlabelled: int

    @classmethod
    def of(cls, findings: Iterable[Recorded]) -> Share:
        """Of some findings."""
        counts = label_counts(findings)
        return cls(counts["true"], counts["false"], counts["undecided"], counts["unlabelled"])

    @property
    def precision(self) -> float | None:
        """The share of the true ones among those that were decided; None where none was."""
        decided = self.true + self.false
        return self.true / decided if decided else None

    def row(self, name: str) -> str:
        """A row of a table in Markdown."""
        low, high = wilson(self.true, self.true + self.false)
        precision = "-" if self.precision is None else f"{self.precision:.2f} ({low:.2f} to {high:.2f})"
        return f"| {name} | {self.true} | {self.false} | {self.undecided} | {precision} |"


_SHARES = "| {} | true | false | undecided | precision |\n|---|--:|--:|--:|--:|"


def by_rule(findings: Sequence[Recorded]) -> str:
    """A table of the labels by rule and severity."""
    groups = sorted({(finding.key.rule, finding.severity) for finding in findings})
    rows = [_SHARES.format("rule, severity")]
    for rule, severity in groups:
        some = [finding for finding in findings if (finding.key.rule, finding.severity) == (rule, severity)]
        rows.append(Share.of(some).row(f"{rule} {severity}"))
    return "\n".join(rows)


def by_severity(findings: Sequence[Recorded]) -> str:
    """A table of the labels by severity."""
    rows = [_SHARES.format("severity")]
    for severity in ("error", "warning", "info"):
        rows.append(Share.of(finding for finding in findings if finding.severity == severity).row(severity))
    return "\n".join(rows)


def sample(findings: Iterable[Recorded], size: int = SAMPLE, seed: int = SEED) -> list[Recorded]:
    """``size`` warnings drawn at random, always the same for the same findings; all where there are no more."""
    warnings = sorted((finding for finding in findings if finding.severity == "warning"), key=lambda each: each.key)
    single = [finding for finding in warnings for _ in range(finding.times)]
    return single if len(single) <= size else random.Random(seed).sample(single, size)


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
