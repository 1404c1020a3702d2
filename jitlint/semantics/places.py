"""Where the nodes of a statement stand, from what ``ast`` says.

libcst can tell, too, but has to make its own tree of the whole statement and to write it out again: fifteen times the
price. Here the nodes of both trees are held against each other, in the order of the text. What ``ast`` has no place
for, or another one, is left to libcst: arguments, parameters, most names that are no expressions, tuples and generators
(whose parentheses may be their own), patterns, the inside of f-strings.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from operator import itemgetter
from typing import Any

import libcst as cst

from jitlint.findings import Span
from jitlint.semantics import bare
from jitlint.syntax import UNREADABLE, parse

Around = Callable[[cst.CSTNode], list[cst.CSTNode]]
"""What says which nodes hold a node, the outermost one first."""


class Places:
    """The places of the nodes in one statement, of which ``root`` is the tree."""

    def __init__(self, text: str, root: cst.CSTNode | None) -> None:
        self._text = text
        self._root = root

    def span(self, node: cst.CSTNode) -> Span | None:
        """Where ``node`` stands in the statement, without its parentheses; None where libcst must be asked."""
        known = self._known.get(node)
        if known is None:
            return None
        start = self._column(known.lineno, known.col_offset)
        if isinstance(node, cst.Name) and isinstance(known, ast.FunctionDef | ast.AsyncFunctionDef):
            return self._name(node.value, known.lineno, start)
        end = self._column(known.end_lineno, known.end_col_offset)
        if self._rows[known.end_lineno - 1][: end - 1].endswith(";"):  # which libcst counts out
            return None
        return Span(known.lineno, start, known.end_lineno, end)

    def _name(self, name: str, row: int, column: int) -> Span | None:
        """Where the name of a function stands."""
        found = _DEF.match(self._rows[row - 1], column - 1)
        if found is None or found.group(1) != name:
            return None
        return Span(row, found.start(1) + 1, row, found.end(1) + 1)

    def code(self, node: cst.CSTNode, around: Around) -> str | None:
        """The text of ``node`` as libcst writes it; None where libcst must be asked."""
        span = self.span(node)
        if span is None or isinstance(node, cst.BaseCompoundStatement) or self._may_own_more(node, span, around):
            return None
        rows = self._rows[span.row - 1 : span.end_row]
        rows[-1] = rows[-1][: span.end_column - 1]
        rows[0] = rows[0][span.column - 1 :]
        if len(rows) == 1:
            return rows[0]
        text = "".join(rows)
        if any(mark in text for mark in _KEEP_INDENTS):
            return None
        indent = self._indent(around(node))
        return None if indent is None else "".join([rows[0], *(row.removeprefix(indent) for row in rows[1:])])

    def _may_own_more(self, node: cst.CSTNode, span: Span, around: Around) -> bool:
        """May what stands beside ``node``, parentheses or a semicolon, be its own?"""
        after = self._rows[span.end_row - 1][span.end_column - 1 :].lstrip()
        if isinstance(node, cst.BaseSmallStatement):
            return after.startswith((";", "\\"))
        before = self._rows[span.row - 1][: span.column - 1].rstrip()
        if not before and span.row > 1:
            before = self._rows[span.row - 2].rstrip()
            if not before or before.endswith("\\") or "#" in before:
                return True
        if not before.endswith("(") or after[:1] not in (")", "#", "\\", ""):
            return False
        match around(node)[-2:]:
            case [cst.Call(args=[first, *_]) | cst.ClassDef(bases=[first, *_]), cst.Arg(keyword=None, star="") as arg]:
                return arg is not first or before[:-1].rstrip()[-1:] in ("", "(")  # else it is that of the call
        return True

    def _indent(self, around: list[cst.CSTNode]) -> str | None:
        """What stands before each row of the innermost block around a node; None where that is not known."""
        block = next((each for each in reversed(around) if isinstance(each, cst.IndentedBlock)), None)
        if block is None:
            return ""
        first = block.body[0]
        span = self.span(first.body[0] if isinstance(first, cst.SimpleStatementLine) else first)
        return None if span is None else self._rows[span.row - 1][: span.column - 1]

    @cached_property
    def _rows(self) -> list[str]:
        return list(io.StringIO(self._text, newline=""))

    def _column(self, row: int, offset: int) -> int:
        """The column of a byte of a row in UTF-8."""
        text = self._rows[row - 1]
        return 1 + (offset if text.isascii() else len(text.encode()[:offset].decode()))

    @cached_property
    def _known(self) -> Mapping[cst.CSTNode, Any]:
        """The nodes of ``ast``, by those of libcst; none where the trees are not alike."""
        try:
            theirs = _in_ast(parse(self._text))
        except UNREADABLE:
            return {}
        mine = [] if self._root is None else _in_libcst(self._root)
        if [_STRINGS.get(kind, kind) for kind in map(type, mine)] != [kind for kind, _ in theirs]:
            return {}
        found = {node: known for node, (_, known) in zip(mine, theirs, strict=True) if known is not None}
        functions = [node for node in found if isinstance(node, cst.FunctionDef)]
        return found | {function.name: found[function] for function in functions}


_DEF = re.compile(r"(?:async\s+)?def\s+(\w+)")
_KEEP_INDENTS = ('"""', "'''", "\\\n", "\\\r")
"""In what holds one of these, libcst may take the indent of a row for a part of the node."""


