"""Findings as text, one module a format.

A format is a function of the findings and a :class:`Context`; it reads no file and knows no rule. :func:`render` gives
the text, :func:`jitlint.output.colour.wants_colour` says whether it may be coloured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from jitlint.findings import Finding
from jitlint.output import concise, full, json_format
from jitlint.output.colour import wants_colour
from jitlint.output.context import Context, RuleDoc, Summary

__all__ = ["FORMATS", "Context", "Formatter", "RuleDoc", "Summary", "render", "wants_colour"]

Formatter = Callable[[Sequence[Finding], Context], str]

FORMATS: Mapping[str, Formatter] = MappingProxyType(
    {
        "full": full.render,
        "concise": concise.render,
        "json": json_format.render,
        "json-lines": json_format.render_lines,
    }
)
"""Every ``--output-format`` by name."""


def render(name: str, findings: Iterable[Finding], context: Context) -> str:
    """The findings, sorted, in the format ``name``, ending in a newline. Raises KeyError for a name not in FORMATS."""
    return FORMATS[name](sorted(findings, key=lambda finding: finding.sort_key), context)
