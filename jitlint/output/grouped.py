"""``grouped``: the findings of each file under its name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from jitlint.findings import Finding
from jitlint.output.colour import Palette
from jitlint.output.context import Context, fixable
from jitlint.output.places import headline, one_line
from jitlint.output.tail import tail


def render(findings: Sequence[Finding], context: Context) -> str:
    """A heading a file, its findings indented and aligned, then the counts."""
    palette = Palette(context.colour)
    lines: list[str] = []
    for filename, group in groupby(findings, key=lambda finding: finding.filename):
        members = list(group)
        places = [_place(finding) for finding in members]
        width = max(map(len, places))
        lines.append(f"{palette.strong(filename)}:")
        for place, finding in zip(places, members, strict=True):
            mark = f"[{palette.label('*')}] " if fixable(finding) else ""
            code = palette.severity(finding.severity, finding.code)
            lines.append(f"  {place:<{width}} {code} {mark}{one_line(headline(finding))}")
        lines.append("")
    return "\n".join([*lines, *tail(findings, context)]) + "\n"


def _place(finding: Finding) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{cell}{finding.span.row}:{finding.span.column}"
