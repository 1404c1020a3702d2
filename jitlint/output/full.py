"""``full``: each finding with its code, the path by which it came about, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from jitlint.findings import Applicability, Finding
from jitlint.output.colour import Palette
from jitlint.output.context import Context, fixable
from jitlint.output.frame import code_frame, diff_frame
from jitlint.output.places import expand, headline, location, one_line, source_key
from jitlint.output.tail import tail

_FIX_NOTES = {
    Applicability.UNSAFE: "note: this fix may change what the program does; `--unsafe-fixes` applies it",
    Applicability.DISPLAY: "note: this fix is only a suggestion; it is never applied by jitlint",
}


def render(findings: Sequence[Finding], context: Context) -> str:
    """Every finding as a paragraph, then the counts."""
    palette = Palette(context.colour)
    lines: list[str] = []
    for finding in findings:
        lines += [*_finding(finding, context, palette), ""]
    return "\n".join([*lines, *tail(findings, context)]) + "\n"


def _finding(finding: Finding, context: Context, palette: Palette) -> Iterator[str]:
    mark = f" [{palette.label('*')}]" if fixable(finding) else ""
    head = palette.severity(finding.severity, f"{finding.severity.value}[{finding.code}]")
    yield f"{head}{mark} {finding.name}: {palette.strong(one_line(headline(finding)))}"
    lines = context.lines(source_key(finding.filename, finding.cell))
    indent = " " * len(str(finding.span.row))
    yield f"{indent}{palette.frame('-->')} {location(finding)}"
    if lines is not None:
        yield from code_frame(lines, finding.span, finding.severity, palette)
    yield from _path(finding, context, palette)
    if finding.help:
        first, *more = finding.help.splitlines()
        yield f"{palette.label('help:')} {first}"
        yield from (f"      {line}" for line in more)
    yield from _fix(finding, context, palette)


def _path(finding: Finding, context: Context, palette: Palette) -> Iterator[str]:
    """The steps of the trace, each with its place and its line of code."""
    if not finding.trace:
        return
    yield palette.label("how it comes about:")
    for number, step in enumerate(finding.trace, start=1):
        yield f"  {number}. {palette.strong(f'{step.filename}:{step.row}')}: {one_line(step.what)}"
        lines = context.lines(step.filename)
        code = "" if lines is None else expand(lines.row(step.row).strip(), 1)[0]
        if code:
            yield f"     {palette.frame('|')} {code}"


def _fix(finding: Finding, context: Context, palette: Palette) -> Iterator[str]:
    fix = finding.fix
    if fix is None:
        return
    edits = context.edits(finding)
    if fix.message != finding.help:
        yield f"{palette.label('fix:')} {one_line(fix.message)}"
    for filename, group in groupby(edits, key=lambda edit: edit.filename):
        lines = context.lines(filename)
        if lines is None:
            continue
        if filename != source_key(finding.filename, finding.cell):
            yield f"{palette.frame('-->')} {filename}"
        yield from diff_frame(lines, list(group), palette)
    note = _FIX_NOTES.get(fix.applicability)
    if note:
        yield note
