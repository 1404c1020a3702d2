"""``jitlint clean``: away with the cache."""

from __future__ import annotations

from pathlib import Path

import click

from jitlint.cache import VARIABLE, Cache, default_folder


@click.command(name="clean", short_help="Delete what earlier runs left in the cache.")
@click.option("--cache-dir", metavar="DIR", envvar=VARIABLE, help="The cache, if it is not at the root of the project.")
def command(cache_dir: str | None) -> None:
    """Delete the cache of this project, .jitlint_cache. The next run is a slow one."""
    here = Path.cwd()
    folder = here / cache_dir if cache_dir else default_folder(here)
    try:
        gone = Cache(folder).clean()
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be deleted: {error.strerror or error}") from error
    click.echo(f"Deleted {folder}." if gone else f"There is no cache at {folder}.", err=True)
