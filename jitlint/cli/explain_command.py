"""``jitlint explain FILE:FUNCTION``: what the analysis believes, for users and for whoever debugs it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="explain", short_help="Show what is traced in a function, and why.")
@click.argument("place")
@click.argument("paths", nargs=-1)
def command(place: str, paths: tuple[str, ...]) -> None:
    """Print what jitlint believes of a function or a line: static, traced, a container of what, or unknown.

    PLACE is FILE:FUNCTION (FILE:Class.method for a method) or FILE:LINE. PATHS are further files or directories whose
    calls count, such as the scripts that use the function; by default the directory of FILE.
    """
    from jitlint.check import check_models
    from jitlint.knowledge import load
    from jitlint.project.config import ConfigError, ConfigResolver
    from jitlint.project.modules import load_project
    from jitlint.semantics.explain import explain

    name, colon, asked = place.rpartition(":")
    if not colon or not asked:
        raise click.UsageError("give FILE:FUNCTION or FILE:LINE, such as train.py:step or train.py:12")
    file = Path(name)
    if not file.is_file():
        raise click.UsageError(f"no such file: {name}")
    try:
        resolver = ConfigResolver()
        check_models(resolver.for_file(file.absolute()))
        project = load_project([*(paths or (str(file.parent),)), str(file)], resolver)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    module = next((m for m in project.modules if m.path == file.resolve()), None)
    if module is None:
        raise click.ClickException(f"{name} could not be read; `jitlint check {name}` says why")
    row = int(asked) if asked.isdigit() else None
    knowledge = load([Path(p) for p in resolver.for_file(file).extra_models])
    beliefs = explain(project, knowledge, module, function=None if row is not None else asked, row=row)
    if not beliefs:
        raise click.ClickException(f"nothing is known of {asked} in {name}: no such function, or nothing runs it")
    for belief in beliefs:
        click.echo(f"{module.display}:{belief.span.row}:{belief.span.column}  {belief.text:<48}  {belief.value}")
        if belief.why:
            click.echo(f"    because {belief.why}")
