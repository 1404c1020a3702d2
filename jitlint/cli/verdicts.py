"""What verdicts of the dynamic mode mean for what is shown; apart from it, so that other runs need not load it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jitlint.findings import Finding


def refuted(finding: Finding) -> bool:
    """Whether JAX traced through the place without what the finding says."""
    return finding.properties.get("verdict") == "refuted"


def for_people(findings: Iterable[Finding]) -> list[Finding]:
    """The findings as text formats show them: those refuted are left out, those confirmed say so."""
    return [
        replace(finding, message=f"{finding.message} (confirmed by JAX)") if _confirmed(finding) else finding
        for finding in findings
        if not refuted(finding)
    ]


def _confirmed(finding: Finding) -> bool:
    return finding.properties.get("verdict") == "confirmed" and finding.code != "JIT902"
