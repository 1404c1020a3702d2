"""The ``jitlint`` command, which loads its subcommands when they are asked for."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence

import click

from jitlint import __version__

COMMANDS = {
    "check": ("jitlint.cli.check_command:command", "Find what goes wrong under jax.jit, and repair it."),
    "clean": ("jitlint.cli.clean_command:command", "Delete what earlier runs left in the cache."),
    "config": ("jitlint.cli.config_command:command", "Show the configuration keys and what they mean."),
    "explain": ("jitlint.cli.explain_command:command", "Show what is traced in a function, and why."),
    "report": ("jitlint.recorder.commands:report", "Show what a record of a run says, by time lost."),
    "rule": ("jitlint.cli.rule_command:command", "Explain a rule."),
    "server": ("jitlint.cli.server_command:command", "Serve an editor by the Language Server Protocol."),
    "trace": ("jitlint.recorder.commands:trace", "Run a program and record what JAX traces and compiles."),
}
"""Each subcommand: where it is, and its line in ``jitlint --help``."""

EXIT_CLEAN, EXIT_FINDINGS, EXIT_ERROR, EXIT_INTERRUPTED = 0, 1, 2, 130

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class LazyGroup(click.Group):
    """A group that imports a subcommand only to run it, so that ``--version`` and completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in sorted(COMMANDS.items())])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="jitlint", message="%(prog)s %(version)s")
def app() -> None:
    """jitlint finds what goes wrong under jax.jit, says why, and repairs it.

    Exit codes: 0 clean, 1 findings remain, 2 wrong usage or configuration, or an internal error.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code.

    ``args`` are the arguments after the program's name, those of the process by default. Never shows a traceback for
    what a user can cause: wrong usage, a closed pipe, Ctrl-C.
    """
    code = _run(args)
    gc.freeze()  # the process ends: nobody needs what a last look for cycles would free
    sys.exit(code)


def _run(args: Sequence[str] | None) -> int:
    try:
        code = app.main(args=None if args is None else list(args), prog_name="jitlint", standalone_mode=False)
        if not sys.stdout.closed:  # the language server ends with its connection
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return EXIT_ERROR
    except (click.Abort, KeyboardInterrupt):
        print("jitlint: stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return EXIT_CLEAN
    except OSError as error:
        if error.errno not in _NO_ROOM:
            return _failed(error)
        _forget_stdout()
        print(f"error: the output could not be written: {error.strerror}", file=sys.stderr)
        return EXIT_ERROR
    except Exception as error:
        return _failed(error)
    return code if isinstance(code, int) else EXIT_CLEAN


def _failed(error: Exception) -> int:
    """Say that something unforeseen happened."""
    if os.environ.get("JITLINT_DEBUG"):
        raise error
    print(f"error: jitlint failed: {type(error).__name__}: {error}", file=sys.stderr)
    print("This is a fault of jitlint, please report it; JITLINT_DEBUG=1 shows where.", file=sys.stderr)
    return EXIT_ERROR


def _forget_stdout() -> None:
    """The reader is gone: keep the interpreter from complaining when it flushes at exit."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
