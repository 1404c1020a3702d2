"""Writes findings and figures where the options say."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from jitlint import __version__
from jitlint.check import Analysis
from jitlint.cli.outputs import Output
from jitlint.cli.verdicts import for_people
from jitlint.findings import Finding
from jitlint.fix.files import write_atomic
from jitlint.output import Context, RuleDoc, Summary, publish, render, wants_colour
from jitlint.registry import catalogue
from jitlint.rule_page import page_body, summary

JSON_FORMATS = frozenset({"json", "json-lines"})
"""These carry every verdict."""

TEXT_FORMATS = frozenset({"full", "concise", "grouped"})
"""These say so when there is nothing."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where text for people goes; standard output may be taken by a repaired program."""

    color: str
    to_stderr: bool = False

    @property
    def colour(self) -> bool:
        """Whether what is shown may be coloured."""
        stream = sys.stderr if self.to_stderr else sys.stdout
        return wants_colour(os.environ, terminal=stream.isatty(), choice=self.color)

    def show(self, text: str) -> None:
        """Write text as it is."""
        click.echo(text, nl=False, err=self.to_stderr, color=self.colour)


def write_findings(
    analysis: Analysis, outputs: Sequence[Output], seen: Summary, screen: Screen, *, quiet: bool
) -> None:
    """Write the findings in every format asked for. Raises click.FileError for a file that cannot be written."""
    # Where jitlint failed, no format for people may say that all is well.
    silent = quiet or bool(analysis.internal_errors)
    located = analysis.located(analysis.findings)
    for output in outputs:
        shown = located if output.format in JSON_FORMATS else for_people(located)
        context = Context(
            sources=analysis.shown_text,
            notebooks=analysis.notebook,
            directory=Path.cwd(),
            root=_repository(Path.cwd()),
            rules=_rule_docs(),
            colour=screen.colour and output.file is None,
            summary=seen,
            version=__version__,
        )
        text = render(output.format, shown, context)
        if output.file is None:
            if shown or not silent or output.format not in TEXT_FORMATS:
                screen.show(text)
        else:
            try:
                write_atomic(Path(output.file), text)
            except OSError as error:
                raise click.FileError(output.file, error.strerror or str(error)) from error
        try:
            publish(output.format, shown, context)
        except OSError as error:
            click.echo(f"warning: the summary of the step could not be written: {error}", err=True)


def write_statistics(findings: Sequence[Finding], format_name: str, screen: Screen) -> None:
    """How many findings of each rule there are, most first; as JSON if the format is JSON."""
    counts = Counter((finding.code, finding.name) for finding in findings)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    if format_name in ("json", "json-lines"):
        records = [{"code": code, "name": name, "count": count} for (code, name), count in rows]
        screen.show(json.dumps(records, indent=2) + "\n")
        return
    width = max((len(str(count)) for _, count in rows), default=0)
    screen.show("".join(f"{count:>{width}}  {code}  {name}\n" for (code, name), count in rows))


def _rule_docs() -> dict[str, RuleDoc]:
    return {
        rule.code: RuleDoc(rule.code, rule.name, summary(rule), page_body(rule), rule.severity) for rule in catalogue()
    }


def _repository(folder: Path) -> Path:
    """The nearest folder upward that holds a repository, which machine formats name files from; else ``folder``."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
