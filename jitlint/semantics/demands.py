"""What the body of a jitted function asks of a parameter about whose value nothing is known.

Where no caller says what is passed, the annotation does, or the use: a bound of ``range``, a shape, an axis, a function
that is called, a string that is compared. Such a parameter must be static for the function to run at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import calls, validity
from jitlint.semantics.entry import Entry, Param, Root
from jitlint.semantics.events import BadArgument, BadSite, StaticArgument
from jitlint.semantics.running import Frame
from jitlint.semantics.source import descendants
from jitlint.semantics.values import (
    NONE,
    Array,
    ClassV,
    Const,
    Func,
    Host,
    Obj,
    Tree,
    Tup,
    Unknown,
    Value,
    leaves,
    members,
    py_type,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

STRUCTURAL = frozenset(
    {
        "range",
        "repeat",
        "shape",
        "size",
        "count",
        "axis",
        "index",
        "dtype",
        "flag",
        "order",
        "list-index",
        "list-slice",
        "array-slice",
        "hash",
        "static",
        "str",
    }
)
"""Needs that no array meets: a parameter with one is a Python setting."""
_FUNCTION_WORDS = (
    *("fn", "fns", "fun", "func", "funcs", "function", "functions", "callable", "callback"),
    *("matvec", "matmat", "activation", "integrand", "objective", "precond", "preconditioner", "schedule"),
)
"""Ends of the words by which people call functions. A model that is called may well be a pytree."""

SOME_FUNCTION = Host("function")
"""What an annotation says is callable. It may be a pytree, such as a `jax.tree_util.Partial`."""


def note(value: Value, need: str) -> None:
    """Remember what is asked of the parameters that a value comes from."""
    for leaf in leaves(value):
        if isinstance(leaf, Tree) or isinstance(leaf, Array) and leaf.python is not None:
            for root in leaf.roots:
                root.demands.add(need)


def note_unpacked(value: Value, node: cst.BaseExpression) -> None:
    """Remember that a call unpacks what a name stands for: ``f(*args)``, ``f(**options)``."""
    if isinstance(value, Tree) and isinstance(node, cst.Name):
        note(value, f"*{node.value}")


def is_unpacked(leaf: Array | Tree, node: cst.CSTNode) -> bool:
    """Does a call unpack what ``node`` names, so that it is a container, whose truth and length are known?"""
    return (
        isinstance(leaf, Tree)
        and isinstance(node, cst.Name)
        and any(f"*{node.value}" in root.demands for root in leaf.roots)
    )


def is_open(root: Root) -> bool:
    """Is nothing known of what callers pass?"""
    return all(isinstance(m, Unknown | Tree) or m == NONE for v, _ in root.passed for m in members(v))


def annotated(interp: Interpreter, target: Func, param: Param) -> Value | None:
    """A host value of the annotated type, read where the function is defined; None when nothing is said."""
    if param.annotation is None:
        return None
    with _inside(interp, target):
        value = calls.from_annotation(interp, param.annotation)
    return None if isinstance(value, Unknown) else value


def meaning(interp: Interpreter, target: Func, name: cst.BaseExpression) -> Value:
    """What a name in the signature of a function stands for."""
    with _inside(interp, target):
        interp.quiet += 1
        try:
            return interp.eval(name)
        finally:
            interp.quiet -= 1


@contextmanager
def _inside(interp: Interpreter, target: Func) -> Iterator[None]:
    """Look names up where the function is defined."""
    interp.frames.append(Frame(target.env, target.unit, calls.module_of(interp, target), target.qualname))
    try:
        yield
    finally:
        interp.frames.pop()


def expected(interp: Interpreter, target: Func, param: Param) -> Value | None:
    """What the signature says is passed, as a host value; None when it says nothing."""
    value = annotated(interp, target, param)
    default = param.default
    if default is None or isinstance(default, Unknown):
        return value
    if default == NONE:
        return union([value, NONE]) if value is not None else None
    if value is not None:
        return value
    kind = py_type(default)
    if kind in ("bool", "int", "float", "complex"):
        return Host(kind)
    return default if isinstance(default, Const | Tup | Obj) else None


def report(interp: Interpreter) -> None:
    """Tell the rules of the parameters that, by annotation or use, are given what JAX does not take."""
    for entry in interp.entries:
        if entry.kind == "pmap" and entry.donate_nums and entry.target is not None:
            _report_donation(interp, entry, entry.target)
        if entry.kind not in ("jit", "pjit") or entry.opaque or entry.target is None:
            continue
        _report_statics(interp, entry, entry.target)
        settled = entry.statics | calls.given_by_name(entry.func)
        for root in list(entry.roots.values()):
            param = entry.param(root.name)
            if param is None or param.kind in ("args", "kwargs") or root.name in settled or not is_open(root):
                continue
            if param.default is not None and entry.frame is not None and entry.frame.func is not None and not entry.kept:
                continue  # a function's own variable holds it: nobody else can pass what its calls leave out
            node = _node_of(entry, root.name)
            invalid = next(_invalid(interp, entry, root, param), None)
            if node is None or invalid is None:
                continue
            event = BadArgument(
                node=node,
                unit=entry.target.unit,
                entry=entry,
                param=root.name,
                value=invalid.value,
                what=invalid.what,
                callee=entry.name,
                possible=True,
            )
            with _inside(interp, entry.target):
                interp.emit(event)


def _report_donation(interp: Interpreter, entry: Entry, target: Func) -> None:
    """Tell the rules of a ``pmap`` that is to donate by position what every call gives by keyword."""
    params = entry.params
    if params is None or any(p.kind == "args" for p in params):
        return
    positional = [p.name for p in params if p.kind in ("pos", "posonly")]
    donated = [positional[n] for n in entry.donate_nums if 0 <= n < len(positional)]
    spelt = [dict(call.spelling) for call in entry.calls]
    if donated and not (spelt and all(how.get(name) == "kw" for how in spelt for name in donated)):
        return
    event = BadSite(
        node=entry.option_nodes.get("donate_argnums") or entry.node,
        unit=entry.unit,
        entry=entry,
        problem="not-donated",
        detail="",
        raises=False,
    )
    with _inside(interp, target):
        interp.emit(event)


def _report_statics(interp: Interpreter, entry: Entry, target: Func) -> None:
    """Tell the rules of static parameters whose annotation names what has no hash."""
    held = calls.given_by_name(entry.func)
    for param in entry.params or ():
        if param.name in held:
            continue  # no caller passes it: jit never sees it
        node = _node_of(entry, param.name)
        # code that passes it, and works, passes something else than what cannot be passed
        given = any(c.bound.get(param.name, NONE) != NONE for c in entry.calls)
        said = annotated(interp, target, param) if param.name in entry.statics and not given else None
        what = validity.unhashable(said) if isinstance(said, Obj | Array) else None
        if said is not None and what is not None and node is not None:
            event = StaticArgument(
                node=node,
                unit=target.unit,
                entry=entry,
                param=param.name,
                value=said,
                problem="unhashable",
                what=what,
                possible=True,
            )
            with _inside(interp, target):
                interp.emit(event)


def _invalid(interp: Interpreter, entry: Entry, root: Root, param: Param) -> Iterator[validity.Invalid]:
    assert entry.target is not None and entry.params is not None
    if entry.target.owner is not None and entry.params[0] is param and param.name in ("self", "cls"):
        return
    if is_called_elsewhere(entry.target) or param.default == NONE:
        return  # who leaves it out passes nothing
    said = annotated(interp, entry.target, param)
    for m in members(said) if said is not None else ():
        yield from validity.invalid_leaves(interp, m)
    functional = "call" in root.demands and any(_names_function(word) for word in root.name.split("_"))
    if said is None and functional and not root.passed:
        yield validity.Invalid(SOME_FUNCTION, "a function")
    if said is None and ("str" in root.demands or py_type(param.default or NONE) == "str"):
        yield validity.Invalid(Host("str"), "a string")


def is_ignored(entry: Entry, name: str) -> bool:
    """Does the jitted function never read a parameter?"""
    body = entry.target.node.body if entry.target is not None else None
    return body is not None and all(read.value != name for read in descendants(body, cst.Name))


def is_called_elsewhere(method: Func) -> bool:
    """Is it a method that callers of a base class reach, which may wrap what they pass?"""
    bases = method.owner.mro() if method.owner is not None else ()
    return any(isinstance(c, ClassV) and c is not method.owner and method.name in c.slots for c in bases)


def _names_function(word: str) -> bool:
    return word in ("f", "g") or word.endswith(_FUNCTION_WORDS)


def _node_of(entry: Entry, name: str) -> cst.Param | None:
    assert entry.target is not None
    p = entry.target.node.params
    return next((x for x in (*p.posonly_params, *p.params, *p.kwonly_params) if x.name.value == name), None)
