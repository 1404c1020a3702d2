"""``jitlint trace`` and ``jitlint report``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from jitlint.recorder.budget import exceeded, unknown_names
from jitlint.recorder.join import Joined, join
from jitlint.recorder.launch import LaunchError, prepare_folder, run
from jitlint.recorder.record import Record, RecordError, load_record

DEFAULT_FOLDER = Path(".jitlint_trace")
EXIT_OVER_BUDGET, EXIT_ERROR = 1, 2


def _limits(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Read ``NAME=N``."""
    found = []
    for value in values:
        name, _, number = value.rpartition("=")
        if not name or not number.isdigit():
            raise click.BadParameter(f"{value!r} is not NAME=N, such as step=2", context, parameter)
        found.append((name, int(number)))
    return tuple(found)


@click.command(
    "trace",
    short_help="Run a program and record what jax traces and compiles.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_FOLDER,
    show_default=True,
    help="Folder for the record. An earlier record in it is replaced.",
)
@click.option(
    "--max-traces",
    "limits",
    callback=_limits,
    multiple=True,
    metavar="NAME=N",
    help="Fail when a function of this name is traced more than N times in a process. May be repeated.",
)
@click.option(
    "--max-total",
    "total",
    type=click.IntRange(min=0),
    metavar="N",
    help="Fail when your functions are traced more than N times in all in a process.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what a limit or an error makes necessary.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def trace(
    folder: Path, limits: tuple[tuple[str, int], ...], total: int | None, quiet: bool, command: tuple[str, ...]
) -> int:
    """Run COMMAND and record what jax traces and compiles in it, and why.

    COMMAND is any that runs Python: `python train.py`, `pytest`, a console script; `train.py` and `-m module` are short
    for Python running them. Separate it by `--` from the options. Its output and its exit code are its own.

    Exit codes: that of COMMAND; where it is 0, 1 when a limit is exceeded; 2 when COMMAND cannot be run.
    """
    try:
        prepare_folder(folder)
        code = run(command, folder)
    except LaunchError as error:
        _say(f"{error}")
        return EXIT_ERROR
    try:
        record = load_record(folder)
    except RecordError:
        if not quiet or limits or total is not None:
            _say("nothing was recorded: the command ran no Python that imports jax, or ran it with -I, -E or -S")
        return code
    per_function = dict(limits)
    for name in unknown_names(record, per_function):
        _say(f"no function named {name} was traced")
    excesses = exceeded(record, per_function, total)
    for excess in excesses:
        _say("over the limit: " + "\n".join(excess.lines()))
    if not quiet:
        _say(f"{len(record.traces)} traces, {len(record.compiles)} compiles; see them with: jitlint report {folder}")
    return code or (EXIT_OVER_BUDGET if excesses else 0)


@click.command("report", short_help="Show what a record says, by time lost.")
@click.argument("folder", type=click.Path(path_type=Path), default=DEFAULT_FOLDER)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write one self-contained page: functions, variants, source and timeline.",
)
@click.option("--json", "as_data", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--signatures",
    is_flag=True,
    help="Print the signatures your functions were traced with, as settings for `jitlint check --dynamic`.",
)
@click.option("--static/--no-static", default=True, help="Check the recorded files too, and join the findings.")
def report(folder: Path, page: Path | None, as_data: bool, signatures: bool, static: bool) -> int:
    """Show what the record in FOLDER says: functions by time lost, and why each was compiled again.

    FOLDER is that of `jitlint trace -o`; by default the one that it uses by default.

    Exit codes: 0 shown, 2 no record or the page cannot be written.
    """
    from jitlint.recorder.table import as_json, render_table

    try:
        record = load_record(folder)
    except RecordError as error:
        _say(f"{error}")
        return EXIT_ERROR
    if signatures:
        from jitlint.recorder.signatures import as_toml, configured_signatures

        click.echo(as_toml(configured_signatures(record)), nl=False)
        return 0
    joined = _join_static(record) if static else None
    if page is not None:
        from jitlint.recorder.page import render_page

        try:
            _write(page, render_page(record, joined))
        except OSError as error:
            _say(f"cannot write {page}: {error.strerror or error}")
            return EXIT_ERROR
    if as_data:
        click.echo(json.dumps(as_json(record, joined), indent=2, default=str))
    elif page is None:
        click.echo(render_table(record, joined), nl=False)
    else:
        click.echo(f"wrote {page}")
    return 0


def _join_static(record: Record) -> Joined | None:
    """Findings in the files of the user's own recorded functions, joined; None when there are no such files."""
    files = {Path(f.file) for f in record.functions if f.file and not f.library}
    files |= {Path(e.call.file) for f in record.functions for e in f.events if e.call and not f.library}
    present = sorted(file for file in files if file.suffix == ".py" and file.is_file())
    if not present:
        return join(record, ())
    from jitlint.library import check_paths

    return join(record, check_paths(present).findings)


def _write(page: Path, text: str) -> None:
    """All of the page or nothing: a reader never meets half of it."""
    scratch = page.with_name(f".{page.name}.{os.getpid()}.tmp")
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(page)
    finally:
        scratch.unlink(missing_ok=True)


def _say(message: str) -> None:
    print(f"jitlint: {message}", file=sys.stderr)
