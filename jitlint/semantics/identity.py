"""Which function objects are the same to JAX's caches, and which are made anew."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.moment import Moment
from jitlint.semantics.values import Bound, ClassV, Func, Jitted, LibV, Obj, Partial, Value, Wrapped

if TYPE_CHECKING:
    from jitlint.semantics.entry import Entry


@dataclass(frozen=True, slots=True)
class Identity:
    """Which function object it is: equal keys are one object, but for the loops of ``moment`` that stand for any."""

    key: Hashable
    moment: Moment
    why: str = ""
    """What makes it a new object: ``lambda``, ``local function``, ``partial``, ``bound method`` …"""


_BY_STRUCTURE = {"filter_jit", "filter_pmap"}
"""What Equinox jits is taken apart as its arguments are, and is the same where its parts are."""


def jitted_identity(entry: Entry) -> Identity | None:
    """The identity of what a site jits; None where it is not known."""
    if entry.kind in _BY_STRUCTURE:
        return _structure(entry.func, entry.moment)
    return identity(entry.func, entry.moment, kept=entry.kept not in ("", "returned"))


def _structure(func: Value, made: Moment, depth: int = 0) -> Identity | None:
    """The same for what is compared part by part: methods by their object and function, modules and the results of
    Equinox's own transforms by what is in them."""
    match func:
        case Wrapped(kind=kind, func=inner) if kind.startswith("filter_") and depth < 8:
            found = _structure(inner, made, depth + 1)
            return None if found is None else Identity(("wrapped", kind, found.key), found.moment, found.why)
        case Bound(func=inner, self=me):
            owner, method = _structure(me, made, depth + 1), identity(inner, made)
            if owner is None or method is None:
                return None
            return Identity(("bound", owner.key, method.key), owner.moment, "bound method")
        case Obj() if func.project_class is not None and func.project_class.facts.pytree:
            return Identity(("instance", id(func.project_class.node)), Moment())
    return identity(func, made)


def identity(func: Value, made: Moment, kept: bool = False, depth: int = 0) -> Identity | None:
    """The identity of a callable as JAX's caches see it; None where it is not known.

    ``made`` is the moment at which it is used: a bound method is a new object there, unless an earlier jitted one of
    the same method is still alive (``kept``).
    """
    if depth > 8:
        return None
    match func:
        case Func():
            return Identity(("def", id(func.lazy), func.moment.key), func.moment, _kind(func))
        case Partial():
            return Identity(("partial", id(func.node), func.moment.key), func.moment, "partial")
        case Wrapped(kind="checkpoint", func=inner):
            return identity(inner, made, kept, depth + 1)
        case Wrapped():
            return Identity(
                ("wrapped", func.kind, id(func.node), func.moment.key), func.moment, f"`{func.kind}` result"
            )
        case Bound(func=inner, self=me):
            if isinstance(inner, Func) and inner.flavour == "static":
                return identity(inner, made, kept, depth + 1)
            if kept:
                owner = identity(me, made, kept, depth + 1) if isinstance(me, Obj | ClassV) else None
                method = identity(inner, made, kept, depth + 1)
                if owner is None or method is None:
                    return None
                return Identity(("bound", owner.key, method.key), owner.moment, "bound method")
            return Identity(("bound", id(inner), made.key), made, "bound method")
        case Obj():
            if not hashed_by_identity(func):
                return None
            return Identity(("object", id(func.site), func.moment.key), func.moment, f"`{func.cls.name}` instance")
        case ClassV():
            return Identity(("class", id(func.node)), Moment())
        case Jitted(entry=entry):
            return Identity(("jit", id(entry.node), entry.moment.key), entry.moment, "jitted function")
        case LibV(name=name):
            return Identity(("library", name), Moment())
    return None


def _kind(func: Func) -> str:
    return "lambda" if isinstance(func.lazy, cst.Lambda) else "local function"


def hashed_by_identity(obj: Obj) -> bool:
    """Is the object equal only to itself?"""
    cls = obj.project_class
    if cls is None:
        return True
    facts = cls.facts
    if facts.namedtuple or facts.enum or facts.dataclass and facts.eq:
        return False
    return not any("__eq__" in c.slots or "__hash__" in c.slots for c in cls.mro() if isinstance(c, ClassV))
