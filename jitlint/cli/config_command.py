"""``jitlint config [KEY]``: what can be configured."""

from __future__ import annotations

import json

import click


@click.command(name="config", short_help="Show the configuration keys and what they mean.")
@click.argument("key", required=False)
@click.option("--schema", is_flag=True, help="Print a JSON Schema of the configuration, for editors.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to write it."
)
def command(key: str | None, schema: bool, output_format: str) -> None:
    """List the keys of the configuration, or explain KEY."""
    from jitlint.project.config import json_schema, options

    if schema:
        if key is not None:
            raise click.UsageError("--schema is of the whole configuration; leave KEY out")
        click.echo(json.dumps(json_schema(), indent=2))
        return
    known = {option.key: option for option in options()}
    if key is not None and key not in known:
        raise click.UsageError(f"there is no option {key!r}{_near(key, list(known))}")
    chosen = list(known.values()) if key is None else [known[key]]
    if output_format == "json":
        fields = ("key", "type", "default", "doc", "example")
        click.echo(json.dumps([{name: getattr(option, name) for name in fields} for option in chosen], indent=2))
    elif key is None:
        click.echo("\n".join(known))
    else:
        option = known[key]
        click.echo(
            f"{option.doc}\n\nType: {option.type}\nDefault: {json.dumps(option.default)}\nExample: {option.example}"
        )


def _near(key: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key.replace("_", "-"), known, n=1)
    return f"; did you mean {near[0]!r}?" if near else "; `jitlint config` lists them all"
