"""``jitlint check``: its options, and the order in which things are done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from jitlint.cache import VARIABLE
from jitlint.cli.outputs import OrderedCommand, split_list

FORMATS = ("full", "concise", "grouped", "json", "json-lines", "github", "gitlab", "junit", "sarif", "rdjson", "pylint")

Decorator = Callable[[Callable[..., int]], Callable[..., int]]


def _list(name: str, metavar: str, text: str) -> Decorator:
    """An option that takes comma-separated values and may be repeated."""
    return click.option(name, metavar=metavar, multiple=True, callback=split_list, help=text)


@click.command(name="check", cls=OrderedCommand, short_help="Find what goes wrong under jax.jit, and repair it.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=str))
@click.option("--fix", is_flag=True, help="Repair what keeps its meaning, and report the rest.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="Also count repairs that may change the meaning; with --fix, make them."
)
@click.option("--diff", is_flag=True, help="Show the repairs as a diff and write nothing; exit 1 if there are any.")
@click.option("--fix-only", is_flag=True, help="Repair, and report nothing of the rest.")
@click.option("--show-fixes", is_flag=True, help="List the findings that were repaired.")
@_list("--select", "CODES", "Rules to use: codes, prefixes such as JIT3, or ALL. Replaces the default set.")
@_list("--ignore", "CODES", "Rules to leave out.")
@_list("--extend-select", "CODES", "Rules to use besides those selected.")
@_list("--extend-ignore", "CODES", "Rules to leave out besides those ignored.")
@_list("--per-file-ignores", "GLOB:CODE", "Rules to leave out in files that match, such as 'tests/*:JIT3'.")
@click.option(
    "--min-severity", type=click.Choice(["info", "warning", "error"]), help="Report nothing below this severity."
)
@click.option(
    "--min-certainty", type=click.Choice(["possible", "definite"]), help="Report nothing less certain than this."
)
@click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    multiple=True,
    envvar="JITLINT_OUTPUT_FORMAT",
    help="How to write findings; full by default. Repeat it, with an --output-file, for several at once.",
)
@click.option(
    "-o",
    "--output-file",
    metavar="FILE",
    multiple=True,
    help="Write to FILE instead of standard output; belongs to the --output-format before it.",
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of listing them.")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit 1 if anything was repaired, even if nothing remains.")
@click.option("--add-ignore", is_flag=True, help="Write an ignore comment at every finding.")
@click.option("--reason", default="", metavar="TEXT", help="Why, for the comments that --add-ignore writes.")
@click.option("--baseline", metavar="FILE", help="Report only what this file does not know; it shrinks by itself.")
@click.option("--no-baseline", is_flag=True, help="Use no baseline, whatever the configuration says.")
@click.option(
    "--write-baseline",
    is_flag=True,
    help="Write all findings to the baseline (jitlint-baseline.txt unless --baseline names another) and exit 0.",
)
@click.option("--diff-base", metavar="REV", help="Report only what was introduced since this git revision.")
@click.option("--stdin-filename", metavar="FILE", help="What to call standard input, which the path - reads.")
@_list("--exclude", "GLOBS", "Files and folders to leave out. Replaces the default set.")
@_list("--extend-exclude", "GLOBS", "Files and folders to leave out besides those excluded.")
@click.option("--force-exclude", is_flag=True, help="Leave out excluded files even if they are named as PATHS.")
@click.option("--no-respect-gitignore", is_flag=True, help="Also check files that git ignores.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked, and stop.")
@click.option("--show-settings", is_flag=True, help="Show the settings in force, and stop.")
@click.option("--config", metavar="FILE|KEY=VALUE", multiple=True, help="A configuration file, or a setting as in one.")
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option(
    "--dynamic",
    is_flag=True,
    help="Ask JAX itself about each finding and each repair. This imports your modules, in processes of their own.",
)
@click.option("--python", metavar="PATH", help="With --dynamic: the interpreter that has your program's packages.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="With --dynamic: the time that a module may take.",
)
@_list("--dynamic-allow-import", "PATTERNS", "With --dynamic: the modules that may be imported; all by default.")
@click.option(
    "--variants",
    is_flag=True,
    help="List how many programs each jitted function is compiled for, and why; as JSON if the format is JSON.",
)
@click.option(
    "--record",
    metavar="DIR",
    help="Use a run that `jitlint trace -o DIR` recorded in place of guesses about calls and arguments, and leave out "
    "the findings that it refutes.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of processes; by default one for each processor. The findings are the same for any.",
)
@click.option("-n", "--no-cache", is_flag=True, help="Neither use nor keep what earlier runs found out.")
@click.option(
    "--cache-dir",
    metavar="DIR",
    envvar=VARIABLE,
    help="Where to keep it; by default in .jitlint_cache at the root of the project.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Say which files were skipped and why, and how long it took.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colours; auto asks the terminal, NO_COLOR and FORCE_COLOR.",
)
def command(**options: Any) -> int:
    """Find what goes wrong under jax.jit in PATHS (files, folders, or - for standard input; the current folder by
    default).

    Exit codes: 0 no finding of severity warning or error remains, 1 one does, 2 wrong usage or configuration, or an
    internal error.
    """
    from jitlint.cli.session import run_check

    return run_check(options)
