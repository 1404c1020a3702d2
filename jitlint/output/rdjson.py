"""``rdjson``: the Reviewdog Diagnostic Format."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jitlint.findings import Finding, Severity, Span
from jitlint.output.context import Context
from jitlint.output.places import file_message

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """One result with all findings."""
    result = {
        "source": {"name": "jitlint"},
        "severity": "WARNING",
        "diagnostics": [_diagnostic(finding, context) for finding in findings],
    }
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def _diagnostic(finding: Finding, context: Context) -> dict[str, object]:
    location: dict[str, object] = {"path": context.path_from_root(finding.filename)}
    code = {"value": finding.code} | ({"url": finding.url} if finding.url else {})
    diagnostic: dict[str, object] = {
        "message": file_message(finding) + (f"\n{finding.help}" if finding.help else ""),
        "location": location,
        "severity": _SEVERITIES[finding.severity],
        "code": code,
    }
    # A suggestion is of the diagnostic's own file; one that needs edits elsewhere would break it.
    edits = context.file_edits(finding)
    if edits and all(edit.filename == finding.filename for edit in edits):
        diagnostic["suggestions"] = [
            {"range": _range(edit.filename, edit.span, context), "text": edit.text} for edit in edits
        ]
    if finding.cell is not None:
        return diagnostic
    location["range"] = _range(finding.filename, finding.span, context)
    if finding.trace:
        diagnostic["related_locations"] = [
            {
                "message": step.what,
                "location": {
                    "path": context.path_from_root(step.filename),
                    "range": {"start": {"line": step.row, "column": step.column}},
                },
            }
            for step in finding.trace
        ]
    return diagnostic


def _range(filename: str, span: Span, context: Context) -> dict[str, object]:
    """The span with columns in bytes, as this format counts them."""
    lines = context.file_lines(filename)

    def position(row: int, column: int) -> dict[str, int]:
        before = lines.row(row)[: column - 1] if lines is not None else ""
        return {"line": row, "column": column + len(before.encode()) - len(before)}

    return {"start": position(span.row, span.column), "end": position(span.end_row, span.end_column)}
