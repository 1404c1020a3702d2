"""Put an item into a bracketed, comma-separated sequence of libcst nodes, laid out as its neighbours are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

_Node = TypeVar("_Node", cst.Arg, cst.BaseElement)


def insert(items: Sequence[_Node], index: int, new: _Node, opening: cst.BaseParenthesizableWhitespace) -> list[_Node]:
    """The items with ``new`` at ``index``; ``opening`` is the whitespace after the opening bracket.

    A sequence written one item a line gets another line; a trailing comma stays if there is one; a comment stays with
    the item that it follows.
    """
    result: list[_Node] = list(items)
    if not result:
        return [new]
    separator = _separator(result, opening)
    if index < len(result):
        result.insert(index, new.with_changes(comma=separator))
        return result
    last = result[-1]
    result[-1], closing = _split_closing(last, new, separator)
    result.append(closing)
    return result


def _separator(items: Sequence[_Node], opening: cst.BaseParenthesizableWhitespace) -> cst.Comma:
    """The comma between two items: as between the last two, else on a new line if the first item is on one."""
    if len(items) > 1 and isinstance(items[-2].comma, cst.Comma):
        return cst.Comma(whitespace_after=_plain(items[-2].comma.whitespace_after))
    if isinstance(opening, cst.ParenthesizedWhitespace):
        return cst.Comma(whitespace_after=_plain(opening))
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def _plain(whitespace: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The same line break without comments and blank lines."""
    if isinstance(whitespace, cst.ParenthesizedWhitespace):
        first = cst.TrailingWhitespace(newline=whitespace.first_line.newline)
        return whitespace.with_changes(first_line=first, empty_lines=())
    return whitespace


def _split_closing(last: _Node, new: _Node, separator: cst.Comma) -> tuple[_Node, _Node]:
    """The item that was last, now followed by a separator, and the new one, closing the sequence as that did."""
    trailing = isinstance(last.comma, cst.Comma)
    if isinstance(last.comma, cst.Comma):
        closing = last.comma.whitespace_after
    elif isinstance(last, cst.Arg):
        closing = last.whitespace_after_arg
    else:
        closing = cst.SimpleWhitespace("")
    if isinstance(closing, cst.ParenthesizedWhitespace) and (closing.first_line.comment or closing.empty_lines):
        after = separator.whitespace_after
        indent = after.last_line if isinstance(after, cst.ParenthesizedWhitespace) else _deeper(closing.last_line)
        separator = cst.Comma(whitespace_after=closing.with_changes(last_line=indent))
        closing = _plain(closing)
    before = last.with_changes(comma=separator)
    if isinstance(before, cst.Arg):
        before = before.with_changes(whitespace_after_arg=cst.SimpleWhitespace(""))
    if trailing:
        return before, new.with_changes(comma=cst.Comma(whitespace_after=closing))
    if isinstance(new, cst.Arg):
        new = new.with_changes(whitespace_after_arg=closing)
    return before, new


def _deeper(whitespace: cst.SimpleWhitespace) -> cst.SimpleWhitespace:
    return cst.SimpleWhitespace(whitespace.value + "    ")
