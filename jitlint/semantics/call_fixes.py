"""Repairs of calls that compile again: the dtype of a state that starts weak, the spelling of the arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.findings import Edit, NewImport, Span
from jitlint.fix.names import Names
from jitlint.semantics.entry import Call, Entry
from jitlint.semantics.shapes import full
from jitlint.semantics.source import Unit
from jitlint.semantics.values import Array, Obj, Tup, Value
from jitlint.semantics.variants import Cause

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

TYPED = {
    "jax.numpy.array": 2,
    "jax.numpy.asarray": 2,
    "jax.numpy.full": 3,
    "jax.numpy.full_like": 3,
    "numpy.array": 2,
    "numpy.asarray": 2,
}
"""What takes a ``dtype``, and how many arguments stand for it and those before it."""
_STEP = re.compile(r"\[(\d+)\]|\['([^']*)'\]|\.(\w+)")


# ------------------------------------------------------------------------------------------------ a weak start


def typed_starts(
    interp: Interpreter, causes: list[Cause], names: Names
) -> tuple[tuple[Edit, ...], tuple[NewImport, ...]]:
    """The edits that give the first values of states their dtype, where the statement that makes them is plain."""
    edits: list[Edit] = []
    imports: list[NewImport] = []
    for cause in causes:
        found = _start(interp, cause)
        dtype = next(
            (d for c in cause.calls if (d := _strong(_at(c.bound.get(cause.part.param), cause.part.path)))), None
        )
        if found is None or dtype is None:
            continue
        unit, node = found
        spelled = names.spell(f"jax.numpy.{dtype}")
        if spelled is None or unit.module.display != names.filename:
            continue
        edit = _typed(unit, node, spelled.text, names, imports)
        if edit is not None and edit not in edits:
            edits.append(edit)
            imports.extend(spelled.imports)
    return tuple(edits), tuple(dict.fromkeys(imports))


def _strong(value: Value | None) -> str | None:
    return full(value.dtype) if isinstance(value, Array) and value.weak is False else None


def _at(value: Value | None, path: str) -> Value | None:
    """The leaf of an argument at a path such as ``[0]['w'].t``."""
    for number, key, name in _steps(path):
        if isinstance(value, Tup) and value.items is not None and number is not None and number < len(value.items):
            value = value.items[number]
        else:
            value = getattr(value, "slots", {}).get(name or key)
    return value


def _steps(path: str) -> Iterator[tuple[int | None, str | None, str | None]]:
    for match in _STEP.finditer(path):
        number, key, name = match.groups()
        yield (int(number) if number is not None else None), key, name


def _start(interp: Interpreter, cause: Cause) -> tuple[Unit, cst.BaseExpression] | None:
    """The expression that makes the first value of the argument: given in the call's own name before the loop."""
    call = cause.calls[0]
    node = call.nodes.get(cause.part.param)
    if not isinstance(node, cst.Name) or cause.loop is None:
        return None
    env = call.frame.env
    while env is not None and node.value not in env.slots:
        env = env.parent
    writes = interp.writes.get((id(env), node.value), ()) if env is not None else ()
    before = [w for w in writes if w.time < call.time and all(x.node is not cause.loop.node for x in w.loops)]
    if not before or not isinstance(before[-1].node, cst.Assign) or len(before[-1].node.targets) != 1:
        return None
    write = before[-1]
    assert isinstance(write.node, cst.Assign)
    target, value = write.node.targets[0].target, write.node.value
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        pairs = zip(target.elements, value.elements, strict=False)
        value = next(
            (v.value for t, v in pairs if isinstance(t.value, cst.Name) and t.value.value == node.value), value
        )
    elif not isinstance(target, cst.Name):
        return None
    found = _part_of(value, write.value, cause.part.path)
    return None if found is None else (write.unit, found)


