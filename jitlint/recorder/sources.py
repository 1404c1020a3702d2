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


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@lru_cache(maxsize=256)
def _definitions(file: str) -> dict[int, Definition]:
    """Every function in a file by its first row, decorators included; of several on a row, the longest."""
    try:
        tree = ast.parse("\n".join(source_lines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, Definition] = {}
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = min([node.lineno, *(d.lineno for d in decorators)])
            if first not in found or _end(node) > _end(found[first]):
                found[first] = node
    return found


def _end(node: ast.expr | ast.stmt) -> int:
    return node.end_lineno or node.lineno


def last_row(file: str, first: int) -> int:
    """The last row of the function that begins at row ``first``; ``first`` itself where that is not known."""
    node = _definitions(file).get(first)
    return first if node is None else _end(node)


def always_runs(file: str, first: int, row: int) -> bool:
    """Whether each complete run of the function that begins at row ``first`` comes to ``row``.

    True for the statements of its body itself, as long as none before them may return. False says only: not known.
    """
    node = _definitions(file).get(first)
    body = [] if node is None or isinstance(node, ast.Lambda) else node.body
    while True:
        for statement in body:
            if statement.lineno <= row <= _end(statement):
                break
            if any(isinstance(inner, (ast.Return, ast.Raise)) for inner in ast.walk(statement)):
                return False
        else:
            return False
        if isinstance(statement, (ast.With, ast.AsyncWith)) and row >= statement.body[0].lineno:
            body = statement.body
            continue
        if isinstance(statement, (ast.If, ast.While)):
            return row <= _end(statement.test)
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            return row <= _end(statement.iter)
        return not isinstance(statement, (ast.Try, ast.Match, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
