"""``sarif``: SARIF 2.1.0, as GitHub code scanning and other services read it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from jitlint.findings import Applicability, Certainty, Finding, Severity, Span, Step
from jitlint.output.context import Context
from jitlint.output.fingerprint import fingerprints
from jitlint.output.json_format import plain
from jitlint.output.places import file_message, file_row

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """One run, without line breaks: services limit the size of the file."""
    codes = sorted({*context.rules, *(finding.code for finding in findings)})
    driver: dict[str, object] = {"name": "jitlint", "rules": [_rule(code, findings, context) for code in codes]}
    if context.version:
        driver["version"] = context.version
    index = {code: number for number, code in enumerate(codes)}
    names = fingerprints(findings, context)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [
            _result(finding, index[finding.code], name, context) for finding, name in zip(findings, names, strict=True)
        ],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, separators=(",", ":")) + "\n"


def _rule(code: str, findings: Sequence[Finding], context: Context) -> dict[str, object]:
    doc = context.rules.get(code)
    if doc is None:
        finding = next(finding for finding in findings if finding.code == code)
        return {"id": code, "name": finding.name, "shortDescription": {"text": finding.name.replace("-", " ")}}
    rule: dict[str, object] = {
        "id": code,
        "name": doc.name,
        "shortDescription": {"text": doc.summary},
        "fullDescription": {"text": doc.summary},
        "help": {"text": doc.markdown, "markdown": doc.markdown},
        "defaultConfiguration": {"level": _LEVELS[doc.severity]},
        "properties": {"precision": "high", "problem.severity": _PROBLEMS[doc.severity], "tags": ["jax", "jit"]},
    }
    if doc.url:
        rule["helpUri"] = doc.url
    return rule


def _result(finding: Finding, rule_index: int, fingerprint: str, context: Context) -> dict[str, object]:
    text = file_message(finding) + (f"\n{finding.help}" if finding.help else "")
    location: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": _artifact(finding.filename, context),
            "region": _region(finding.span) if finding.cell is None else {"startLine": file_row(finding)},
        }
    }
    if finding.qualname:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.qualname, "kind": "function"}]
    properties: dict[str, object] = {name: plain(value) for name, value in sorted(finding.properties.items())}
    properties["certainty"] = finding.certainty.value
    if finding.cell is not None:
        properties["cell"] = finding.cell
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "properties": properties,
    }
    if finding.certainty is Certainty.POSSIBLE:
        result["rank"] = 50.0
    if finding.trace:
        steps = [_flow_step(step, context) for step in finding.trace]
        end = {"location": {**location, "message": {"text": finding.message}}}
        result["codeFlows"] = [{"threadFlows": [{"locations": [*steps, end]}]}]
    fix = _fix(finding, context)
    if fix is not None:
        result["fixes"] = [fix]
    return result


def _flow_step(step: Step, context: Context) -> dict[str, object]:
    filename, _, cell = step.filename.partition(":cell ")
    return {
        "location": {
            "physicalLocation": {
                "artifactLocation": _artifact(filename, context),
                "region": {"startLine": 1} if cell else {"startLine": step.row, "startColumn": step.column},
            },
            "message": {"text": step.what},
        }
    }


def _fix(finding: Finding, context: Context) -> dict[str, object] | None:
    """The fix as replacements, for a notebook in its JSON: cells are no regions of a file."""
    edits = context.file_edits(finding)
    if finding.fix is None or not edits:
        return None
    changes = [
        {
            "artifactLocation": _artifact(filename, context),
            "replacements": [
                {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in group
            ],
        }
        for filename, group in groupby(edits, key=lambda edit: edit.filename)
    ]
    unsafe = "" if finding.fix.applicability is Applicability.SAFE else " (may change what the program does)"
    return {"description": {"text": finding.fix.message + unsafe}, "artifactChanges": changes}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.row,
        "startColumn": span.column,
        "endLine": span.end_row,
        "endColumn": span.end_column,
    }


def _artifact(filename: str, context: Context) -> dict[str, str]:
    """A URI relative to the root of the repository; an absolute one for a file outside of it."""
    relative = context.relative(filename)
    if relative is None:
        return {"uri": Path(context.absolute(filename)).as_uri()}
    return {"uri": quote(relative), "uriBaseId": _ROOT}
