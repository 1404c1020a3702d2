"""Where a fix writes Python on a traced value as array operations: the code to replace, and what takes its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeGuard

import libcst as cst

from jitlint.findings import Span
from jitlint.fix.code import Rewrite
from jitlint.fix.conversions import as_type, jax_of_numpy
from jitlint.fix.elementwise import elementwise, numpy_of_builtin, where_of_if, where_of_ternary
from jitlint.fix.masks import where_of_selection, where_of_update
from jitlint.fix.names import Names

if TYPE_CHECKING:
    from jitlint.semantics.source import Unit

Replacement = tuple[Span, Rewrite]


def array_test(unit: Unit, node: cst.CSTNode, construct: str, names: Names) -> Replacement | None:
    """A truth test of arrays, with the choice that it decides, as ``jnp.where``, ``jnp.logical_not`` and the like."""
    above = unit.around(node)
    if construct in ("min", "max"):
        return _replaced(unit, node, numpy_of_builtin(node, names) if isinstance(node, cst.Call) else None)
    if construct not in ("if", "ternary", "not", "and", "or", "chain") or not isinstance(node, cst.BaseExpression):
        return None
    whole = node
    while above and _tests(parent := above[-1]):
        whole = parent
        above.pop()
    match above[-1] if above else None:
        case cst.IfExp(test=test) as choice if test is whole:
            return _replaced(unit, choice, where_of_ternary(choice, names))
        case cst.If(test=test) as branch if test is whole:
            return _branch(unit, branch, above[:-1], names)
        case cst.While() | cst.Assert() | cst.CompIf():
            return None
    return _replaced(unit, whole, elementwise(whole, names))


def only_refuses(unit: Unit, node: cst.CSTNode) -> bool:
    """Is the test one of those that must hold for an ``if`` that does nothing but raise?"""
    above = unit.around(node)
    whole = node
    while above and isinstance(parent := above[-1], cst.BooleanOperation) and isinstance(parent.operator, cst.And):
        whole = parent
        above.pop()
    branch = above[-1] if above else None
    if not isinstance(branch, cst.If) or branch.test is not whole or branch.orelse is not None:
        return False
    *_, last = branch.body.body
    ends = last.body[0] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(ends, cst.Raise) and len(branch.body.body) == 1


def array_conversion(unit: Unit, node: cst.CSTNode, names: Names, in_jax: Callable[[str], bool]) -> Replacement | None:
    """``np.sin(x)`` as ``jnp.sin(x)``, ``int(x)`` as ``x.astype(int)``; ``in_jax`` tells which names jax.numpy has."""
    call = call_around(unit, node) or node
    if not isinstance(call, cst.Call):
        return None
    return _replaced(unit, call, jax_of_numpy(call, names, in_jax) or as_type(call, names))


def call_around(unit: Unit, node: cst.CSTNode) -> cst.Call | None:
    """The call that ``node`` is an argument of, or None."""
    above = unit.around(node)
    call = above[-2] if len(above) > 1 and isinstance(above[-1], cst.Arg) else None
    return call if isinstance(call, cst.Call) else None


def masked(unit: Unit, node: cst.CSTNode, names: Names) -> Replacement | None:
    """``v.at[m].set(c)`` as ``jnp.where(m, c, v)``, ``v[m].sum()`` as ``jnp.where(m, v, 0).sum()``."""
    above = unit.around(node)
    if not isinstance(node, cst.Subscript) or len(above) < 2 or not isinstance(above[-1], cst.Attribute):
        return None
    call = above[-2]
    if not isinstance(call, cst.Call) or call.func is not above[-1]:
        return None
    return _replaced(unit, call, where_of_update(call, names) or where_of_selection(call, names))


def _tests(node: cst.CSTNode) -> TypeGuard[cst.BooleanOperation | cst.UnaryOperation]:
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Not)
    return isinstance(node, cst.BooleanOperation)


def _branch(unit: Unit, branch: cst.If, above: list[cst.CSTNode], names: Names) -> Replacement | None:
    block = above[-1] if above else None
    if not isinstance(block, cst.IndentedBlock):
        return None  # an elif, or the top level of a module, where nothing is traced
    at = next(i for i, statement in enumerate(block.body) if statement is branch)
    following = block.body[at + 1] if branch.orelse is None and at + 1 < len(block.body) else None
    first = unit.span(branch)
    rewrite = where_of_if(branch, names, following=following, indent=" " * (first.column - 1))
    if rewrite is None:
        return None
    last = branch if following is None or not rewrite.text.startswith("return") else following
    end = unit.span(last)
    return Span(first.row, first.column, end.end_row, end.end_column), rewrite


def _replaced(unit: Unit, node: cst.CSTNode, rewrite: Rewrite | None) -> Replacement | None:
    return None if rewrite is None else (unit.span(node), rewrite)
