"""Jitted functions run with what a recorded run passed to them, in place of guesses.

Where nothing in the project calls a jitted function, its recorded calls stand for the program's own; where something
does with arguments of which not all is known, the record says what they were.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import calls, demands, roots, transforms
from jitlint.semantics.calls import Args
from jitlint.semantics.entry import Entry
from jitlint.semantics.observed import (
    ArrayLeaf,
    Branch,
    FunctionKey,
    Observed,
    ObservedCall,
    ObservedFunction,
    StaticLeaf,
)
from jitlint.semantics.source import Unit, descendants
from jitlint.semantics.values import (
    NONE,
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    Func,
    Host,
    Jitted,
    Level,
    LibV,
    ListV,
    ModuleV,
    Obj,
    Partial,
    Tup,
    Unknown,
    Value,
    Wrapped,
    join_all,
    py_type,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

MAX_CALLS = 16
"""Recorded calls of one function that are run; its other variants are of the same kinds."""
MANY_SHAPES = 3
"""As many shapes at one call, and the shape changes over the loop around it."""


def observed(interp: Interpreter, entry: Entry) -> ObservedFunction | None:
    """What the record shows of the function of an entry, if there is a record and the function in it."""
    if not interp.observed:
        return None
    key = _key(entry)
    return None if key is None else interp.observed.get(key)


def _key(entry: Entry) -> FunctionKey | None:
    wrappers = []
    func = entry.func
    while not isinstance(func, Func):
        match func:
            case Partial(func=inner):
                wrappers.append("partial")
            case Wrapped(kind=kind, func=inner):
                wrappers.append(kind)
            case Bound(func=inner):
                pass
            case Jitted(entry=other):
                inner = other.func
            case _:
                return None
        func = inner
    return _resolved(func.unit.module.path), func.first_row, tuple(wrappers)


@cache
def _resolved(path: Path) -> str:
    """A path as the record has it."""
    return str(path.resolve())


# ------------------------------------------------------------------------------------------------ calls nobody makes


def run_recorded(interp: Interpreter, entry: Entry, seen: ObservedFunction) -> bool:
    """Call a jitted function that nothing in the project calls as the record says that it was called.

    Returns False, and has done nothing, if it was not called with arguments that can be told.
    """
    from jitlint.semantics.interp import STEPS_PER_FUNCTION

    target = entry.target
    if target is None or entry.params is None or not seen.calls:
        return False
    module = calls.module_of(interp, target)
    with interp.as_root(module, entry.unit, entry.node) as frame:
        for call in seen.calls[:MAX_CALLS]:
            interp.new_root(STEPS_PER_FUNCTION)
            args = _arguments(interp, entry, call, module)
            frame.unit, node = _place(interp, entry, call) or (entry.unit, entry.node)
            interp.recorded_at = f"{Path(call.path).name}:{call.row}" if call.path and node is entry.node else ""
            transforms.call_jitted(interp, Jitted(entry), args, node)
        interp.recorded_at = ""
    return True


def _arguments(interp: Interpreter, entry: Entry, call: ObservedCall, module: ModuleV) -> Args:
    args = Args()
    for argument in call.arguments:
        value = UNKNOWN if argument.value is None else value_of(interp, argument.value, module)
        value = _as_declared(interp, entry, argument.name, value)
        if argument.keyword:
            args.kw[argument.name] = value
        else:
            args.pos.append(value)
    return args


def _as_declared(interp: Interpreter, entry: Entry, name: str, value: Value) -> Value:
    """A value with what the signature says of it: that a weak scalar is a Python number, which object ``self`` is."""
    target, param = entry.target, entry.param(name)
    if target is None or param is None:
        return value
    if isinstance(value, Unknown) and target.owner is not None and entry.params and entry.params[0] is param:
        return roots.self_value(interp, target.owner) if name == "self" else value
    if isinstance(value, Array) and value.weak and value.shape == ():
        said = demands.expected(interp, target, param)
        if said is not None and py_type(said) in ("int", "float", "complex") and isinstance(said, Host | Const):
            return Host(str(py_type(said)))
    return value


def _place(interp: Interpreter, entry: Entry, call: ObservedCall) -> tuple[Unit, cst.CSTNode] | None:
    """The call in the program that the record names, as far as it is found."""
    name = entry.name.rpartition(".")[2]
    for unit in _units_at(interp, call.path, call.row):
        here = [node for node in _calls_in(unit) if unit.span(node).row <= call.row <= unit.span(node).end_row]
        named = [node for node in here if unit.code(node.func).rpartition(".")[2] == name]
        chosen = named or [node for node in here if unit.span(node).row == call.row]
        if chosen:
            return unit, chosen[0]
    return None


def _units_at(interp: Interpreter, path: str, row: int) -> Iterator[Unit]:
    """The statement of a module around a row: first as it was run, since findings are told apart by their nodes."""
    for function in interp.functions:
        unit = function.unit
        if _resolved(unit.module.path) == path and unit.statement.first_row <= row <= unit.statement.last_row:
            yield unit
            return
    for module in interp.modules.values():
        if _resolved(module.module.path) == path:
            for statement in module.module.index.statements:
                if statement.first_row <= row <= statement.last_row:
                    yield Unit(module.module, statement)


def _calls_in(unit: Unit) -> list[cst.Call]:
    return [] if unit.node is None else list(descendants(unit.node, cst.Call))


# --------------------------------------------------------------------------------------- arguments that are not known


def completed(interp: Interpreter, entry: Entry, args: Args, node: cst.CSTNode) -> Args:
    """The arguments of a call of the program, what is not known of them taken from the record."""
    seen = observed(interp, entry)
    if seen is None or entry.target is None or not any(map(_open, (*args.pos, *args.kw.values()))):
        return args
    recorded = _calls_at(interp, seen, node)
    module = calls.module_of(interp, entry.target)

    def complete(name: str, value: Value) -> Value:
        given = [call.value(name) for call in recorded]
        if not _open(value) or None in given:
            return value
        values = dict.fromkeys(
            _as_declared(interp, entry, name, value_of(interp, each, module)) for each in given if each
        )
        return _merged(interp, value, list(values))

    names = [transforms.positional_name(entry.params, i) for i in range(len(args.pos))]
    pos = [complete(name, value) for name, value in zip(names, args.pos, strict=True)]
    return replace(args, pos=pos, kw={name: complete(name, value) for name, value in args.kw.items()})


def _open(value: Value) -> bool:
    """Is it not known, or an array about which something is not known?"""
    if isinstance(value, Array):
        return value.dtype is None or value.shape is None or None in value.shape
    return isinstance(value, Unknown | LibV)


def _calls_at(interp: Interpreter, seen: ObservedFunction, node: cst.CSTNode) -> list[ObservedCall]:
    """The recorded calls from this place; all of them if none is: then somebody else made them before."""
    path, span = _resolved(interp.unit.module.path), interp.unit.span(node)
    here = [call for call in seen.calls if call.path == path and span.row <= call.row <= span.end_row]
    return here or list(seen.calls)


def _merged(interp: Interpreter, value: Value, recorded: list[Value]) -> Value:
    arrays = [each for each in recorded if isinstance(each, Array)]
    if len(arrays) < len(recorded) or not arrays:
        return value if isinstance(value, Array) else join_all(recorded)
    one = join_all(arrays)
    if not isinstance(one, Array):
        return value
    shapes = {each.shape for each in arrays}
    changing = interp.loops and len(shapes) >= MANY_SHAPES
    over = frozenset(interp.loops[-1:]) if changing else one.shape_loops
    if not isinstance(value, Array):
        return replace(one, shape_loops=over)
    if len(shapes) > 1:
        return value
    return replace(
        value, shape=one.shape, dtype=value.dtype or one.dtype, weak=one.weak if value.weak is None else value.weak
    )


# ------------------------------------------------------------------------------------------------------------- values


def value_of(interp: Interpreter, seen: Observed, module: ModuleV) -> Value:
    """A recorded argument as a host value; classes are looked up where the function is defined."""
    match seen:
        case ArrayLeaf():
            return Array(Level.HOST, seen.dtype, seen.shape, seen.weak)
        case StaticLeaf():
            return _static(seen)
        case Branch(kind="none"):
            return NONE
        case Branch(kind="tuple" | "list"):
            items = Tup(tuple(value_of(interp, child, module) for _, child in seen.children))
            return ListV(items) if seen.kind == "list" else items
        case Branch(kind="dict"):
            return DictV({key: value_of(interp, child, module) for key, child in seen.children})
    cls = _class_named(interp, seen.name, module)
    return UNKNOWN if cls is None else _instance(interp, cls, seen, module)


def _static(seen: StaticLeaf) -> Value:
    try:
        return _constant(ast.literal_eval(seen.text))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return UNKNOWN


def _constant(value: object) -> Value:
    match value:
        case None | bool() | int() | float() | complex() | str() | bytes():
            return Const(value)
        case tuple():
            return Tup(tuple(_constant(item) for item in value))
    return UNKNOWN


def _class_named(interp: Interpreter, name: str, module: ModuleV) -> ClassV | None:
    """The class of that name: as the module knows it, else the only one in the project."""
    known = module.env.slots.get(name)
    if isinstance(known, ClassV):
        return known
    found = {id(cls.node): cls for cls in interp.classes if cls.name == name}
    return next(iter(found.values())) if len(found) == 1 else None


def _instance(interp: Interpreter, cls: ClassV, seen: Branch, module: ModuleV) -> Obj:
    obj = calls.instance_of(interp, cls)
    for place, (field, child) in enumerate(seen.children):
        if field is None and cls.facts.namedtuple and place < len(cls.facts.fields):
            field = cls.facts.fields[place]
        if isinstance(field, str):
            obj.slots[field] = value_of(interp, child, module)
    return obj
