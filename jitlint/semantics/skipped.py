"""Calls that are not run, since they recurse or cost too much: what they may write is not known afterwards.

What a function writes is read off its text, and off those of the methods and functions that it names: attributes,
containers, and variables of other scopes. Where it cannot be said whose attribute that is, it is that of whatever can be
got at through the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import timing
from jitlint.semantics.bare import walk
from jitlint.semantics.restored import names_put_back
from jitlint.semantics.source import remembered, scope_of
from jitlint.semantics.state import Box
from jitlint.semantics.values import (
    NONE,
    UNKNOWN,
    Bound,
    ClassV,
    DictV,
    Env,
    Func,
    Jitted,
    ListV,
    Obj,
    Partial,
    SetV,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
    members,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

FUNCTIONS = 60
"""How many functions are read for one call."""
REACHED = 200
"""How many objects and containers are followed from its arguments."""
_CHANGING = {
    *("append", "appendleft", "clear", "extend", "extendleft", "insert", "pop", "popleft", "remove", "reverse"),
    *("rotate", "sort", "popitem", "setdefault", "update", "add", "discard"),
}

Path = tuple[str, ...]
"""A variable and attributes after it; empty for any other expression."""
_SUPER: Path = ("super()",)


@dataclass(slots=True)
class Effects:
    """What the text of a function writes."""

    attributes: set[tuple[Path, str]] = field(default_factory=set)
    """Attributes that are set, or whose container is changed, after what they belong to."""
    containers: set[str] = field(default_factory=set)
    """Variables whose container is changed."""
    rebound: set[str] = field(default_factory=set)
    """Variables of other scopes that are bound."""
    assigned: set[str] = field(default_factory=set)
    """Variables that are bound by something else than ``+=`` and its kin."""
    methods: set[tuple[Path, str]] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    """What is called that is no variable of the function itself."""


def note(interp: Interpreter) -> None:
    """A call is not followed: what it gives may be anything, and it may have waited for results."""
    interp.skipped += 1
    timing.waited(interp)


def skip(
    interp: Interpreter, func: Func, bound: dict[str, Value], receiver: Value | None, node: cst.CSTNode | None
) -> Value:
    """Leave out a call of ``func`` at ``node``, whose parameters are ``bound``: forget what it may write; its result is
    unknown."""
    objects = [box for box in _reachable(bound.values()) if isinstance(box, Obj)]
    note(interp)
    seen: set[tuple[int, int]] = set()
    todo: list[tuple[Func, Value | None]] = [(func, receiver)]
    while todo and len(seen) < FUNCTIONS:
        one, owner = todo.pop()
        if (id(one.lazy), id(owner)) in seen:
            continue
        effects = effects_of(one.lazy, one.unit.statement.text)
        first = _first(one.lazy)
        names = bound if not seen else {} if owner is None else {first: owner}
        seen.add((id(one.lazy), id(owner)))
        for path, name in effects.attributes:
            whose = _owners(one, names, path)
            for obj in objects if whose is None else whose:
                if whose is not None or name in obj.slots:
                    interp.trail.write(obj, name, UNKNOWN)
        for name in effects.containers:
            _forget_content(interp, names[name] if name in names else _variable(one, name))
        for name in effects.rebound:
            scope = _scope(one.env, name)
            if scope is not None and (name in effects.assigned or scope.slots[name] != NONE):  # nothing adds to None
                interp.trail.write(scope, name, UNKNOWN)
        for name in effects.functions:
            scope = _scope(one.env, name)
            if scope is not None:
                todo += [(f, None) for f in _functions(scope.slots[name])]
        for path, name in effects.methods:
            whose = _owners(one, names, (first,) if path == _SUPER else path)
            for obj in objects if whose is None else whose:
                todo += [(f, obj) for f in _methods(obj, name, path == _SUPER)]
    interp.missed.call(interp, node, (function for function, _ in seen))
    return UNKNOWN


def _first(function: cst.FunctionDef | cst.Lambda) -> str:
    """The name of the first parameter, which is ``self`` in a method; empty where there is none."""
    params = [*function.params.posonly_params, *function.params.params]
    return params[0].name.value if params else ""


def _owners(func: Func, names: dict[str, Value], path: Path) -> list[Obj] | None:
    """The objects that a path of ``func`` leads to; None where that is not known."""
    if not path:
        return None
    value = names[path[0]] if path[0] in names else _variable(func, path[0])
    for name in path[1:]:
        if not isinstance(value, Obj):
            return None
        value = value.slots.get(name)
    if isinstance(value, Obj):
        return [value]
    if value is None or any(isinstance(m, Unknown) for m in members(value)):
        return None
    return [m for m in members(value) if isinstance(m, Obj)]


@remembered
def effects_of(node: cst.FunctionDef | cst.Lambda, text: str) -> Effects:
    """What a function writes, and does not put back. ``text`` is source that holds the function."""
    reader = _Reader()
    walk(node.body, reader)
    effects = reader.effects
    effects.functions -= scope_of(node, text).locals
    put_back = names_put_back(node) if effects.rebound or effects.attributes else ()
    if put_back:
        effects.rebound = {name for name in effects.rebound if name.lstrip("_") not in put_back}
        effects.attributes = {(path, name) for path, name in effects.attributes if name.lstrip("_") not in put_back}
    return effects


def _path(node: cst.BaseExpression) -> Path:
    match node:
        case cst.Name(value=name):
            return (name,)
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if before := _path(owner):
            return (*before, name)
        case cst.Call(func=cst.Name(value="super")):
            return _SUPER
    return ()


class _Reader:
    def __init__(self) -> None:
        self.effects = Effects()

    def visit_Global(self, node: cst.Global) -> None:
        self.effects.rebound |= {item.name.value for item in node.names}

    def visit_Nonlocal(self, node: cst.Nonlocal) -> None:
        self.effects.rebound |= {item.name.value for item in node.names}

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._store(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        if not isinstance(node.target, cst.Name):
            self._store(node.target)
        self._change(node.target)  # of a list, in place

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target)

    def visit_Del(self, node: cst.Del) -> None:
        self._store(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._store(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._store(node.name)

    def visit_Call(self, node: cst.Call) -> None:
        match node.func:
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                self.effects.methods.add((_path(owner), name))
                if name in _CHANGING:
                    self._change(owner)
            case cst.Name(value="setattr" | "delattr"):
                match [a.value for a in node.args]:
                    case [owner, cst.SimpleString() as literal, *_] if isinstance(literal.evaluated_value, str):
                        self.effects.attributes.add((_path(owner), literal.evaluated_value))
            case cst.Name(value=name):
                self.effects.functions.add(name)

    def _store(self, target: cst.BaseExpression) -> None:
        match target:
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                self.effects.attributes.add((_path(owner), name))
            case cst.Name(value=name):
                self.effects.assigned.add(name)
            case cst.Subscript(value=container):
                self._change(container)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                for element in elements:
                    self._store(element.value)

    def _change(self, container: cst.BaseExpression) -> None:
        match container:
            case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                self.effects.attributes.add((_path(owner), name))
            case cst.Name(value=name):
                self.effects.containers.add(name)
            case cst.Subscript(value=outer):
                self._change(outer)


def _reachable(values: Iterable[Value]) -> Iterator[Box]:
    """The objects and containers that can be got at."""
    todo, seen = list(values), set[int]()
    while todo and len(seen) < REACHED:
        match todo.pop():
            case Obj() | ListV() | DictV() | SetV() as box if id(box) not in seen:
                seen.add(id(box))
                yield box
                todo += box.slots.values()
            case Tup(items=items, elem=elem):
                todo += items if items is not None else () if elem is None else (elem,)
            case Union(members=several):
                todo += several
            case Bound(self=owner):
                todo.append(owner)
            case Partial(args=args):
                todo += args


def _methods(obj: Obj, name: str, inherited: bool) -> Iterable[Func]:
    """What ``obj.name(…)`` may run, or ``super().name(…)`` in a method of it, where it is ``inherited``."""
    own, cls = obj.slots.get(name), obj.cls
    if own is not None or not isinstance(cls, ClassV):
        return _functions(own)
    if inherited:
        return [function for method in cls.all_named(name) for function in _functions(method)]
    method = cls.lookup(name)
    return _functions(method) if method is not None else ()


def _functions(value: Value | None) -> Iterator[Func]:
    match value:
        case Func():
            yield value
        case Bound(func=inner) | Partial(func=inner) | Wrapped(func=inner):
            yield from _functions(inner)
        case Jitted(entry=entry):
            yield from _functions(entry.func)
        case Union(members=several):
            for member in several:
                yield from _functions(member)


def _scope(env: Env | None, name: str) -> Env | None:
    while env is not None and name not in env.slots:
        env = env.parent
    return env


def _variable(func: Func, name: str) -> Value | None:
    """A variable of the scopes around a function."""
    scope = _scope(func.env, name)
    if scope is None or name in scope_of(func.lazy, func.unit.statement.text).locals:
        return None
    return scope.slots[name]


def _forget_content(interp: Interpreter, value: Value | None) -> None:
    match value:
        case ListV():
            interp.trail.write(value, "content", Tup(None, UNKNOWN))
        case DictV():
            for key in list(value.slots):
                interp.trail.write(value, key, UNKNOWN)
            interp.trail.write(value, DictV.REST, UNKNOWN)
        case SetV():
            interp.trail.write(value, "elem", UNKNOWN)
        case Union(members=several):
            for member in several:
                _forget_content(interp, member)
