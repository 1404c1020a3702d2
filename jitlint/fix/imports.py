"""Where a missing import goes: among its neighbours in isort's order, never inside a block.

Imports are edited as text with the positions of ``ast``, so that a fix needs no second library and everything else in
the file stays as it was. Only unconditional imports at module level count as present: one under ``if TYPE_CHECKING``
does not exist when the program runs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeGuard

from jitlint import syntax
from jitlint.findings import Edit, NewImport, Span
from jitlint.fix.text import Lines, newline_of, with_newlines

_FUTURE, _STDLIB, _THIRD_PARTY, _RELATIVE = range(4)

_Key = tuple[int, int, str]


def add_imports(text: str, imports: Iterable[NewImport]) -> str:
    """The module ``text`` with what is missing of ``imports`` added.

    Raises SyntaxError when the text is not valid Python for the running interpreter.
    """
    for new in sorted(set(imports), key=_key_of_new):
        body = parse(text).body
        if not any(_binds(statement, new) for statement in body):
            lines = Lines(text)
            row, column, added = _merged(lines, body, new) or _separate(lines, body, new)
            at = lines.offset(row, column)
            text = text[:at] + with_newlines(added, newline_of(text)) + text[at:]
    return text


def import_edits(filename: str, text: str, imports: Iterable[NewImport]) -> tuple[Edit, ...]:
    """The same as edits of ``text``: one that spans what changes, or none when nothing is missing.

    Raises SyntaxError as :func:`add_imports` does.
    """
    return _import_edits(filename, text, frozenset(imports))


@lru_cache(maxsize=128)
def _import_edits(filename: str, text: str, imports: frozenset[NewImport]) -> tuple[Edit, ...]:
    # Many findings of a file need the same import, and each time the file would be parsed.
    new = add_imports(text, imports)
    if new == text:
        return ()
    start, end, added = _difference(text, new)
    lines = Lines(text)
    return (Edit(filename, Span(*lines.position(start), *lines.position(end)), added),)


def _difference(old: str, new: str) -> tuple[int, int, str]:
    """What of ``old`` is replaced by what: whole lines where lines were added, else as little as possible."""
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    for start in (old.rfind("\n", 0, same) + 1, same):
        limit = min(len(old), len(new)) - start
        tail = next((i for i in range(limit) if old[-1 - i] != new[-1 - i]), limit)
        end = len(old) - tail
        if start == end:
            break
    return start, end, new[start : len(new) - tail]


def parse(text: str) -> ast.Module:
    """As :func:`jitlint.syntax.parse`; raises SyntaxError and nothing else."""
    try:
        return syntax.parse(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "nested too deeply") from error


def _binds(statement: ast.stmt, new: NewImport) -> bool:
    if new.name is not None:
        return _is_from(statement, new.module) and any(
            alias.name == new.name and alias.asname in (None, new.name) for alias in statement.names
        )
    return isinstance(statement, ast.Import) and any(
        alias.asname is None and (alias.name == new.module or alias.name.startswith(new.module + "."))
        for alias in statement.names
    )


def _is_from(statement: ast.stmt, module: str) -> TypeGuard[ast.ImportFrom]:
    return isinstance(statement, ast.ImportFrom) and statement.level == 0 and statement.module == module


def _merged(lines: Lines, body: Sequence[ast.stmt], new: NewImport) -> tuple[int, int, str] | None:
    """Row, column and text that add the name to a ``from`` import of the same module, if the file begins with one."""
    if new.name is None:
        return None
    statement = next((s for s in _header(body) if _is_from(s, new.module) and s.names[0].name != "*"), None)
    if statement is None:
        return None
    assert isinstance(statement, ast.ImportFrom)
    names = [alias.name for alias in statement.names]
    later = next((alias for alias in statement.names if alias.name > new.name), None)
    if names != sorted(names):
        later = None
    neighbour = later or statement.names[-1]
    column = _column(lines, neighbour.lineno, neighbour.col_offset)
    before = lines.row(neighbour.lineno)[: column - 1]
    gap = " " if before.strip() else "\n" + before
    if later is not None:
        return neighbour.lineno, column, f"{new.name},{gap}"
    assert neighbour.end_lineno is not None and neighbour.end_col_offset is not None
    return neighbour.end_lineno, _column(lines, neighbour.end_lineno, neighbour.end_col_offset), f",{gap}{new.name}"


def _separate(lines: Lines, body: Sequence[ast.stmt], new: NewImport) -> tuple[int, int, str]:
    """Row, column and text of a new import statement."""
    statement = f"import {new.module}" if new.name is None else f"from {new.module} import {new.name}"
    header = _header(body)
    present = [(key, s) for s in header if (key := _key_of(s)) is not None]
    key = _key_of_new(new)
    section = [(k, s) for k, s in present if k[0] == key[0]]
    smaller = [s for k, s in section if k <= key]
    if smaller:
        return _after(lines, body, smaller[-1], f"{statement}\n")
    if section:
        return _before(body, section[0][1], f"{statement}\n")
    lower = [s for k, s in present if k[0] < key[0]]
    if lower:
        return _after(lines, body, lower[-1], f"\n{statement}\n")
    if present:
        return _before(body, present[0][1], f"{statement}\n\n")
    if header and isinstance(header[0], ast.Expr):
        return _after(lines, body, header[0], f"\n{statement}\n")
    if not body:
        return 1, 1, f"{statement}\n"
    blank = "\n\n" if isinstance(body[0], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else "\n"
    row, column, added = _before(body, body[0], f"{statement}\n{blank}")
    return _above_comment(lines, row), column, added


def _header(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements a module begins with: docstring, imports, and the conditionals between them."""
    header: list[ast.stmt] = []
    for position, statement in enumerate(body):
        docstring = position == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not docstring and not isinstance(statement, ast.Import | ast.ImportFrom | ast.If | ast.Try):
            break
        header.append(statement)
    return header


