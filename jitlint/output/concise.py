"""``concise``: one line a finding."""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.findings import Finding
from jitlint.output.colour import Palette
from jitlint.output.context import Context, fixable
from jitlint.output.places import headline, location, one_line
from jitlint.output.tail import tail


def render(findings: Sequence[Finding], context: Context) -> str:
    """``model.py:12:8: JIT101 [*] message``, then the counts."""
    palette = Palette(context.colour)
    lines = []
    for finding in findings:
        mark = f"[{palette.label('*')}] " if fixable(finding) else ""
        code = palette.severity(finding.severity, finding.code)
        lines.append(f"{palette.strong(location(finding))}: {code} {mark}{one_line(headline(finding))}")
    return "\n".join([*lines, *tail(findings, context)]) + "\n"
