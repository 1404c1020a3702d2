"""The last lines of the formats for people: how many, how many fixable, and what was seen."""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.findings import Finding, Severity
from jitlint.output.colour import Palette
from jitlint.output.context import Context
from jitlint.output.places import count, fix_counts


def tail(findings: Sequence[Finding], context: Context) -> list[str]:
    """``Found 2 errors and 1 warning.``, the fixable ones, and the facts of the run, a line each."""
    palette = Palette(context.colour)
    lines = [_found(findings, context.summary.fixed)]
    safe, unsafe = fix_counts(findings)
    more = f"{unsafe} more with `--unsafe-fixes`"
    if safe:
        note = f" ({more})" if unsafe else ""
        lines.append(f"[{palette.label('*')}] {safe} fixable with `jitlint check --fix`{note}.")
    elif unsafe:
        lines.append(f"No fixes available with `--fix` ({more}).")
    seen = _seen(context)
    return [*lines, palette.dim(seen)] if seen else lines


def _found(findings: Sequence[Finding], fixed: int) -> str:
    repaired = f"{count(fixed, 'finding')} fixed" if fixed else ""
    if not findings:
        return f"{repaired}, none left." if fixed else "All checks passed!"
    severities = [finding.severity for finding in findings]
    parts = [
        count(number, word, plural)
        for severity, word, plural in (
            (Severity.ERROR, "error", None),
            (Severity.WARNING, "warning", None),
            (Severity.INFO, "note", None),
        )
        if (number := severities.count(severity))
    ]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Found {listed} ({repaired})." if fixed else f"Found {listed}."


def _seen(context: Context) -> str:
    summary = context.summary
    parts = []
    if summary.files is not None:
        parts.append(count(summary.files, "file"))
    if summary.jitted_functions is not None:
        parts.append(count(summary.jitted_functions, "jitted function"))
    if not parts:
        return ""
    time = "" if summary.seconds is None else f" in {summary.seconds:.2f} s"
    return f"Checked {', '.join(parts)}{time}."
