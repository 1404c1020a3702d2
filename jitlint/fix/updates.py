"""Array updates: what raises on a jax array, or is lost, written as an update that gives a new array."""

from __future__ import annotations

from typing import TypeGuard

import libcst as cst

from jitlint.fix.code import Rewrite, as_argument, as_operand, code_of

_METHODS: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "add",
    cst.SubtractAssign: "add",
    cst.MultiplyAssign: "multiply",
    cst.DivideAssign: "divide",
    cst.PowerAssign: "power",
}
"""Methods of ``x.at[i]`` for augmented assignments; others read ``x[i]`` and set it."""

_OPERATORS: dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]] = {
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.MatrixMultiplyAssign: cst.MatrixMultiply,
    cst.BitAndAssign: cst.BitAnd,
    cst.BitOrAssign: cst.BitOr,
    cst.BitXorAssign: cst.BitXor,
    cst.LeftShiftAssign: cst.LeftShift,
    cst.RightShiftAssign: cst.RightShift,
}


def at_update(statement: cst.Assign | cst.AugAssign, indent: str = "") -> Rewrite | None:
    """``x[i] = v`` and ``x[i] += v`` as ``x = x.at[i].set(v)`` and ``x = x.at[i].add(v)``.

    The text replaces the whole statement. None where ``x`` is more than a name or an attribute (reading it twice might
    do something twice), or where there are several targets.
    """
    if isinstance(statement, cst.Assign):
        if len(statement.targets) != 1:
            return None
        target = statement.targets[0].target
    else:
        target = statement.target
    if not isinstance(target, cst.Subscript) or not is_place(target.value):
        return None
    if isinstance(statement, cst.Assign):
        method, value = "set", statement.value
    else:
        method, value = _augmented(target, statement)
    located = target.with_changes(value=cst.Attribute(target.value, cst.Name("at")), lpar=(), rpar=())
    updated = cst.Call(cst.Attribute(located, cst.Name(method)), [cst.Arg(as_argument(value))])
    return Rewrite(code_of(cst.Assign([cst.AssignTarget(target.value)], updated), indent))


def kept_update(statement: cst.Expr, indent: str = "") -> Rewrite | None:
    """``x.at[i].set(v)`` as a statement, whose result is lost, as ``x = x.at[i].set(v)``.

    The text replaces the statement. None where it is no such call, or ``x`` is more than a name or an attribute.
    """
    node: cst.BaseExpression = statement.value
    while isinstance(node, cst.Call | cst.Attribute | cst.Subscript):
        base = node.func if isinstance(node, cst.Call) else node.value
        if isinstance(node, cst.Attribute) and node.attr.value == "at" and is_place(base):
            return Rewrite(code_of(cst.Assign([cst.AssignTarget(base)], statement.value), indent))
        node = base
    return None


def kept_result(statement: cst.Expr, indent: str = "") -> Rewrite | None:
    """``x.sort()`` as a statement, for an array ``x`` whose methods change nothing, as ``x = x.sort()``.

    The text replaces the statement. None where it is no such call, or ``x`` is more than a name or an attribute.
    """
    call = statement.value
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or not is_place(call.func.value):
        return None
    return Rewrite(code_of(cst.Assign([cst.AssignTarget(call.func.value)], call), indent))


def is_place(node: cst.BaseExpression) -> TypeGuard[cst.Name | cst.Attribute | cst.Subscript]:
    """Whether reading and assigning it, twice, does nothing but that: a name, attributes, a constant key of one."""
    if isinstance(node, cst.Attribute) or (isinstance(node, cst.Subscript) and _is_constant_key(node)):
        return is_place(node.value)
    return isinstance(node, cst.Name)


def _is_constant_key(node: cst.Subscript) -> bool:
    """``params["w"]``: a dict's item, not an array's."""
    index = node.slice[0].slice
    return len(node.slice) == 1 and isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString)


def _augmented(target: cst.Subscript, statement: cst.AugAssign) -> tuple[str, cst.BaseExpression]:
    """The method and its argument for an augmented assignment."""
    kind = type(statement.operator)
    if kind is cst.SubtractAssign:
        return "add", cst.UnaryOperation(cst.Minus(), as_operand(statement.value))
    if kind in _METHODS:
        return _METHODS[kind], statement.value
    operator = _OPERATORS[kind]()
    return "set", cst.BinaryOperation(target, operator, as_operand(as_argument(statement.value)))