def _in_libcst(root: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes below ``root`` that ``ast`` has, too, in the order of the text."""
    found: list[cst.CSTNode] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind in _SHARED:
            found.append(node)
        for name in _BELOW.get(kind, ()):
            value = getattr(node, name)
            if isinstance(value, cst.CSTNode):
                waiting.append(value)
            elif isinstance(value, list | tuple):
                waiting += reversed(value)
    return found


def _in_ast(tree: ast.Module) -> list[tuple[type[cst.CSTNode], Any]]:
    """The same nodes in ``ast``, each with its class in libcst; None for one that ``ast`` has no place for."""
    found: list[tuple[tuple[int, ...], type[cst.CSTNode], Any]] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node: Any = waiting.pop()
        kind = type(node)
        like = _CONSTANTS[type(node.value)] if kind is ast.Constant else _CLASSES.get(kind)
        if like is not None:
            order = _order(node)
            found.append((order, like, node))
            if kind is ast.BoolOp:  # ``a and b and c`` is one node here, and two in libcst
                found += [(order, like, None)] * (len(node.values) - 2)
        if kind not in _CLOSED:
            waiting += ast.iter_child_nodes(node)
    found.sort(key=itemgetter(0))
    return [(like, node) for _, like, node in found]


def _order(node: Any) -> tuple[int, ...]:
    """What sorts nodes by where they begin, those first that hold the others."""
    first = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
    return first.lineno, first.col_offset, -node.end_lineno, -node.end_col_offset


_WITHOUT_PLACE: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Arg: ("keyword",),
    cst.Attribute: ("attr",),
    cst.ClassDef: ("name",),
    cst.ConcatenatedString: ("left", "right"),
    cst.ExceptHandler: ("name",),
    cst.ExceptStarHandler: ("name",),
    cst.FormattedString: ("parts",),
    cst.FunctionDef: ("name",),
    cst.Global: ("names",),
    cst.Import: ("names",),
    cst.ImportFrom: ("module", "names"),
    cst.MatchAs: ("name",),
    cst.MatchKeywordElement: ("key",),
    cst.MatchMapping: ("rest",),
    cst.MatchSingleton: ("value",),
    cst.MatchStar: ("name",),
    cst.Nonlocal: ("names",),
    cst.Param: ("name",),
}
"""Fields whose nodes are no expressions for ``ast``."""
_BELOW = {
    kind: [name for name in reversed(names) if name not in _WITHOUT_PLACE.get(kind, ())]
    for kind, names in bare.FIELDS.items()
}
_CLOSED = frozenset({ast.Constant, ast.JoinedStr})
"""What is not entered: before Python 3.12, the places in f-strings are wrong."""
_STRINGS: dict[type[cst.CSTNode], type[cst.CSTNode]] = dict.fromkeys(
    (cst.ConcatenatedString, cst.FormattedString), cst.SimpleString
)
_CONSTANTS: dict[type[object], type[cst.CSTNode]] = {
    bool: cst.Name,
    bytes: cst.SimpleString,
    complex: cst.Imaginary,
    float: cst.Float,
    int: cst.Integer,
    str: cst.SimpleString,
    type(...): cst.Ellipsis,
    type(None): cst.Name,
}
_CLASSES: dict[type[ast.AST], type[cst.CSTNode]] = {
    ast.AnnAssign: cst.AnnAssign,
    ast.Assert: cst.Assert,
    ast.Assign: cst.Assign,
    ast.AsyncFor: cst.For,
    ast.AsyncFunctionDef: cst.FunctionDef,
    ast.AsyncWith: cst.With,
    ast.Attribute: cst.Attribute,
    ast.AugAssign: cst.AugAssign,
    ast.Await: cst.Await,
    ast.BinOp: cst.BinaryOperation,
    ast.BoolOp: cst.BooleanOperation,
    ast.Break: cst.Break,
    ast.Call: cst.Call,
    ast.ClassDef: cst.ClassDef,
    ast.Compare: cst.Comparison,
    ast.Continue: cst.Continue,
    ast.Delete: cst.Del,
    ast.Dict: cst.Dict,
    ast.DictComp: cst.DictComp,
    ast.Expr: cst.Expr,
    ast.For: cst.For,
    ast.FunctionDef: cst.FunctionDef,
    ast.Global: cst.Global,
    ast.If: cst.If,
    ast.IfExp: cst.IfExp,
    ast.Import: cst.Import,
    ast.ImportFrom: cst.ImportFrom,
    ast.JoinedStr: cst.SimpleString,
    ast.Lambda: cst.Lambda,
    ast.List: cst.List,
    ast.ListComp: cst.ListComp,
    ast.Match: cst.Match,
    ast.Name: cst.Name,
    ast.NamedExpr: cst.NamedExpr,
    ast.Nonlocal: cst.Nonlocal,
    ast.Pass: cst.Pass,
    ast.Raise: cst.Raise,
    ast.Return: cst.Return,
    ast.Set: cst.Set,
    ast.SetComp: cst.SetComp,
    ast.Subscript: cst.Subscript,
    ast.Try: cst.Try,
    ast.TryStar: cst.TryStar,
    ast.UnaryOp: cst.UnaryOperation,
    ast.While: cst.While,
    ast.With: cst.With,
    ast.Yield: cst.Yield,
    ast.YieldFrom: cst.Yield,
}
_SHARED = frozenset({*_CLASSES.values(), *_CONSTANTS.values(), *_STRINGS})
