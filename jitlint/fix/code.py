"""From libcst nodes to the text that an edit writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from jitlint.findings import NewImport

_SINGLE_TOKENS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float, cst.SimpleString)

_Expression = TypeVar("_Expression", bound=cst.BaseExpression)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The text that takes the place of a node, and the imports it needs."""

    text: str
    imports: tuple[NewImport, ...] = ()


def code_of(node: cst.BaseExpression | cst.BaseSmallStatement, indent: str = "") -> str:
    """The source text of a node, its own parentheses included.

    ``indent`` is the indentation of the statement that holds it: lines inside brackets have it in front of them, and
    libcst keeps it in the blocks around, not in the node.
    """
    if not indent:
        return cst.Module(()).code_for_node(node)
    small = cst.Expr(node) if isinstance(node, cst.BaseExpression) else node
    block = cst.IndentedBlock([cst.SimpleStatementLine([small])], indent=indent)
    code = cst.Module([cst.If(cst.Name("x"), block)]).code
    return code.removeprefix(f"if x:\n{indent}").removesuffix("\n")


def as_argument(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression as it can stand among the arguments of a call: tuples and the like in parentheses."""
    if isinstance(node, cst.Tuple | cst.NamedExpr | cst.GeneratorExp | cst.Yield) and not node.lpar:
        return parenthesized(node)
    return node


def as_operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression as it can stand beside any operator."""
    return node if node.lpar or isinstance(node, _SINGLE_TOKENS) else parenthesized(node)


def parenthesized(node: _Expression) -> _Expression:
    """The expression in parentheses of its own."""
    return node.with_changes(
        lpar=[cst.LeftParen(), *node.lpar],
        rpar=[*node.rpar, cst.RightParen()],
    )


def without_parentheses(node: _Expression) -> _Expression:
    """The expression without parentheses of its own: the text for a place whose parentheses stay."""
    return node.with_changes(lpar=(), rpar=())


def call(function: str, *arguments: cst.BaseExpression) -> cst.Call:
    """``function(arguments…)``; parentheses that an argument does not need are left out."""
    return cst.Call(cst.parse_expression(function), [cst.Arg(as_argument(_bare(node))) for node in arguments])


def string_literal(value: str) -> str:
    """A string as source text, in double quotes where that needs no escape."""
    text = repr(value)
    if text.startswith("'") and '"' not in value:
        return '"' + text[1:-1].replace("\\'", "'") + '"'
    return text


def string_value(node: cst.BaseExpression) -> str | None:
    """The value of a string literal (also of several side by side); None for bytes, f-strings and everything else."""
    if not isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        return None
    value = node.evaluated_value
    return value if isinstance(value, str) else None


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything in it, whitespace and comments included."""
    yield node
    for child in node.children:
        yield from walk(child)


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without its parentheses, if there is nothing but it between them."""
    plain = all(paren.whitespace_after.empty for paren in node.lpar) and all(
        paren.whitespace_before.empty for paren in node.rpar
    )
    return without_parentheses(node) if plain else node
