"""Conversions of an array to a host value, written as array operations."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from jitlint.fix.code import Rewrite, as_argument, as_operand, code_of
from jitlint.fix.names import Names

_TYPES = frozenset({"int", "float", "complex", "bool"})


def jax_of_numpy(node: cst.Call, names: Names, in_jax: Callable[[str], bool], indent: str = "") -> Rewrite | None:
    """``np.sin(x)`` as ``jnp.sin(x)``, where ``in_jax`` knows the name and all arguments are given by position."""
    meaning = names.meaning(node.func) or ""
    if not meaning.startswith("numpy.") or any(arg.keyword is not None or arg.star for arg in node.args):
        return None
    dotted = "jax." + meaning
    spelling = names.spell(dotted) if in_jax(dotted) else None
    if spelling is None:
        return None
    return Rewrite(code_of(node.with_changes(func=cst.parse_expression(spelling.text)), indent), spelling.imports)


def as_array(node: cst.BaseExpression, names: Names, indent: str = "") -> Rewrite | None:
    """``[a, b]`` as ``jnp.asarray([a, b])``."""
    spelling = names.spell("jax.numpy.asarray")
    if spelling is None:
        return None
    return Rewrite(f"{spelling.text}({code_of(as_argument(node), indent)})", spelling.imports)


def as_type(node: cst.Call, names: Names, indent: str = "") -> Rewrite | None:
    """``int(x)`` as ``x.astype(int)``; None for other calls."""
    if names.meaning(node.func) not in _TYPES or len(node.args) != 1:
        return None
    argument = node.args[0]
    if argument.keyword is not None or argument.star or not isinstance(node.func, cst.Name):
        return None
    method = cst.Attribute(as_operand(argument.value), cst.Name("astype"))
    return Rewrite(code_of(cst.Call(method, [cst.Arg(node.func)]), indent))
