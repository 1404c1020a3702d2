"""Pytrees that JAX makes anew for a traced function: their constructors run with tracers.

What registers a dataclass calls its constructor, or at least ``__post_init__``, and a hand-written ``tree_unflatten`` does
what it says. (Equinox sets the fields and calls neither.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jitlint.semantics import calls
from jitlint.semantics.values import Bound, DictV, Func, ListV, Obj, Tup, Value, only_fields

if TYPE_CHECKING:
    import libcst as cst

    from jitlint.semantics.interp import Interpreter

DEPTH = 4
"""How deep objects are looked for."""


def rebuild(interp: Interpreter, arguments: Iterable[Value], node: cst.CSTNode) -> None:
    """Run what JAX runs to make the arguments of the function that is about to be traced."""
    for value in arguments:
        _rebuild(interp, value, node, 0)


def _rebuild(interp: Interpreter, value: Value | None, node: cst.CSTNode, depth: int) -> None:
    parts: Iterable[Value | None] = ()
    match value:
        case Tup(items=items):
            parts = items or ()
        case ListV():
            parts = value.content.items or ()
        case DictV() | Obj():
            parts = list(value.slots.values())
    if depth < DEPTH:
        for part in parts:
            _rebuild(interp, part, node, depth + 1)
    if isinstance(value, Obj) and value.project_class is not None:
        _construct(interp, value, node)


def _construct(interp: Interpreter, obj: Obj, node: cst.CSTNode) -> None:
    cls = obj.project_class
    assert cls is not None
    if only_fields(cls):
        check = cls.lookup("__post_init__")
        if isinstance(check, Func):
            again = Obj(cls, obj.site, obj.open)
            again.slots.update(obj.slots)
            calls.call_value(interp, Bound(check, again), calls.Args(), node)
    elif cls.facts.custom_flatten:
        flatten, unflatten = cls.lookup("tree_flatten"), cls.lookup("tree_unflatten")
        if not isinstance(flatten, Func) or not isinstance(unflatten, Func) or unflatten.flavour != "class":
            return
        interp.quiet += 1
        taken = calls.call_value(interp, Bound(flatten, obj), calls.Args(), node)  # as the caller has done
        interp.quiet -= 1
        if isinstance(taken, Tup) and taken.items is not None and len(taken.items) == 2:
            children, beside = taken.items
            calls.call_value(interp, Bound(unflatten, cls), calls.Args([beside, children]), node)
