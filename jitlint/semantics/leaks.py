"""Leaks: tracers that are stored where they outlive their trace, and the use of such values.

While a trace runs, what traced code stores outside is a value like any other. When the outermost trace ends, the traced
values that were stored are marked (``via`` is ``leaked``), wherever they lie: JAX refuses them in any other place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics import donation
from jitlint.semantics.events import LeakedUse, OuterWrite
from jitlint.semantics.records import replace
from jitlint.semantics.state import Box
from jitlint.semantics.values import (
    UNKNOWN,
    Array,
    DictV,
    ListV,
    Origin,
    Tup,
    Union,
    Unknown,
    Value,
    leaves,
    traced_leaf,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.source import Unit

LEAKED = "leaked"
DEPTH = 4


def stored(
    interp: Interpreter, box: Box, key: Any, node: cst.CSTNode, event: OuterWrite | None = None, told: bool = True
) -> None:
    """A traced value is being stored in a slot that was there before the outermost trace; ``event`` tells of it."""
    if box.birth <= interp.traces[0].birth:
        interp.leaking.append((box, key, node, interp.unit, told and not interp.left_out, event))


def is_stored(interp: Interpreter, box: Box, key: Any) -> bool:
    """Has the outermost trace stored a traced value there?"""
    return any(owner is box and name == key for owner, name, *_ in interp.leaking)


def may_be_replaced(interp: Interpreter, box: Box) -> None:
    """Attributes are set of which it is not known which they are: those that hold tracers may be among them."""
    for owner, key, _, _, _, event in interp.leaking:
        if owner is box and key in box.slots and traced_leaf(box.slots[key]) is not None:
            interp.trail.write(box, key, UNKNOWN)
            if event is not None:
                event.replaced = True


def trace_ended(interp: Interpreter) -> None:
    """Mark what the outermost trace, which has just ended, left behind."""
    stores, interp.leaking = interp.leaking, []
    left = {(id(box), key) for box, key, _, _, told, _ in stores if told}
    for box, key, node, unit, told, event in stores:
        if not told and (id(box), key) in left:
            continue
        value = box.slots.get(key)
        if event is not None and event.kind == "attribute" and _is_other(value):
            event.replaced = True
        if value is not None and traced_leaf(value) is not None:
            interp.trail.write(box, key, _mark(interp, value, node, unit) if told else UNKNOWN)
    for memo, node, unit in interp.leaking_memo:
        interp.memo[memo] = _mark(interp, interp.memo[memo], node, unit)
    interp.leaking_memo = []


def _is_other(value: Value | None) -> bool:
    """Is it known to be something else than a tracer?"""
    return value is not None and not isinstance(value, Unknown) and traced_leaf(value) is None


def _mark(interp: Interpreter, value: Value, node: cst.CSTNode, unit: Unit, depth: int = 0) -> Value:
    if depth > DEPTH:
        return value
    match value:
        case Array() if value.is_traced and value.via != LEAKED:
            interp.leaked_under[id(node)] = interp.root
            interp.unusable = True
            return replace(value, via=LEAKED, origin=Origin("stored here while tracing", node, unit, value.origin))
        case Tup(items=items, elem=elem):
            return replace(
                value,
                items=None if items is None else tuple(_mark(interp, i, node, unit, depth + 1) for i in items),
                elem=None if elem is None else _mark(interp, elem, node, unit, depth + 1),
            )
        case Union(members=ms):
            return Union(tuple(_mark(interp, m, node, unit, depth + 1) for m in ms))
        case ListV() | DictV():
            for key, inner in list(value.slots.items()):
                interp.trail.write(value, key, _mark(interp, inner, node, unit, depth + 1))
    return value


def check(
    interp: Interpreter, values: Iterable[Value], node: cst.CSTNode, error: str = "UnexpectedTracerError"
) -> bool:
    """Record the use of a tracer that escaped its trace, or of a donated buffer; True when it is certain."""
    # in the module's own run, outside of any trace, all tracers are such
    host = not interp.traces and interp.root is None
    if not host and not interp.unusable:
        return False
    values = list(values)
    if donation.check(interp, values, node):
        return True
    for value in values:
        for leaf in leaves(value):
            if isinstance(leaf, Array) and (host or leaf.via == LEAKED) and leaf.is_traced:
                _emit(interp, value, leaf, node, error)
                return not leaf.maybe and not isinstance(value, Union)
    return False


def _emit(interp: Interpreter, value: Value, leaf: Array, node: cst.CSTNode, error: str) -> None:
    origin = leaf.origin
    unit = interp.unit
    inside = ""
    if interp.traces:
        # JAX finds a tracer of another trace when the trace that uses it ends: at the call from outside
        outermost = interp.traces[0]
        inside = outermost.entry.name if outermost.entry is not None else outermost.kind
        node, unit, error = outermost.node, outermost.unit, "UnexpectedTracerError"
    elif origin is not None and origin.node is interp.current and interp.frame.call is not None:
        # a statement that uses what it stored before: the store is reported there, so the use where it is called
        inside = interp.frame.qualname
        node, unit = interp.frame.call, interp.frames[-2].unit
    under = interp.leaked_under.get(id(origin.node)) if origin is not None else None
    event = LeakedUse(
        node=node,
        unit=unit,
        value=value,
        name=inside,
        source=origin,
        error=error,
        possible=leaf.maybe or isinstance(value, Union) or under is not interp.root,
    )
    interp.emit(event)
