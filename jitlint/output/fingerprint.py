"""Names for findings that stay the same while lines move, for services that compare one run with the next."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from jitlint.findings import Finding
from jitlint.output.context import Context
from jitlint.output.places import source_key


def fingerprints(findings: Sequence[Finding], context: Context) -> list[str]:
    """One name a finding, each once: from rule, file, source line without its spacing, and which of several it is.

    Services drop a finding whose name another one has, so the ordinal is part of it.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    names = []
    for finding in findings:
        key = (finding.code, context.path_from_root(finding.filename), _line(finding, context))
        seen[key] += 1
        names.append(hashlib.sha256("\0".join([*key, str(seen[key])]).encode()).hexdigest()[:32])
    return names


def _line(finding: Finding, context: Context) -> str:
    lines = context.lines(source_key(finding.filename, finding.cell))
    if lines is None:
        return f"{finding.qualname}: {finding.message}"
    return " ".join(lines.row(finding.span.row).split())
