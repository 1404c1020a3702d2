"""What JAX refuses: leaves of arguments and results that are no arrays, and values that cannot be keys of its cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitlint.semantics.operators import NUMBERS, SliceV
from jitlint.semantics.values import (
    NONE,
    ZERO_D,
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
    SetV,
    Tree,
    Tup,
    Union,
    Value,
    Wrapped,
    is_data,
    is_declared,
    py_type,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

MAX_DEPTH = 8
INT32 = range(-(2**31), 2**31)
_HOSTS = {
    "str": "a string",
    "bytes": "bytes",
    "dtype": "a dtype",
    "treedef": "a tree definition",
    "coroutine": "a coroutine",
    "function": "a function",
}
_HOOKS = ("__new__", "__init_subclass__", "__jax_array__", "tree_flatten")
"""What lets a class make itself something that JAX takes."""
_REFERENCES = ("jax.Ref", "jax.core.Ref")
_PLAIN_BASES = (
    "builtins.object",
    "abc.",
    "typing.",
    "enum.",
    "collections.abc.",
    "builtins.BaseException",
    "functools.partial",
)
"""Bases of which an instance is no pytree."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A leaf that JAX does not take: ``what`` it is, for messages, and the class of the ``error``.

    ``possible``: only some alternative of the value is invalid, or only under some settings.
    """

    value: Value
    what: str
    error: str = "TypeError"
    possible: bool = False


def invalid_leaves(interp: Interpreter, value: Value, depth: int = 0) -> Iterator[Invalid]:
    """The leaves of an argument or result of a jitted function that are neither arrays nor numbers."""
    if depth > MAX_DEPTH:
        return
    match value:
        case ListV() if value.kind != "deque":
            yield from invalid_leaves(interp, value.content, depth + 1)
        case Tup(items=items, elem=elem, kind=kind) if kind == "tuple":
            for i in items if items is not None else (elem,) if elem is not None else ():
                yield from invalid_leaves(interp, i, depth + 1)
        case DictV():
            kinds = sorted({_order(k) for k in value.entries()})
            if len(kinds) > 1 and value.kind == "dict":
                yield Invalid(value, f"a dict with keys of several types ({', '.join(kinds)})", "ValueError")
            for x in list(value.slots.values()):
                yield from invalid_leaves(interp, x, depth + 1)
        case Obj() if is_pytree(value):
            yield from _in_fields(interp, value, depth)
        case Union(members=members):
            found = [list(invalid_leaves(interp, m, depth + 1)) for m in members]
            certain = all(any(not i.possible for i in f) for f in found)
            if not certain and any(isinstance(m, Array) or py_type(m) in NUMBERS for m in members):
                return  # a setting such as "auto" that numbers replace before it gets here
            for bad in (b for f in found for b in f):
                yield bad if certain else Invalid(bad.value, bad.what, bad.error, possible=True)
        case _:
            what = _no_array(interp, value)
            if what is not None:
                # An annotation says little: a callable may be a pytree, an instance one of a derived class.
                said = isinstance(value, Host) and value.type == "function" or is_declared(value)
                yield Invalid(value, what, possible=said)
            elif isinstance(value, Const) and type(value.value) is int and value.value not in INT32:
                yield Invalid(value, f"the int {value.value}, which has no 32 bits,", "OverflowError", possible=True)


def _order(key: object) -> str:
    return "int" if isinstance(key, int | float) else type(key).__name__


def is_pytree(value: Obj) -> bool:
    """Does JAX take the instance apart?"""
    cls = value.project_class
    return cls is not None and (cls.facts.pytree or cls.facts.namedtuple)


def data_fields(value: Obj) -> Iterator[tuple[str, Value]]:
    """The fields of a pytree instance that hold its leaves."""
    for name, field in list(value.slots.items()):
        if is_data(value, name, field):
            yield name, field


def _in_fields(interp: Interpreter, value: Obj, depth: int) -> Iterator[Invalid]:
    cls = value.project_class
    # What a hand-written flatten gives, and what nnx takes for a leaf, is not known well enough.
    if cls is None or cls.facts.custom_flatten or cls.facts.module == "nnx":
        return
    for name, field in data_fields(value):
        if cls.facts.fields and name not in cls.facts.fields:
            continue
        if value.open and field == Host("function"):
            continue
        for i in invalid_leaves(interp, field, depth + 1):
            what = f"{i.what} (the field `{name}` of `{cls.name}`)"
            yield Invalid(i.value, what, i.error, i.possible or value.open)


def _no_array(interp: Interpreter, value: Value) -> str | None:
    match value:
        case Const(value=constant):
            kinds = {str: "a string", bytes: "bytes", type(...): "an ellipsis"}
            return kinds.get(type(constant))
        case Host(type=kind):
            return _HOSTS.get(kind)
        case Array(level=Level.NUMPY, dtype=dtype) if dtype in ("str", "object", "datetime"):
            return "a numpy array of objects" if dtype == "object" else "a numpy array of strings"
        case SliceV():
            return "a slice"
        case SetV():
            return f"a {value.kind}"
        case ListV():
            return f"a {value.kind}"
        case Tup(kind=kind):
            return "a range" if kind.startswith("range") else "an iterator" if kind == "iterator" else None
        case Wrapped(kind="tree_partial") | Bound(self=Tree()):
            return None
        case Bound(self=Obj(cls=ClassV() as owner)) if not is_plain(owner):
            return None
        case Func() | Bound() | Partial() | Wrapped() | Jitted():
            return "a function"
        case ClassV():
            return "a class"
        case ModuleV():
            return "a module"
        case LibV(name=name):
            return _library(interp, name)
        case Obj():
            return _instance(interp, value)
    return None


def _library(interp: Interpreter, name: str) -> str | None:
    model = interp.knowledge.function(name)
    constant = interp.knowledge.constant(name)
    if model is not None and model.documented:
        return "a function"
    if constant == "dtype":
        return "a dtype"
    if constant == "module" or name in interp.knowledge.libraries():
        return "a module"
    return "a class" if interp.knowledge.class_(name) is not None else None


def _instance(interp: Interpreter, value: Obj) -> str | None:
    cls = value.cls
    if isinstance(cls, LibV):
        model = interp.knowledge.class_(cls.name)
        if model is not None and model.kind in ("linen", "haiku"):
            return f"a module of {model.kind}, which is no pytree,"
        if model is not None and model.kind == "optimizer":
            return "an optimizer, whose fields are functions,"
        if cls.name == "object" or model is not None and model.kind == "object" and cls.name not in _REFERENCES:
            return f"an instance of `{cls.name}`, which is no pytree,"
        return None
    if cls.facts.integral:
        return None
    if cls.facts.enum:
        return f"a member of the enum `{cls.name}`"
    if cls.facts.module in ("linen", "haiku"):
        return f"the module `{cls.name}`, which is no pytree,"
    if cls.facts.module is not None or not is_plain(cls) or value.open and not is_alone(interp, cls):
        return None
    return f"an instance of `{cls.name}`, which is no pytree,"


def is_alone(interp: Interpreter, cls: ClassV) -> bool:
    """Is what is declared as an instance of the plain class no pytree either: one of the class itself, unless that is
    abstract, or of one of the classes that derive from it?"""
    derived = [c for c in interp.classes if c is not cls and any(b is cls for b in c.mro())]
    return all(map(is_plain, derived)) and (bool(derived) or LibV("abc.ABC") not in cls.bases)


def is_plain(cls: ClassV) -> bool:
    """Is the class certainly no pytree: only plain bases, and no decorator or metaclass that is not understood?"""
    if cls.facts.pytree or cls.facts.namedtuple:
        return False
    for base in cls.mro():
        if isinstance(base, ClassV):
            if base.facts.opaque or base.facts.metaclass or any(hook in base.slots for hook in _HOOKS):
                return False
        elif not isinstance(base, LibV) or not base.name.startswith(_PLAIN_BASES) or base.name.endswith(".Protocol"):
            return False
    return True


# ------------------------------------------------------------------------------------------------ static values


def unhashable(value: Value, depth: int = 0) -> str | None:
    """What makes a value unhashable, or None."""
    match value:
        case ListV():
            return f"a {value.kind}"
        case DictV():
            return None if value.kind in ("FrozenDict", "mapping") else f"a {value.kind}"
        case SetV():
            return None if value.kind == "frozenset" else f"a {value.kind}"
        case SliceV():
            return "a slice"
        case Array(level=Level.HOST):
            return "a jax array"
        case Array(level=Level.NUMPY):
            # Scalars of numpy are hashable; a rank that is not known may be theirs.
            scalar = value.shape is None or value.shape == () and value.via != ZERO_D
            return None if scalar else "a numpy array"
        case Tup(items=items, elem=elem) if value.kind == "tuple" and depth < MAX_DEPTH:
            inside = items if items is not None else (elem,) if elem is not None else ()
            return _first_unhashable(inside, depth, "{} inside a tuple")
        case Obj():
            return _unhashable_instance(value, depth)
        case Union(members=members):
            whats = [unhashable(m, depth) for m in members]
            return whats[0] if None not in whats else None
    return None


def _first_unhashable(values: Iterable[Value], depth: int, text: str) -> str | None:
    if depth >= MAX_DEPTH:
        return None
    return next((text.format(what) for v in values if (what := unhashable(v, depth + 1)) is not None), None)


def _unhashable_instance(value: Obj, depth: int) -> str | None:
    cls = value.project_class
    if cls is None or cls.facts.opaque:
        return None
    facts = cls.facts
    if facts.namedtuple:
        return _first_unhashable(list(value.slots.values()), depth, "{} inside a tuple")
    decides = next(
        (
            c
            for c in cls.mro()
            if isinstance(c, ClassV) and ("__hash__" in c.slots or "__eq__" in c.slots or c.facts.dataclass)
        ),
        None,
    )
    if decides is None or facts.module is not None:
        return None
    if "__hash__" in decides.slots:
        return f"a `{cls.name}` whose `__hash__` is None" if decides.slots["__hash__"] == NONE else None
    if decides.facts.dataclass and not decides.facts.eq:
        return None
    if decides.facts.dataclass and (decides.facts.frozen or decides.facts.hashed):
        return _first_unhashable(list(value.slots.values()), depth, f"a `{cls.name}` that holds {{}}")
    if decides.facts.dataclass:
        return f"a `{cls.name}`, a dataclass that is not frozen,"
    return f"a `{cls.name}`, which defines `__eq__` without `__hash__`,"


def arrays_in_metadata(value: Value, depth: int = 0) -> Iterator[tuple[str, str, Value]]:
    """Arrays in static fields of pytree instances, as (class, field, array): JAX compares these fields with ``==``."""
    if depth > MAX_DEPTH:
        return
    match value:
        case ListV():
            yield from arrays_in_metadata(value.content, depth + 1)
        case Tup(items=items, elem=elem):
            for i in items if items is not None else (elem,) if elem is not None else ():
                yield from arrays_in_metadata(i, depth + 1)
        case DictV():
            for x in list(value.slots.values()):
                yield from arrays_in_metadata(x, depth + 1)
        case Obj() if is_pytree(value):
            cls = value.project_class
            assert cls is not None
            data = dict(data_fields(value))
            for name, field in list(value.slots.items()):
                if name in data:
                    yield from arrays_in_metadata(field, depth + 1)
                elif isinstance(name, str) and (array := _array_in(field)) is not None:
                    yield cls.name, name, array


def _array_in(value: Value, depth: int = 0) -> Array | None:
    match value:
        case Array(level=Level.HOST):
            return value
        case Array(level=Level.NUMPY, shape=shape) if shape is not None and any(d not in (None, 1) for d in shape):
            return value
        case ListV():
            return _array_in(value.content, depth + 1)
        case Tup(items=items) if items is not None and depth < MAX_DEPTH:
            return next((a for i in items if (a := _array_in(i, depth + 1)) is not None), None)
        case DictV() if depth < MAX_DEPTH:
            return next((a for i in list(value.slots.values()) if (a := _array_in(i, depth + 1)) is not None), None)
    return None


# ------------------------------------------------------------------------------------------------ arrays wanted


def no_array(value: Value) -> str | None:
    """What a value is that no function of ``jax.numpy`` takes for an array; None when it may be one."""
    match value:
        case ListV() | DictV() | SetV():
            return f"a {value.kind}"
        case Tup(kind="tuple"):
            return "a tuple"
        case Tup(kind="iterator"):
            return "an iterator"
        case Tup(kind=kind) if kind.startswith("range"):
            return "a range"
        case Const(value=str()) | Host(type="str"):
            return "a string"
    return None


def sequence_items(value: Value) -> tuple[Value, ...] | None:
    """The items of a list or tuple, where they are told apart."""
    content = value.content if isinstance(value, ListV) else value
    return content.items if isinstance(content, Tup) and content.kind == "tuple" else None
