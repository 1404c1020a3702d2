"""Arrays in what a pytree class keeps static: JAX compares it with ``==`` when it is given a second instance.

Runs after the program. The types of the fields are declared in the class; what a hand-written ``tree_flatten`` puts into
its second result is found by running it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import calls, classes, demands, roots
from jitlint.semantics.calls import Args
from jitlint.semantics.entry import Entry
from jitlint.semantics.events import StaticField
from jitlint.semantics.validity import is_pytree
from jitlint.semantics.values import Array, ClassV, Func, Obj, Value, members

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Frame
    from jitlint.semantics.source import Unit


def report(interp: Interpreter) -> None:
    """Record a :class:`StaticField` for each array that is static."""
    for entry in interp.entries:
        if entry.kind in ("jit", "pjit") and entry.target is not None:
            _report_declared(interp, entry, entry.target)
    for cls in list(interp.classes):
        flatten = cls.slots.get("tree_flatten")
        if cls.facts.custom_flatten and isinstance(flatten, Func) and isinstance(flatten.lazy, cst.FunctionDef):
            _report_flattened(interp, cls, flatten, flatten.lazy)


def _report_declared(interp: Interpreter, entry: Entry, target: Func) -> None:
    module = calls.module_of(interp, target)
    for place, param in enumerate(entry.params or ()):
        if param.name in entry.statics:
            continue
        with interp.as_root(module, target.unit, target.lazy):
            if place == 0 and target.owner is not None and target.flavour == "":
                said: Value | None = calls.instance_of(interp, target.owner)
            else:
                said = demands.annotated(interp, target, param)
            for given in members(said) if said is not None else ():
                for cls, name, node in _declared(given):
                    _emit(interp, cls, name, node, cls.unit, entry.name)


def _declared(value: Value) -> Iterator[tuple[ClassV, str, cst.Name]]:
    """The static fields of a pytree instance that are declared as arrays, each with the class that declares it."""
    if isinstance(value, Obj) and is_pytree(value) and value.project_class is not None:
        for cls in value.project_class.mro():
            if isinstance(cls, ClassV) and not cls.facts.custom_flatten:
                for name in sorted(cls.facts.static_fields):
                    node = cls.annotation_of(name)
                    if node is not None and isinstance(value.slots.get(name), Array):
                        yield cls, name, node


def _report_flattened(interp: Interpreter, cls: ClassV, flatten: Func, body: cst.FunctionDef) -> None:
    """Run ``tree_flatten`` on an instance about which only the class is known."""
    seen: dict[cst.CSTNode, Value] = {}
    watch = interp.watch

    def remember(frame: Frame, node: cst.CSTNode, value: Value) -> None:
        if frame.func is flatten:
            seen[node] = value
        if watch is not None:
            watch(frame, node, value)

    module = calls.module_of(interp, flatten)
    if module.state != "done":
        return
    with interp.as_root(module, flatten.unit, flatten.lazy):
        me = roots.self_value(interp, cls)
        mark = interp.trail.mark()
        interp.watch, interp.quiet = remember, interp.quiet + 1
        try:
            calls.call_function(interp, flatten, Args([me]), flatten.lazy)
        finally:
            interp.watch, interp.quiet = watch, interp.quiet - 1
            interp.trail.undo(mark)
        for node in _static_parts(body):
            if _is_array(seen.get(node)):
                _emit(interp, cls, flatten.unit.code(node), node, flatten.unit, "")


def _static_parts(flatten: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    """What the second result of a ``tree_flatten`` is put together from."""
    assigned, returned = classes.assigned_and_returned(flatten)
    for result in returned:
        if isinstance(result, cst.Tuple) and len(result.elements) == 2:
            yield from _parts(result.elements[1].value, assigned)


def _parts(node: cst.BaseExpression, assigned: dict[str, cst.BaseExpression]) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.Name) and node.value in assigned:
        yield from _parts(assigned[node.value], {k: v for k, v in assigned.items() if k != node.value})
    elif isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from _parts(element.value, assigned)
    elif isinstance(node, cst.Dict):
        for item in node.elements:
            yield from _parts(item.value, assigned)
    else:
        yield node


def _is_array(value: Value | None) -> bool:
    """Is it an array of which two cannot be told equal by one answer? Numbers of NumPy can."""
    return isinstance(value, Array) and value.shape != () and value.dtype != "key"


def _emit(interp: Interpreter, cls: ClassV, name: str, node: cst.CSTNode, unit: Unit, callee: str) -> None:
    interp.emit(StaticField(node=node, unit=unit, cls=cls.name, name=name, callee=callee))
