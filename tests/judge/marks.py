"""The marks that a fixture carries in its comments: what JAX does there, and what jitlint must say.

A mark stands at the end of the line it speaks of, or on a line of its own above it. A comment can hold several::

    if x > 0:               # expect: JIT101  # raises: TracerBoolConversionError
    y = f(x)                # expect: JIT304 "x\\[:i\\]", JIT401 possible
    z = g(x)                # todo: JIT101

What jitlint must say:

``expect: CODE``
    a finding on this line, optionally followed by the certainty and by a regex that its message must match;
``todo: CODE``
    a fault that jitlint is known to miss: the test fails when the finding appears, so that the mark gets updated;
``reveal: VALUE``
    what the engine knows of the value given to ``reveal(...)`` on this line.

What JAX does (a program is run one top-level statement at a time, going on after one that raises):

``raises: CLASS``
    an exception of this class comes from this line (the innermost line in the fixture's own files);
``traces: N``
    the function defined on this line runs N times while JAX traces; without a mark a jitted function may at most once;
``wrong``
    the top-level statement that holds this line prints something else than it does without jit;
``leaks``
    the top-level statement that holds this line leaks a tracer, as ``jax.checking_leaks`` sees it.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

_MARK = re.compile(r"#\s*(expect|todo|reveal|raises|traces|wrong|leaks)\b\s*(:?)\s*([^#\"]*(?:\"[^\"]*\"[^#\"]*)*)")
_ALMOST = re.compile(r"#\s*(expects?|expected|todos?|reveals?|raises?|traces?|wrong|leaks?)\s*[:=]")
_EXPECT = re.compile(r"\s*(JIT\d{3})(?:\s+(definite|possible))?(?:\s+\"([^\"]*)\")?\s*(?:,|$)")


class MarkError(ValueError):
    """A comment that looks like a mark and is none."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A finding that must be there (or, as ``todo``, must not be there yet)."""

    row: int
    code: str
    certainty: str | None = None
    pattern: str | None = None


@dataclass(slots=True)
class Marks:
    """All marks of one file, by row."""

    expect: list[Expectation] = field(default_factory=list)
    todo: list[Expectation] = field(default_factory=list)
    reveal: dict[int, str] = field(default_factory=dict)
    raises: dict[int, str] = field(default_factory=dict)
    traces: dict[int, int] = field(default_factory=dict)
    wrong: set[int] = field(default_factory=set)
    leaks: set[int] = field(default_factory=set)


def read_marks(text: str, name: str = "<text>") -> Marks:
    """The marks of a file's text; raises :class:`MarkError`, naming the line, for one that cannot be read."""
    marks = Marks()
    for row, comment in _comments(text):
        found = list(_MARK.finditer(comment))
        if not found and _ALMOST.search(comment):
            raise MarkError(f"{name}:{row}: not a mark: {comment}")
        for match in found:
            word, colon, rest = match.group(1), match.group(2), match.group(3).strip()
            if bool(colon) == (word in ("wrong", "leaks")):
                raise MarkError(f"{name}:{row}: not a mark: {match.group()}")
            _add(marks, row, word, rest, f"{name}:{row}")
    return marks


def strip_marks(text: str) -> str:
    """The text without its marks: trailing ones cut off, those on lines of their own left as an empty comment."""
    lines = text.splitlines(keepends=True)
    for row, column, comment in _raw_comments(text):
        first = _MARK.search(comment)
        if first is None:
            continue
        line = lines[row - 1]
        before = line[:column] + comment[: first.start()]
        ending = line[len(line.rstrip("\r\n")) :]
        kept = before.rstrip() if before.strip() else before + "#"
        lines[row - 1] = kept + ending
    return "".join(lines)


def _add(marks: Marks, row: int, word: str, rest: str, where: str) -> None:
    match word:
        case "expect" | "todo":
            target = marks.expect if word == "expect" else marks.todo
            target.extend(_expectations(row, rest, where))
        case "reveal":
            marks.reveal[row] = rest
        case "raises":
            if not rest.isidentifier():
                raise MarkError(f"{where}: `raises` takes the name of one exception class, not {rest!r}")
            marks.raises[row] = rest
        case "traces":
            if not rest.isdigit():
                raise MarkError(f"{where}: `traces` takes a number, not {rest!r}")
            marks.traces[row] = int(rest)
        case "wrong":
            marks.wrong.add(row)
        case "leaks":
            marks.leaks.add(row)


def _expectations(row: int, rest: str, where: str) -> Iterator[Expectation]:
    at = 0
    while at < len(rest):
        match = _EXPECT.match(rest, at)
        if match is None:
            raise MarkError(f'{where}: cannot read {rest[at:]!r} as `JIT123 [definite|possible] ["regex"]`')
        yield Expectation(row, match.group(1), match.group(2), match.group(3))
        at = match.end()


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Each comment with the row it speaks of: its own, or for comments on lines of their own the next code row."""
    lines = text.splitlines()
    for row, column, comment in _raw_comments(text):
        if not lines[row - 1][:column].strip():
            row += 1
            while row <= len(lines) and (not lines[row - 1].strip() or lines[row - 1].lstrip().startswith("#")):
                row += 1
        yield row, comment


def _raw_comments(text: str) -> Iterator[tuple[int, int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.start[1], token.string
