"""``jitlint server``: the language server, for editors."""

from __future__ import annotations

import click


@click.command(name="server", short_help="Serve an editor by the Language Server Protocol.")
@click.option("--stdio", is_flag=True, help="Speak over standard input and output, which is what it does anyway.")
def command(stdio: bool) -> None:
    """Serve an editor by the Language Server Protocol, over standard input and output.

    Editors start it themselves. It needs the extra `lsp`, which brings pygls.
    """
    try:
        import pygls.lsp.server  # noqa: F401
    except ImportError as error:
        raise click.UsageError(
            "the language server needs pygls 2: install jitlint with its extra, `pip install 'jitlint[lsp]'`"
            f" ({error})"
        ) from error
    from jitlint.server.app import make_server

    server = make_server()
    try:
        server.start_io()
    finally:
        server.end()
