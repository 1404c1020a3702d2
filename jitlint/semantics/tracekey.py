"""The key under which JAX remembers a trace, as far as it can be known from the arguments of one call."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from jitlint.semantics.values import (
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    Func,
    Jitted,
    LibV,
    ListV,
    ModuleV,
    Obj,
    Partial,
    Tup,
    Value,
    Wrapped,
)

_DEPTH = 5


def trace_key(positional: Iterable[Value], by_name: Iterable[tuple[str, Value]]) -> Hashable | None:
    """A key that is equal for two calls that share a trace, and differs for two that do not; None when not known.

    The values are those that the traced function gets: tracers of traced arguments, static ones as they are.
    """
    parts = [_key(v, 0) for v in positional]
    parts.extend(_key(v, 0) for _, v in by_name)
    return None if None in parts else (tuple(parts), tuple(name for name, _ in by_name))


def _key(v: Value, depth: int) -> Hashable | None:
    if depth > _DEPTH:
        return None
    match v:
        case Array(dtype=dtype, shape=shape, weak=weak):
            if dtype is None or shape is None or None in shape:
                return None
            return ("array", v.level, dtype, shape, bool(weak))
        case Const():
            return v
        case LibV():
            return v
        case Tup(items=items) if items is not None:
            return _all((v.kind,), items, depth)
        case ListV():
            content = _key(v.content, depth + 1)
            return None if content is None else ("list", content)
        case DictV() if v.rest is None:
            entries = v.entries()
            return _all(("dict", tuple(map(repr, entries))), entries.values(), depth)
        case Obj():
            cls = v.project_class
            if cls is None:
                return None
            if cls.facts.pytree or cls.facts.namedtuple:
                return None if v.open else _all((id(cls), tuple(v.slots)), v.slots.values(), depth)
            return ("object", id(v)) if cls.lookup("__hash__") is None and not cls.facts.dataclass else None
        case Bound(func=f, self=me):
            return _all(("bound",), (f, me), depth)
        case Func() | Jitted() | ClassV() | Wrapped() | Partial() | ModuleV():
            return ("identity", id(v))
    return None


def _all(what: Hashable, values: Iterable[Value], depth: int) -> Hashable | None:
    parts = tuple(_key(x, depth + 1) for x in values)
    return None if None in parts else (what, parts)
