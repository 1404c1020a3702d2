"""Masks that select from an array, which have no shape known while tracing, written as a choice for each element."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from jitlint.fix.code import Rewrite, call, code_of
from jitlint.fix.names import Names

_NEUTRAL = {"sum": "0", "prod": "1", "any": "False", "all": "True"}


def where_of_update(node: cst.Call, names: Names, indent: str = "") -> Rewrite | None:
    """``v.at[m].set(c)`` as ``jnp.where(m, c, v)``; None for other calls, and where ``c`` is no number."""
    match node:
        case cst.Call(
            func=cst.Attribute(
                value=cst.Subscript(value=cst.Attribute(value=array, attr=cst.Name("at"))) as selected,
                attr=cst.Name("set"),
            ),
            args=[cst.Arg(keyword=None, star="", value=cst.Integer() | cst.Float() | cst.UnaryOperation() as value)],
        ):
            return _where(selected, value, array, names, lambda chosen: chosen, indent)
    return None


def where_of_selection(node: cst.Call, names: Names, indent: str = "") -> Rewrite | None:
    """``v[m].sum()`` as ``jnp.where(m, v, 0).sum()``; None for other calls, and for methods that count the elements."""
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Subscript(value=array) as selected, attr=method), args=[]):
            if method.value in _NEUTRAL:
                neutral = cst.parse_expression(_NEUTRAL[method.value])

                def reduced(chosen: cst.BaseExpression) -> cst.BaseExpression:
                    return node.with_changes(func=cst.Attribute(chosen, method))

                return _where(selected, array, neutral, names, reduced, indent)
    return None


def _where(
    selected: cst.Subscript,
    yes: cst.BaseExpression,
    no: cst.BaseExpression,
    names: Names,
    around: Callable[[cst.BaseExpression], cst.BaseExpression],
    indent: str,
) -> Rewrite | None:
    spelling = names.spell("jax.numpy.where")
    mask = selected.slice[0].slice if len(selected.slice) == 1 else None
    if spelling is None or not isinstance(mask, cst.Index) or mask.star:
        return None
    chosen = around(call(spelling.text, mask.value, yes, no))
    return Rewrite(code_of(chosen, indent), spelling.imports)