def _part_of(node: cst.BaseExpression, value: Value, path: str) -> cst.BaseExpression | None:
    """The expression of a part of a value that is written out: a tuple, list, dict, or call of a class."""
    for number, key, name in _steps(path):
        inner: cst.BaseExpression | None = None
        if isinstance(node, cst.Tuple | cst.List) and number is not None and number < len(node.elements):
            inner = node.elements[number].value
        elif isinstance(node, cst.Dict) and key is not None:
            inner = next(
                (e.value for e in node.elements if isinstance(e, cst.DictElement) and _is_key(e.key, key)), None
            )
        elif isinstance(node, cst.Call) and name is not None and isinstance(value, Obj):
            inner = _field(node, value, name)
        if inner is None:
            return None
        node, value = inner, _at(value, f"[{number}]" if number is not None else f".{name or key}") or value
    return node


def _is_key(node: cst.BaseExpression, key: str) -> bool:
    return isinstance(node, cst.SimpleString) and node.evaluated_value == key


def _field(node: cst.Call, value: Obj, name: str) -> cst.BaseExpression | None:
    fields = value.project_class.facts.fields if value.project_class is not None else ()
    for position, arg in enumerate(node.args):
        if arg.star:
            return None
        if arg.keyword is not None and arg.keyword.value == name:
            return arg.value
        if arg.keyword is None and position < len(fields) and fields[position] == name:
            return arg.value
    return None


def _typed(unit: Unit, node: cst.BaseExpression, dtype: str, names: Names, imports: list[NewImport]) -> Edit | None:
    """``dtype=`` in the call that makes an array; ``jnp.asarray(…, dtype=…)`` around a number."""
    span = unit.span(node)
    if isinstance(node, cst.Call):
        room = TYPED.get(names.meaning(node.func) or "")
        plain = all(not a.star for a in node.args) and not any(
            a.keyword and a.keyword.value == "dtype" for a in node.args
        )
        if room is None or not plain or not node.args or sum(a.keyword is None for a in node.args) >= room:
            return None
        last = unit.span(node.args[-1].value)
        return Edit(
            unit.module.display, Span(last.end_row, last.end_column, last.end_row, last.end_column), f", dtype={dtype}"
        )
    if isinstance(node, cst.Integer | cst.Float | cst.UnaryOperation):
        make = names.spell("jax.numpy.asarray")
        if make is None:
            return None
        imports.extend(make.imports)
        return Edit(unit.module.display, span, f"{make.text}({unit.code(node)}, dtype={dtype})")
    return None


# ------------------------------------------------------------------------------------------------ spelling


def respelled(entry: Entry, cause: Cause, node: cst.CSTNode, unit: Unit) -> Edit | None:
    """The edit that spells the parameter in this call as the other calls do: by position or by keyword."""
    here = next((c for c in cause.calls if c.node is node), None)
    other = next((c for c in cause.calls if c.node is not node and _how(c, cause) != _how(here, cause)), None)
    if here is None or other is None or not isinstance(node, cst.Call) or any(a.star for a in node.args):
        return None
    param = cause.part.param
    order = [p.name for p in entry.params or () if p.name in dict(here.spelling)]
    if _how(other, cause) == "kw":
        first = order.index(param)
        later = [a for a in node.args[first:] if a.keyword is None]
        if len(later) != 1 or node.args[first] is not later[0]:
            return None  # what follows it by position would have to be named as well
        at = unit.span(node.args[first].value)
        return Edit(unit.module.display, Span(at.row, at.column, at.row, at.column), f"{param}=")
    arg = next((a for a in node.args if a.keyword is not None and a.keyword.value == param), None)
    place = [name for name in order if dict(other.spelling).get(name) == "pos"]
    ahead = [a for a in node.args if a.keyword is None]
    if arg is None or param not in place or len(ahead) != place.index(param) or node.args[len(ahead)] is not arg:
        return None
    return Edit(unit.module.display, _between(unit, arg), "")


def _between(unit: Unit, arg: cst.Arg) -> Span:
    """From the keyword to the value."""
    assert arg.keyword is not None
    name, value = unit.span(arg.keyword), unit.span(arg.value)
    return Span(name.row, name.column, value.row, value.column)


def _how(call: Call | None, cause: Cause) -> str | None:
    return None if call is None else dict(call.spelling).get(cause.part.param)
