"""What traced code stores for a while: another value takes its place before anybody can have seen it outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.source import Unit, descendants
from jitlint.semantics.state import Box

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Frame


def is_replaced(interp: Interpreter, box: Box, key: Any, node: cst.CSTNode, name: str) -> bool:
    """Does the running function set ``name``, which it sets at ``node``, once more before it ends; or what begins the
    body of a ``lax.cond`` or its kin, right after that?"""
    func, unit = interp.frame.func, interp.unit
    if func is not None and _sets_later(unit, func.lazy, node, lambda t: t is not node and unit.code(t) == name):
        return True
    trace = interp.traces[-1]
    around = interp.frames[trace.frame_at - 1] if trace.entry is None and trace.frame_at else None
    if around is None or around.func is None or around.unit is not trace.unit:
        return False
    frame = around
    return _sets_later(trace.unit, around.func.lazy, trace.node, lambda t: _is_slot(frame, t, box, key), own=True)


def _is_slot(frame: Frame, target: cst.BaseExpression, box: Box, key: Any) -> bool:
    """Is the target of an assignment in a running function this slot?"""
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name) or target.attr.value != key:
        return False
    held: object = frame.env.slots.get(target.value.value)
    return held is box


def _sets_later(
    unit: Unit, function: cst.CSTNode, node: cst.CSTNode, wanted: Callable[[cst.BaseExpression], bool], own: bool = False
) -> bool:
    """Is there an assignment to what is wanted that follows ``node`` in a function, whatever happens (``own``: or that
    holds it)?"""
    around = unit.around(node, function)
    inner: cst.CSTNode = node
    for outer in reversed(around):
        if own and isinstance(inner, cst.SimpleStatementLine) and _sets(inner, wanted):
            return True
        if isinstance(outer, cst.IndentedBlock):
            at = next((i for i, statement in enumerate(outer.body) if statement is inner), len(outer.body))
            for statement in outer.body[at + 1 :]:
                if _sets(statement, wanted):
                    return True
                if descendants(statement, cst.Return):
                    return False
        inner = outer
    return False


def _sets(statement: cst.CSTNode, wanted: Callable[[cst.BaseExpression], bool]) -> bool:
    """Does a statement assign what is wanted, in each of its branches?"""
    match statement:
        case cst.SimpleStatementLine(body=body):
            return any(wanted(t) for small in body for t in _targets(small))
        case cst.If(body=body, orelse=orelse) if orelse is not None:
            other = _sets(orelse, wanted) if isinstance(orelse, cst.If) else _in_block(orelse.body, wanted)
            return other and _in_block(body, wanted)
        case cst.With(body=body):
            return _in_block(body, wanted)
    return False


def _in_block(block: cst.BaseSuite, wanted: Callable[[cst.BaseExpression], bool]) -> bool:
    return any(_sets(statement, wanted) for statement in block.body)


def _targets(small: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    if isinstance(small, cst.Assign):
        for target in small.targets:
            yield from _flat(target.target)


def _flat(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _flat(element.value)
    else:
        yield target
