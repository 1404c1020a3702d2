"""Findings as text, one module a format.

A format is a function of the findings and a :class:`Context`; it reads no file and knows no rule. :func:`render` gives
the text, :func:`jitlint.output.colour.wants_colour` says whether it may be coloured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from jitlint.findings import Finding
from jitlint.output import concise, full, github, gitlab, grouped, json_format, junit, pylint_format, rdjson, sarif
from jitlint.output.colour import wants_colour
from jitlint.output.context import Context, RuleDoc, Summary

__all__ = ["FORMATS", "Context", "Formatter", "RuleDoc", "Summary", "publish", "render", "wants_colour"]

Formatter = Callable[[Sequence[Finding], Context], str]

FORMATS: Mapping[str, Formatter] = MappingProxyType(
    {
        "full": full.render,
        "concise": concise.render,
        "grouped": grouped.render,
        "json": json_format.render,
        "json-lines": json_format.render_lines,
        "github": github.render,
        "gitlab": gitlab.render,
        "junit": junit.render,
        "sarif": sarif.render,
        "rdjson": rdjson.render,
        "pylint": pylint_format.render,
    }
)
"""Every ``--output-format`` by name."""


def render(name: str, findings: Iterable[Finding], context: Context) -> str:
    """The findings, sorted, in the format ``name``, ending in a newline. Raises KeyError for a name not in FORMATS."""
    return FORMATS[name](sorted(findings, key=lambda finding: finding.sort_key), context)


def publish(name: str, findings: Iterable[Finding], context: Context, environ: Mapping[str, str] | None = None) -> None:
    """What a format does besides its text: ``github`` adds to the summary page that GITHUB_STEP_SUMMARY names.

    Raises OSError if that file cannot be written.
    """
    summary = (os.environ if environ is None else environ).get("GITHUB_STEP_SUMMARY")
    if name == "github" and summary:
        ordered = sorted(findings, key=lambda finding: finding.sort_key)
        github.append_step_summary(Path(summary), ordered, context)
