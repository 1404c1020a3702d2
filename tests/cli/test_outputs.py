"""Which format goes to which file."""

from __future__ import annotations

import click
import pytest

from jitlint.cli.outputs import Output, pair_outputs


def paired(*arguments: str) -> list[tuple[str, str | None]]:
    """The pairs for a command line such as ``json -o a`` (formats bare, files after ``-o``)."""
    order, formats, files = [], [], []
    waiting = False
    for argument in arguments:
        if argument == "-o":
            waiting = True
        elif waiting:
            files.append(argument)
            order.append("output_file")
            waiting = False
        else:
            formats.append(argument)
            order.append("output_format")
    return [(output.format, output.file) for output in pair_outputs(["fix", *order], formats, files, "full")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", [("full", None)]),
        ("json", [("json", None)]),
        ("-o a", [("full", "a")]),
        ("json -o a", [("json", "a")]),
        ("-o a json", [("json", "a")]),
        ("json -o a full", [("json", "a"), ("full", None)]),
        ("full json -o a", [("full", None), ("json", "a")]),
        ("json -o a sarif -o b concise", [("json", "a"), ("sarif", "b"), ("concise", None)]),
        ("-o a json -o b sarif", [("json", "a"), ("sarif", "b")]),
    ],
)
def test_a_file_belongs_to_its_neighbour(given: str, expected: list[tuple[str, str | None]]) -> None:
    assert paired(*given.split()) == expected


@pytest.mark.parametrize("given", ["-o a -o b", "json -o a -o b", "json -o a -o b -o c", "-o a -o b json"])
def test_a_file_without_a_format_is_refused(given: str) -> None:
    with pytest.raises(click.UsageError, match="an --output-format for each file"):
        paired(*given.split())


def test_two_formats_cannot_share_the_screen() -> None:
    with pytest.raises(click.UsageError, match="json and full would both go to standard output"):
        paired("json", "full")


def test_formats_from_the_environment_have_no_order() -> None:
    assert pair_outputs([], ["json"], [], "full") == (Output("json", None),)
