"""``pylint``: lines that tools made for pylint read."""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.findings import Finding
from jitlint.output.context import Context
from jitlint.output.places import file_message, file_row, one_line


def render(findings: Sequence[Finding], context: Context) -> str:
    """``model.py:12: [JIT101] message``, a line a finding, and nothing else."""
    return "".join(
        f"{context.path_from_root(finding.filename)}:{file_row(finding)}: [{finding.code}] "
        f"{one_line(file_message(finding))}\n"
        for finding in findings
    )
