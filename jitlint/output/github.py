"""``github``: annotations of GitHub Actions, and the summary page of the job step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jitlint.findings import Finding, Severity
from jitlint.output.context import Context
from jitlint.output.places import count, headline, location

LIMIT = 10
"""GitHub shows so many annotations of each level of a step, and drops the others without a word."""

SUMMARY_LIMIT = 1_000_000
"""Bytes; GitHub refuses a summary of more than 1 MiB."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(findings: Sequence[Finding], context: Context) -> str:
    """Workflow commands, the worst findings first, since only the first ones become annotations.

    Where some cannot be shown, a notice says how many.
    """
    lines = [_command(finding, context) for finding in _worst_first(findings)]
    hidden = _hidden(findings)
    if hidden:
        text = f"{count(hidden, 'finding')} in the log only: GitHub shows {LIMIT} annotations of each level in a step"
        lines.insert(0, f"::notice title=jitlint::{_data(text)}")
    return "".join(f"{line}\n" for line in lines)


def step_summary(findings: Sequence[Finding], context: Context) -> str:
    """All findings as a Markdown table, cut at what GitHub takes."""
    if not findings:
        return "### jitlint\n\nNo findings.\n"
    head = f"### jitlint\n\n{count(len(findings), 'finding')}\n\n| place | rule | what happens |\n| --- | --- | --- |\n"
    rows: list[str] = []
    size = len(head)
    worst_first = _worst_first(findings)
    for finding in worst_first:
        rule = f"[{finding.code}]({finding.url})" if finding.url else finding.code
        row = f"| `{_cell(location(finding))}` | {rule} {finding.name} | {_cell(headline(finding))} |\n"
        size += len(row.encode())
        if size > SUMMARY_LIMIT:
            rows.append(f"\n… and {len(worst_first) - len(rows)} more.\n")
            break
        rows.append(row)
    return head + "".join(rows)


def append_step_summary(path: Path, findings: Sequence[Finding], context: Context) -> None:
    """Add the summary to the file that ``GITHUB_STEP_SUMMARY`` names. Raises OSError if it cannot be written."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(step_summary(findings, context))


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: -finding.severity.rank)


def _hidden(findings: Sequence[Finding]) -> int:
    """How many findings GitHub will not show; the notice that says so takes the place of one of its level."""
    numbers = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    hidden = sum(max(0, number - LIMIT) for number in numbers.values())
    return hidden + 1 if hidden and numbers[Severity.INFO] >= LIMIT else hidden


def _command(finding: Finding, context: Context) -> str:
    span = finding.span
    properties = {"title": f"jitlint ({finding.code})", "file": context.path_from_root(finding.filename)}
    if finding.cell is None:
        properties["line"] = str(span.row)
        properties["endLine"] = str(span.end_row)
        if span.row == span.end_row:
            # Columns are taken only where both ends are on one line.
            properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    lines = [f"{location(finding)}: {finding.code} {headline(finding)}"]
    lines += [f"  {step.filename}:{step.row}: {step.what}" for step in finding.trace]
    if finding.help:
        lines.append(f"  help: {finding.help}")
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS[finding.severity]} {listed}::{_data(chr(10).join(lines))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
