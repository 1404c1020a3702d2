"""``--output-format`` and ``--output-file``, which may be given several times in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

META_ORDER = "jitlint.order"


@dataclass(frozen=True, slots=True)
class Output:
    """One place to write to: a format, and a file or (None) standard output."""

    format: str
    file: str | None


class OrderedCommand(click.Command):
    """A command that remembers in which order its options were given, which click otherwise forgets."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[META_ORDER] = [param.name for param in order]
        return super().parse_args(ctx, args)


def pair_outputs(
    order: Sequence[str | None], formats: Sequence[str], files: Sequence[str], default: str
) -> tuple[Output, ...]:
    """Which format goes to which file: a file belongs to the format before it, or else to the one after it.

    ``order`` has the names ``output_format`` and ``output_file`` as they were given; ``default`` is the format where
    none was. Raises click.UsageError when a file has no format left, or two formats would share standard output.
    """
    outputs: list[Output] = []
    waiting: str | None = None
    next_format, next_file = iter(formats), iter(files)
    for name in order:
        if name == "output_format":
            outputs.append(Output(next(next_format), waiting))
            waiting = None
        elif name == "output_file":
            file = next(next_file)
            if outputs and outputs[-1].file is None:
                outputs[-1] = Output(outputs[-1].format, file)
            elif waiting is None:
                waiting = file
            else:
                raise click.UsageError(f"--output-file {file}: give an --output-format for each file")
    # Values from the environment come without an order.
    outputs += [Output(name, None) for name in next_format]
    if waiting is not None:
        if outputs:
            raise click.UsageError(f"--output-file {waiting}: give an --output-format for each file")
        outputs.append(Output(default, waiting))
    if not outputs:
        outputs.append(Output(default, None))
    on_screen = [output.format for output in outputs if output.file is None]
    if len(on_screen) > 1:
        raise click.UsageError(
            f"{' and '.join(on_screen)} would both go to standard output; give all but one an --output-file"
        )
    return tuple(outputs)


def split_list(ctx: click.Context, param: click.Parameter, value: Any) -> tuple[str, ...]:
    """Callback of options that take comma-separated values and may be repeated."""
    return tuple(part.strip() for given in value for part in given.split(",") if part.strip())
