"""What ``ast`` says of the texts of users."""

from __future__ import annotations

import ast
import warnings

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What :func:`parse` raises."""


def parse(text: str) -> ast.Module:
    """The tree of a text, without the warnings that Python has about the escapes in it, which are not our message.

    Raises SyntaxError, ValueError for null bytes and lone surrogates, and RecursionError or MemoryError for what is
    nested too deeply.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
