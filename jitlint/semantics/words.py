"""Variables that are compared with strings: those that only choose among code, and numbers that a word may stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.bare import nodes, same

if TYPE_CHECKING:
    from jitlint.semantics.source import Unit


def may_be_a_word(unit: Unit, node: cst.CSTNode) -> bool:
    """Is what a test compares with a string read for something else than such tests and messages, too? Then it is a
    value that a word may stand for (``scale == "auto"``), and an array is rightly none of them."""
    above = unit.around(node)
    if isinstance(node, cst.Comparison):
        operands = [node.left, *(c.comparator for c in node.comparisons)]
    else:  # a pattern
        operands = [match.subject for match in above if isinstance(match, cst.Match)][-1:]
    functions = [n for n in above if isinstance(n, cst.FunctionDef | cst.Lambda)]
    for operand in operands:
        within = functions[0] if functions and isinstance(operand, cst.Name) else unit.node
        if isinstance(operand, cst.Name) and not _is_bound(unit, operand.value, functions) or within is None:
            continue
        if any(same(operand, other) and _reads(unit, other) for other in nodes(within)):
            return True
    return False


def _is_bound(unit: Unit, name: str, functions: Sequence[cst.CSTNode]) -> bool:
    """Is it a variable of a function around, and no constant of the module?"""
    return any(
        isinstance(n, cst.Name)
        and n.value == name
        and (n in unit.targets or isinstance(unit.parents.get(n), cst.Param))
        for function in functions
        for n in nodes(function)
    )


def _reads(unit: Unit, node: cst.CSTNode) -> bool:
    """Is it asked for there, other than to be compared with a string or None, or for a message?"""
    if node in unit.targets:
        return False
    *above, parent = unit.around(node)
    match parent:
        case cst.Param() | cst.AssignTarget() | cst.MatchAs():
            return False
        case cst.Arg(keyword=keyword) if keyword is node:
            return False
        case cst.Attribute(attr=attr):
            return attr is not node and not hasattr(str, attr.value)
        case cst.Match():
            return False
        case cst.Comparison(left=left, comparisons=comparisons):
            return not all(_is_word(x) for x in (left, *(c.comparator for c in comparisons)) if x is not node)
        case cst.ComparisonTarget():
            return not _is_word(above[-1].left) if isinstance(above[-1], cst.Comparison) else True
    return not any(isinstance(n, cst.Raise | cst.Assert | cst.FormattedString) for n in (*above, parent))


def _is_word(node: cst.CSTNode) -> bool:
    """Is it a string, None, or a collection of such? Names may be constants."""
    match node:
        case cst.SimpleString() | cst.ConcatenatedString() | cst.Name() | cst.Attribute():
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements) | cst.Set(elements=elements):
            return all(_is_word(e.value) for e in elements)
    return False
