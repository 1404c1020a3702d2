"""What outlives the code that made it: returned, stored, or handed to code that cannot be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitlint.semantics.state import Box
from jitlint.semantics.values import (
    Array,
    Bound,
    ClassV,
    Const,
    Env,
    Func,
    Host,
    Jitted,
    LibV,
    ModuleV,
    Obj,
    Partial,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

DEPTH = 4
_PLAIN = frozenset({Unknown, Const, Host, Array, Tree, LibV, ClassV, ModuleV})
"""The types of values, most of all, that hold nothing that could be kept."""


def keep(interp: Interpreter, value: Value, how: str, depth: int = 0) -> None:
    """Mark the jitted callables in ``value`` as kept, and the frames whose variables its functions close over."""
    if type(value) in _PLAIN:
        return
    if depth > DEPTH or interp.tracing or not interp.entries and not interp.frame.func:
        return
    match value:
        case Jitted(entry=entry):
            entry.held |= depth > 0
            if entry.kept in ("", "returned", "argument"):
                entry.kept = how
        case Func():
            if func_is_nested(value):
                _keep_frames(interp, value)
        case Bound(func=f, self=me):
            keep(interp, f, how, depth + 1)
            keep(interp, me, how, depth + 1)
        case Partial():
            for v in (value.func, *value.args, *value.kwargs.values()):
                keep(interp, v, how, depth + 1)
        case Wrapped(func=f):
            keep(interp, f, how, depth + 1)
        case Tup():
            for v in value.items or ((value.elem,) if value.elem is not None else ()):
                keep(interp, v, how, depth + 1)
        case Union(members=ms):
            for v in ms:
                keep(interp, v, how, depth + 1)
        case Box():
            for v in list(value.slots.values()):
                keep(interp, v, how, depth + 1)


def is_thread_local(box: Box) -> bool:
    """Is it a place for stacks of contexts, which are as they were when a call ends?"""
    if not isinstance(box, Obj):
        return False
    bases = box.cls.mro() if isinstance(box.cls, ClassV) else [box.cls]
    return any(base == LibV("threading.local") for base in bases)


def func_is_nested(func: Func) -> bool:
    """Is the function made in another function?"""
    return func.frame is not None


def _keep_frames(interp: Interpreter, func: Func) -> None:
    scopes: set[int] = set()
    env: Env | None = func.env
    while env is not None:
        scopes.add(id(env))
        env = env.parent
    for frame in interp.frames:
        if frame.func is not None and id(frame.env) in scopes:
            frame.kept = True
