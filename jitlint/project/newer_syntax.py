"""The index of a module whose syntax the running Python does not know, made from its libcst tree.

Slow, and rare: it is only asked after ``ast`` has refused the text.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from libcst.helpers import get_full_name_for_node

from jitlint.project.model import ModuleIndex, TopStatement
from jitlint.project.names import absolute_name, prefixes, requests_from


def index_module(module: cst.Module, rows: list[str], package: str, mentions_jax: bool) -> ModuleIndex:
    """Index the parsed ``module`` whose text is ``rows``; ``package`` is where its relative imports start from."""
    statements = tuple(_statements(module, rows))
    return ModuleIndex(statements, frozenset(_imports(module, package)), mentions_jax, frozenset(_requests(module)))


def _statements(module: cst.Module, rows: list[str]) -> Iterator[TopStatement]:
    row = 1 + sum(_row_count(module, line) for line in module.header)
    for statement in module.body:
        first_row = row + sum(_row_count(module, line) for line in statement.leading_lines)
        row += _row_count(module, statement)
        last_row = _without_trailing_blank_rows(rows, first_row, row - 1)
        text = "".join(rows[first_row - 1 : last_row])
        # Names that are only bound count as mentioned here, too: safe for a gate, and simpler.
        mentions = {node.value for node in _descendants(statement) if isinstance(node, cst.Name)}
        yield TopStatement(
            first_row,
            last_row,
            text if text.endswith(("\n", "\r")) else text + "\n",
            _kind(statement),
            tuple(dict.fromkeys(_binds(statement))),
            tuple(sorted(mentions)),
        )


def _row_count(module: cst.Module, node: cst.CSTNode) -> int:
    code = module.code_for_node(node)
    return code.count("\n") + code.count("\r") - code.count("\r\n")


def _without_trailing_blank_rows(rows: list[str], first_row: int, last_row: int) -> int:
    """libcst gives comments and blank rows at the end of a block to the block; ``ast`` does not."""
    last_row = min(last_row, len(rows))
    while last_row > first_row and rows[last_row - 1].strip()[:1] in ("", "#"):
        last_row -= 1
    return last_row


def _kind(statement: cst.BaseStatement) -> str:
    match statement:
        case cst.FunctionDef():
            return "def"
        case cst.ClassDef():
            return "class"
        case cst.SimpleStatementLine(body=body) if all(isinstance(part, cst.Import | cst.ImportFrom) for part in body):
            return "import"
    return "other"


def _descendants(node: cst.CSTNode, *, own_scope: bool = False) -> Iterator[cst.CSTNode]:
    """``node`` and all below it; with ``own_scope`` not what is inside functions, classes and lambdas."""
    yield node
    if own_scope and isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Lambda):
        return
    for child in node.children:
        yield from _descendants(child, own_scope=own_scope)


def _imports(tree: cst.CSTNode, package: str) -> Iterator[str]:
    for node in _descendants(tree):
        match node:
            case cst.Import(names=aliases):
                yield from (get_full_name_for_node(alias.name) or "" for alias in aliases)
            case cst.ImportFrom(module=source, relative=dots):
                yield absolute_name(package, (source and get_full_name_for_node(source)) or "", len(dots))


def _requests(tree: cst.CSTNode) -> Iterator[tuple[str, int]]:
    for node in _descendants(tree):
        match node:
            case cst.Import(names=aliases):
                for alias in aliases:
                    yield from ((name, 0) for name in prefixes(get_full_name_for_node(alias.name) or ""))
            case cst.ImportFrom(module=source, names=aliases, relative=dots):
                names = [] if isinstance(aliases, cst.ImportStar) else aliases
                dotted = (source and get_full_name_for_node(source)) or ""
                yield from requests_from(dotted, (alias.evaluated_name for alias in names), len(dots))


def _binds(statement: cst.CSTNode) -> Iterator[str]:
    """The names a statement binds in its own scope."""
    for node in _descendants(statement, own_scope=True):
        match node:
            case cst.FunctionDef(name=target) | cst.ClassDef(name=target) | cst.TypeAlias(name=target):
                yield target.value
            case cst.ImportAlias(asname=cst.AsName(name=target)) | cst.ImportAlias(name=target, asname=None):
                yield from _target_names(target)
            case (
                cst.AssignTarget(target=target)
                | cst.AugAssign(target=target)
                | cst.NamedExpr(target=target)
                | cst.For(target=target)
                | cst.WithItem(asname=cst.AsName(name=target))
                | cst.AnnAssign(target=target, value=cst.BaseExpression())
            ):
                yield from _target_names(target)
            case (
                cst.MatchAs(name=cst.Name(value=name))
                | cst.MatchStar(name=cst.Name(value=name))
                | cst.MatchMapping(rest=cst.Name(value=name))
            ):
                yield name


def _target_names(target: cst.CSTNode) -> Iterator[str]:
    match target:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _target_names(element.value)
