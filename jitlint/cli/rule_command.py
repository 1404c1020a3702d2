"""``jitlint rule CODE``: the page of a rule, in the terminal or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from jitlint.registry import RuleInfo, ToolCode


@click.command(name="rule", short_help="Explain a rule.")
@click.argument("code", required=False)
@click.option("--all", "everything", is_flag=True, help="Explain every rule.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to write it.",
)
def command(code: str | None, everything: bool, output_format: str) -> None:
    """Explain the rule of CODE (a code such as JIT101, or a name such as traced-branch)."""
    from jitlint.registry import UnknownRuleError, catalogue, find_rule

    if everything == (code is not None):
        raise click.UsageError("give the code of a rule, or --all")
    rules: list[RuleInfo | ToolCode]
    if code is not None:
        try:
            rules = [find_rule(code)]
        except UnknownRuleError as error:
            raise click.UsageError(str(error)) from error
    else:
        rules = list(catalogue())
    if output_format == "json":
        records = [_record(rule) for rule in rules]
        click.echo(json.dumps(records if everything else records[0], indent=2))
    else:
        click.echo("\n\n".join(_page(rule) for rule in rules))


def _record(rule: RuleInfo | ToolCode) -> dict[str, str]:
    from jitlint.rule_page import facts, page_body

    return {**facts(rule), "explanation": page_body(rule)}


def _page(rule: RuleInfo | ToolCode) -> str:
    from jitlint.rule_page import rule_page

    return rule_page(rule).rstrip()
