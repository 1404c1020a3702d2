"""The source text of recorded functions."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=256)
def source_lines(file: str) -> tuple[str, ...]:
    """The lines of a file, none when it cannot be read."""
    try:
        return tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return ()


@lru_cache(maxsize=256)
def _definitions(file: str) -> dict[int, int]:
    """First row (decorators included) to last row of every function in a file; of several on a row, the longest."""
    try:
        tree = ast.parse("\n".join(source_lines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(d.lineno for d in decorators)])
            last = node.end_lineno or node.lineno
            found[first] = max(last, found.get(first, 0))
    return found


def last_row(file: str, first: int) -> int:
    """The last row of the function that begins at row ``first``; ``first`` itself where that is not known."""
    return _definitions(file).get(first, first)
