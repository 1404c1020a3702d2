"""``gitlab``: a Code Quality report for GitLab."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jitlint.findings import Finding, Severity
from jitlint.output.context import Context
from jitlint.output.fingerprint import fingerprints
from jitlint.output.places import file_message

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """One array of all findings."""
    names = fingerprints(findings, context)
    issues = [_issue(finding, name, context) for finding, name in zip(findings, names, strict=True)]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _issue(finding: Finding, fingerprint: str, context: Context) -> dict[str, object]:
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {file_message(finding)}",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": context.path_from_root(finding.filename), "positions": _positions(finding)},
    }


def _positions(finding: Finding) -> dict[str, object]:
    span = finding.span
    if finding.cell is not None:
        return {"begin": {"line": 1, "column": 1}, "end": {"line": 1, "column": 1}}
    return {
        "begin": {"line": span.row, "column": span.column},
        "end": {"line": span.end_row, "column": span.end_column},
    }
