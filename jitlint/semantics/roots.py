"""Roots: functions that nothing in the project calls are run with arguments made up from their signatures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import calls, conventions, demands, prng, replay, transforms, unreachable, validity
from jitlint.semantics.calls import Args
from jitlint.semantics.entry import Entry, Param
from jitlint.semantics.events import BadSite
from jitlint.semantics.hoist import names_in
from jitlint.semantics.source import all_params, descendants, scope_of
from jitlint.semantics.values import (
    DECLARED,
    NONE,
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Func,
    Host,
    Jitted,
    Level,
    Obj,
    Origin,
    Partial,
    Tree,
    Union,
    Value,
    Wrapped,
    join,
    members,
    py_type,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.source import Unit


def run_uncalled(interp: Interpreter) -> None:
    """Run host functions without callers, then jitted functions without calls, until there is nothing new."""
    done: set[int] = set()
    for _ in range(4):
        traced = {id(e.target.lazy) for e in interp.entries if e.target is not None}
        todo = [
            f
            for f in interp.functions
            if id(f.lazy) not in done
            and not interp.called.get(id(f.lazy))
            and isinstance(f.lazy, cst.FunctionDef)
            and id(f.lazy) not in traced
            and _asked(interp, f.unit)
        ]
        if not todo:
            break
        # Helpers last: most are called by the others, with arguments of which more is known.
        for f in sorted(todo, key=lambda f: f.name.startswith("_") and not f.name.endswith("__")):
            done.add(id(f.lazy))
            if not interp.called.get(id(f.lazy)) and not unreachable.is_unreachable(interp, f):
                run_root(interp, f)
    probed: set[int] = set()
    for _ in range(3):
        entries = [
            e
            for e in interp.entries
            if not e.calls and not e.probed and id(e.node) not in probed and _asked(interp, e.unit)
        ]
        if not entries:
            break
        for e in entries:
            probed.add(id(e.node))
            if any(o.calls and o.node is e.node for o in interp.entries):
                continue
            seen = replay.observed(interp, e)
            if seen is None or not replay.run_recorded(interp, e, seen):
                probe(interp, e)
    conventions.run(interp, done)


def _asked(interp: Interpreter, unit: Unit) -> bool:
    return interp.runs_uncalled is None or interp.runs_uncalled(unit)


def run_root(interp: Interpreter, func: Func) -> None:
    """Run a function with unknown arguments (of the annotated types)."""
    module = calls.module_of(interp, func)
    if module.state != "done":
        return
    expected = func.frame is not None and func.frame.expects
    with interp.as_root(module, func.unit, func.lazy, func):
        interp.expecting += expected
        args = Args()
        for i, p in enumerate(calls.parameters(func.node)):
            if i == 0 and func.owner is not None and p.kind in ("pos", "posonly") and func.flavour not in ("static",):
                args.pos.append(func.owner if func.flavour == "class" else self_value(interp, func.owner, func))
            elif p.kind == "args":
                args.rest = UNKNOWN
            elif p.kind == "kwargs":
                args.more = UNKNOWN
            else:
                value = host_argument(interp, func, p)
                if p.kind == "kwonly":
                    args.kw[p.name] = value
                else:
                    args.pos.append(value)
        calls.call_function(interp, func, args, func.lazy)
        interp.expecting -= expected


def self_value(interp: Interpreter, cls: ClassV, method: Func | None = None) -> Value:
    """An instance of a class, made by its constructor with unknown arguments; one for the whole analysis."""
    known = cls.slots.get(("self",))
    if known is not None:
        return known
    obj = Obj(cls, cls.node, open_=True)
    cls.slots[("self",)] = obj
    init = cls.lookup("__init__")
    if isinstance(init, Func) and init.owner is not None and (method is None or method.name != "__init__"):
        args = Args()
        for p in calls.parameters(init.node)[1:]:
            if p.kind in ("args", "kwargs"):
                continue
            value = host_argument(interp, init, p)
            if p.kind == "kwonly":
                args.kw[p.name] = value
            else:
                args.pos.append(value)
        with interp.on_host():  # a method may be met under a trace first, its object is made before
            calls.call_value(interp, Bound(init, obj), args, cls.node)
    else:
        known_obj = calls.instance_of(interp, cls)
        obj.slots.update(known_obj.slots)
    return obj


def host_argument(interp: Interpreter, func: Func, p: Param) -> Value:
    """A made-up host argument: by annotation, joined with the default."""
    value = demands.annotated(interp, func, p)
    if value is not None and demands.SOME_FUNCTION in members(value) and not func.name.startswith("__"):
        value = None if demands.is_called_elsewhere(func) else value  # the base class may wrap what it passes on
    default = func.defaults.get(p.name)
    if value is None:
        if default == NONE and p.annotation is None and prng.is_named_key(calls.module_of(interp, func), func, p.name):
            return union([NONE, Array(Level.HOST, "key", via=DECLARED)])
        if default is None or default == NONE:
            return UNKNOWN
        kind = py_type(default)
        return Host(kind) if kind in ("bool", "int", "float", "str") else UNKNOWN
    value = value if default is None else join(value, default)
    if isinstance(value, Union) and not all(isinstance(m, Array) for m in value.members):
        return union(replace(m, via=DECLARED) if m == Array(Level.HOST) else m for m in value.members)
    return value


def probe(interp: Interpreter, entry: Entry) -> None:
    """Run a jitted function that nothing calls, with traced arguments made up from its signature; what it finds is
    only possible, since nobody says what is passed."""
    if entry.params is None or entry.target is None or entry.opaque:
        return
    entry.probed = True
    with interp.as_root(calls.module_of(interp, entry.target), entry.unit, entry.node):
        origin = Origin(f"`{entry.name}` is jitted here", entry.node, entry.unit)
        args = Args()
        given = calls.given_by_name(entry.func)
        more = calls.gives_more(entry.func)
        copies: list[Value] = []
        early = _bound_early(entry.target)
        inner = _inner_statics(entry.func)
        left_out = False
        for i, p in enumerate(entry.params):
            if p.kind == "args":
                args.rest = UNKNOWN
            elif p.kind == "kwargs":
                args.more = UNKNOWN
            if p.kind in ("args", "kwargs") or p.name in given:
                continue
            if p.default is not None and (entry.cut_short or p.name in early or p.name in inner):
                left_out = True  # calls that were not seen may well leave it out
                continue
            if more and (args.pos or p.has_default or p.kind == "kwonly"):
                continue  # it may be given by what is not known
            value = _probe_argument(interp, entry, p, origin, i)
            if p.name not in entry.statics and (not isinstance(value, Obj) or validity.is_pytree(value)):
                copies.append(value)
            if p.kind == "kwonly" or left_out and p.kind == "pos":
                args.kw[p.name] = value
            elif not left_out:
                args.pos.append(value)
        interp.unsure += entry.alternative
        transforms.host_call(
            interp,
            entry.kind,
            entry,
            entry.node,
            True,
            lambda: calls.call_value(interp, entry.func, args, entry.node),
            transforms.box_ids(copies),
        )
        interp.unsure -= entry.alternative


def _inner_statics(func: Value) -> frozenset[str]:
    """The static parameters of the jitted function that is jitted once more, which nobody can pass."""
    while isinstance(func, Partial | Wrapped):
        func = func.func
    return frozenset(func.entry.statics) if isinstance(func, Jitted) else frozenset()


def _bound_early(func: Func) -> set[str]:
    """The parameters of a local function whose defaults are there to hold what the function around it has at hand."""
    around = func.frame.func if func.frame is not None else None
    if around is None:
        return set()
    names = scope_of(around.node, around.unit.statement.text).locals
    return {
        p.name.value
        for p in all_params(func.node.params)
        if p.default is not None and not names_in(p.default).isdisjoint(names)
    }


def _probe_argument(interp: Interpreter, entry: Entry, p: Param, origin: Origin, index: int) -> Value:
    target = entry.target
    assert target is not None
    said = demands.expected(interp, target, p)
    if p.name in entry.statics:
        if index == 0 and target.owner is not None and target.flavour != "static" and p.name == "self":
            return self_value(interp, target.owner)
        return said if said is not None else UNKNOWN
    filters = entry.kind == "filter_jit"
    if index == 0 and target.owner is not None and p.name in ("self", "cls"):
        me = self_value(interp, target.owner)
        if filters:
            return transforms.filtered(interp, entry, p.name, me, entry.node, origin)
        if target is entry.func and next(validity.invalid_leaves(interp, me), None) is not None:
            detail = f"{p.name}:{target.owner.name}"
            interp.emit(
                BadSite(node=entry.node, unit=entry.unit, entry=entry, problem="self", detail=detail, raises=False)
            )
        return transforms.abstract(interp, me, entry.root(p.name), origin, maybe=True)
    root = entry.root(p.name)
    where = Origin(
        f"`{p.name}` is traced when it is passed: an argument of `{entry.name}`, jitted here", entry.node, entry.unit
    )
    if filters and (said is not None or p.annotation is not None):
        return UNKNOWN if said is None else transforms.filtered(interp, entry, p.name, said, entry.node, where)
    if said is not None:
        return transforms.abstract(interp, said, root, where, maybe=True)
    given = p.default is None and p.annotation is not None and not _allows_none(p.annotation)
    tree = Tree(frozenset((root,)), where, True, given)
    return union([NONE, tree]) if p.default == NONE else tree


_NOTHING = frozenset({"None", "Optional", "Any", "object", "Union", "PyTree"})
"""Names in annotations that None may fit."""


def _allows_none(annotation: cst.BaseExpression) -> bool:
    """May what is so annotated be None, as far as can be read off?"""
    names = [found.value for found in descendants(annotation, cst.Name)]
    return not names or not _NOTHING.isdisjoint(names) or any(descendants(annotation, cst.SimpleString))
