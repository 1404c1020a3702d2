"""``json`` and ``json-lines``: the field names of Ruff's, with what jitlint knows besides."""

from __future__ import annotations

import json
from collections.abc import Sequence

from jitlint.findings import Finding
from jitlint.output.context import Context
from jitlint.output.places import split_key


def render(findings: Sequence[Finding], context: Context) -> str:
    """One array of all findings."""
    return json.dumps([record(finding, context) for finding in findings], indent=2, ensure_ascii=False) + "\n"


def render_lines(findings: Sequence[Finding], context: Context) -> str:
    """One object a line."""
    return "".join(json.dumps(record(finding, context), ensure_ascii=False) + "\n" for finding in findings)


def record(finding: Finding, context: Context) -> dict[str, object]:
    """One finding as JSON data. Extra properties stand beside the fields, and never replace one."""
    span = finding.span
    fields: dict[str, object] = {
        "cell": finding.cell,
        "certainty": finding.certainty.value,
        "code": finding.code,
        "end_location": _position(span.end_row, span.end_column),
        "filename": context.absolute(finding.filename),
        "fix": _fix(finding, context),
        "function": finding.qualname or None,
        "help": finding.help,
        "location": _position(span.row, span.column),
        "message": finding.message,
        "name": finding.name,
        "severity": finding.severity.value,
        "trace": [
            {"filename": context.absolute(step.filename), "row": step.row, "column": step.column, "what": step.what}
            for step in finding.trace
        ],
        "url": finding.url,
    }
    for name, value in sorted(finding.properties.items()):
        fields.setdefault(name, plain(value))
    return fields


def _fix(finding: Finding, context: Context) -> dict[str, object] | None:
    if finding.fix is None:
        return None
    edits = []
    for edit in context.edits(finding):
        span = edit.span
        data: dict[str, object] = {
            "content": edit.text,
            "location": _position(span.row, span.column),
            "end_location": _position(span.end_row, span.end_column),
        }
        # Ruff's edits are all of the finding's own file and cell; name those where ours are not.
        filename, cell = split_key(edit.filename)
        if filename != finding.filename:
            data["filename"] = context.absolute(filename)
        if cell is not None and (cell != finding.cell or filename != finding.filename):
            data["cell"] = cell
        edits.append(data)
    return {"applicability": finding.fix.applicability.value, "edits": edits, "message": finding.fix.message}


def _position(row: int, column: int) -> dict[str, int]:
    return {"row": row, "column": column}


def plain(value: object) -> object:
    """The value as JSON can carry it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)