def _key_of(statement: ast.stmt) -> _Key | None:
    if isinstance(statement, ast.Import):
        return _key(statement.names[0].name, 0, 0)
    if isinstance(statement, ast.ImportFrom):
        return _key(statement.module or "", statement.level, 1)
    return None


def _key_of_new(new: NewImport) -> _Key:
    return _key(new.module, 0, 0 if new.name is None else 1)


def _key(module: str, level: int, style: int) -> _Key:
    """isort's order: section, plain imports before ``from`` imports, then the name."""
    if level:
        section = _RELATIVE
    elif module == "__future__":
        section = _FUTURE
    else:
        section = _STDLIB if module.partition(".")[0] in sys.stdlib_module_names else _THIRD_PARTY
    return section, style, module.lower()


def _after(lines: Lines, body: Sequence[ast.stmt], statement: ast.stmt, text: str) -> tuple[int, int, str]:
    """Insertion below the rows of a statement and of those that share its last row."""
    end = _last_row(statement)
    for other in body:
        if other.lineno == end:
            end = max(end, _last_row(other))
    below = lines.row(end + 1).strip()
    if text.startswith("\n") and below and not below.startswith(("import ", "from ")):
        text += "\n"
    if end < len(lines):
        return end + 1, 1, text
    return end, len(lines.row(end)) + 1, "\n" + text.removesuffix("\n")


def _before(body: Sequence[ast.stmt], statement: ast.stmt, text: str) -> tuple[int, int, str]:
    """Insertion above the rows of a statement and of those that share its first row."""
    row = _first_row(statement)
    for other in reversed(body):
        if _first_row(other) <= row <= _last_row(other):
            row = _first_row(other)
    return row, 1, text


def _above_comment(lines: Lines, row: int) -> int:
    """The first row of the comment right above ``row``; one that begins the file (licence, shebang) stays first."""
    first = row
    while first > 1 and lines.row(first - 1).lstrip().startswith("#"):
        first -= 1
    return row if first == 1 else first


def _first_row(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _last_row(statement: ast.stmt) -> int:
    assert statement.end_lineno is not None
    return statement.end_lineno


def _column(lines: Lines, row: int, offset: int) -> int:
    """A column in characters, from 1, of an ``ast`` offset, which counts UTF-8 bytes from 0."""
    return len(lines.row(row).encode()[:offset].decode()) + 1
