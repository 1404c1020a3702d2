"""When to colour, and with what."""

from __future__ import annotations

from collections.abc import Mapping

import click

from jitlint.findings import Severity

_BY_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def wants_colour(environ: Mapping[str, str], *, terminal: bool, choice: str = "auto") -> bool:
    """Whether to write colours.

    ``choice`` is ``always``, ``never`` or ``auto``; auto asks NO_COLOR, then FORCE_COLOR, then whether the output is a
    terminal that can.
    """
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return terminal and environ.get("TERM") != "dumb"


class Palette:
    """Styles by what they mean; each gives the text back unchanged when colour is off."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def severity(self, severity: Severity, text: str) -> str:
        """The head of a finding and the carets under its place."""
        return self._style(text, _BY_SEVERITY[severity], bold=True)

    def strong(self, text: str) -> str:
        """A message."""
        return self._style(text, bold=True)

    def frame(self, text: str) -> str:
        """Row numbers, bars and arrows."""
        return self._style(text, "blue", bold=True)

    def label(self, text: str) -> str:
        """Words that introduce something: ``help:``, the mark of a fix."""
        return self._style(text, "cyan", bold=True)

    def dim(self, text: str) -> str:
        """What matters least."""
        return self._style(text, dim=True)

    def added(self, text: str) -> str:
        """A line that a fix writes."""
        return self._style(text, "green")

    def removed(self, text: str) -> str:
        """A line that a fix takes away."""
        return self._style(text, "red")

    def _style(self, text: str, colour: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        return click.style(text, fg=colour, bold=bold or None, dim=dim or None) if self._enabled else text
