"""Writes the pages of ``docs/`` that are made from the code, so that they cannot lie about it.

``python -m jitlint.docs`` writes them into the checkout, ``python -m jitlint.docs --check`` says which are out of date
and exits 1. Made are one page a rule from its docstring, their index, the page of the configuration, the rule table
in the README, and what jitlint says of the program in docs/index.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from jitlint.library import check_source
from jitlint.output import Context, render
from jitlint.project.config import options
from jitlint.registry import catalogue
from jitlint.rule_page import rule_page, summary

FAMILIES = {
    "JIT1": "A traced value where Python needs a concrete one",
    "JIT2": "Static arguments",
    "JIT3": "Compiling too often, or too much",
    "JIT4": "Silently wrong",
    "JIT9": "The tool itself",
}

_NOTICE = "<!-- Made by `python -m jitlint.docs`; edit the source it is made from instead. -->"


def rule_table(link_folder: str) -> str:
    """Every rule in Markdown tables, a table a family; links go to pages in ``link_folder``."""
    parts = []
    for family, title in FAMILIES.items():
        members = [rule for rule in catalogue() if rule.code.startswith(family)]
        if not members:
            continue
        rows = [
            f"| [{rule.code}]({link_folder}{rule.code}.md) | {rule.name} | {rule.severity} | {rule.fix} "
            f"| {summary(rule)} |"
            for rule in members
        ]
        head = ["| code | name | severity | fix | what it finds |", "| --- | --- | --- | --- | --- |"]
        parts.append("\n".join([f"**{family}xx: {title}**", "", *head, *rows]))
    return "\n\n".join(parts)


def _rules_index() -> str:
    return (
        "\n\n".join(
            [
                _NOTICE,
                "# Rules",
                "*Error* raises while tracing; *warning* runs, but wrong or slow; *info* is worth knowing and off "
                "unless selected. A *safe* fix keeps the meaning and is applied by `--fix`; an *unsafe* one may change "
                "it and needs `--unsafe-fixes`.",
                rule_table(""),
            ]
        )
        + "\n"
    )


def _configuration_page() -> str:
    parts = [
        _NOTICE,
        "# Configuration",
        "Settings stand in `jitlint.toml`, in `.jitlint.toml`, or in the table `[tool.jitlint]` of `pyproject.toml`. "
        "For each file the nearest folder upward that has one decides; `extend` names another file to build on. On the "
        "command line, `--config 'key = value'` sets any of them, `--config FILE` replaces the search, and "
        "`--isolated` reads no file. `jitlint check --show-settings` shows what is in force.",
        "An unknown key or a value of the wrong kind is an error. `jitlint config --schema` prints a JSON Schema for "
        "editors.",
    ]
    for option in options():
        default = "none" if option.default is None else f"`{json.dumps(option.default)}`"
        example = option.example
        if option.key.startswith("dynamic."):
            example = f"[dynamic]\n{example}"
        parts.append(
            f"## {option.key}\n\n{option.doc}\n\nType: {option.type} · Default: {default}\n\n```toml\n{example}\n```"
        )
    return "\n\n".join(parts) + "\n"


def _sample_output(page: str) -> str:
    """What jitlint says of the first Python program on a page, as a Markdown block."""
    program = page.partition("```python\n")[2].partition("```")[0]
    findings = check_source(program, "train.py", isolated=True, options={"jax-version": "0.4.36"}).findings
    shown = render("full", findings, Context(sources=lambda name: program if name == "train.py" else None))
    return f"```text\n{shown}```"


def _filled(path: Path, name: str, inside: Callable[[str], str]) -> str:
    """The text of a page, with what stands between its markers replaced. Raises ValueError where they are missing."""
    text = path.read_text("utf-8")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{path.name} lacks the markers {begin} and {end}")
    return f"{before}{begin}\n{inside(text)}\n{end}{after}"


def generated(root: Path) -> Mapping[Path, str]:
    """Every generated file of the checkout at ``root`` with the text it should have."""
    docs = root / "docs"
    readme, start = root / "README.md", docs / "index.md"
    return {
        docs / "configuration.md": _configuration_page(),
        docs / "rules" / "index.md": _rules_index(),
        **{docs / "rules" / f"{rule.code}.md": f"{_NOTICE}\n\n{rule_page(rule)}" for rule in catalogue()},
        readme: _filled(readme, "rules", lambda _: rule_table("docs/rules/")),
        start: _filled(start, "sample", _sample_output),
    }


def stale_pages(root: Path) -> list[Path]:
    """Pages of rules that no longer exist."""
    wanted = generated(root)
    return [page for page in sorted((root / "docs" / "rules").glob("*.md")) if page not in wanted]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if a page is out of date.")
@click.option(
    "--root",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=Path(__file__).resolve().parents[1],
    help="The checkout to write into; the one this module lies in by default.",
)
def main(only_check: bool, root: Path) -> None:
    """Write the generated pages of docs/, or check them."""
    changed = [
        (path, text) for path, text in generated(root).items() if not path.is_file() or path.read_text("utf-8") != text
    ]
    stale = stale_pages(root)
    verb = "is out of date" if only_check else "written"
    for path, text in changed:
        click.echo(f"{path.relative_to(root)} {verb}")
        if not only_check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    for path in stale:
        click.echo(f"{path.relative_to(root)} {'belongs to no rule' if only_check else 'removed'}")
        if not only_check:
            path.unlink()
    if only_check and (changed or stale):
        click.echo("run `python -m jitlint.docs` and commit the result", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
