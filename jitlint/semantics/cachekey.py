"""The cache key of a call of a jitted function, in parts: what JAX compares when it looks for a compiled program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from jitlint.semantics.entry import Call, Entry
from jitlint.semantics.identity import hashed_by_identity, identity
from jitlint.semantics.moment import Moment
from jitlint.semantics.values import (
    NO_LOOPS,
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
    Obj,
    Partial,
    Steps,
    Tup,
    Union,
    Value,
    Wrapped,
    py_type,
)

NUMBERS = frozenset({"bool", "int", "float", "complex"})
_SAME = {"float32": "float", "float64": "float", "int32": "int", "int64": "int", "complex64": "complex"}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a key: ``kind`` is ``static`` ``fresh`` ``shape`` ``dtype`` ``weak`` ``structure`` ``spelling``."""

    param: str
    kind: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Atom:
    """What a part is in one call. ``value`` None: not known. It changes over ``loops``."""

    value: Hashable = None
    loops: frozenset[Any] = NO_LOOPS
    setting: bool = False
    """One of few by its type: a flag, a name, an enum member."""
    text: str = ""
    at: Moment | None = None
    """When the object was made, for one that is equal only to itself."""
    node: Any = None
    """Where it was made."""


def key_of(entry: Entry, call: Call) -> dict[Part, Atom]:
    """The parts of the key of a call, as far as they are known."""
    out: dict[Part, Atom] = {}
    for name, value in call.bound.items():
        if name in entry.statics:
            node = call.nodes.get(name)
            atom = static_atom(value, call.moment, node)
            out[Part(name, "fresh" if atom.at is not None else "static")] = atom
        elif not entry.opaque:
            for part, atom in leaves_of(name, value, call.moment, "", filters=entry.kind == "filter_jit"):
                out[part] = atom
    for name, how in call.spelling:
        p = entry.param(name)
        out[Part(name, "spelling")] = Atom(how, text="by position" if how == "pos" else "by keyword")
        if p is not None and p.has_default:
            out[Part(name, "passed")] = Atom(True, text="passed")
    for p in entry.params or ():
        if p.has_default and p.name not in call.bound:
            out[Part(p.name, "passed")] = Atom(False, text="left out")
    return out


def static_atom(value: Value, made: Moment, node: cst.CSTNode | None = None, depth: int = 0) -> Atom:
    """A static argument: equal values are one variant."""
    match value:
        case Const(value=c):
            if isinstance(c, float) and c != c and isinstance(node, cst.Call):
                return Atom(("nan", made.key), open_loops(made), at=made, node=node, text="nan")
            return Atom(("const", type(c).__name__, repr(c)), value.loops, isinstance(c, bool | str | None), repr(c))
        case Steps():
            different = len({repr(v) for v in value.values})
            if different == 1:
                return static_atom(Const(value.values[0]), made, node, depth)
            return Atom(None, frozenset(x.few(different) for x in value.loops), value.type == "bool", f"a {value.type}")
        case Host():
            few = value.type in ("bool", "str", "NoneType") or value.via == "few"
            return Atom(None, value.loops, few, f"a {value.type}")
        case Obj() if value.project_class is not None and value.project_class.facts.enum:
            # its site is the name of the member, or the call that looks one up: which, nobody knows
            member = ("enum", value.cls.name, value.site) if isinstance(value.site, str) else None
            return Atom(member, value.loops, True, value.cls.name)
        case Tup(items=items) if items is not None and depth < 4:
            return _together("tuple", [static_atom(i, made, node, depth + 1) for i in items])
        case Array(level=Level.NUMPY, shape=()):
            return Atom(None, value.loops, text=f"a {value.dtype or 'number'}")
        case Obj() if not hashed_by_identity(value):
            if value.project_class is None or depth >= 4 or _own_hash(value):
                return Atom()
            fields = [static_atom(v, made, None, depth + 1) for k, v in value.slots.items() if isinstance(k, str)]
            return _together(value.cls.name, fields)
        case Bound(func=inner, self=me):
            return _together(
                "method", [static_atom(inner, made, node, depth + 1), static_atom(me, made, None, depth + 1)]
            )
        case Func() | Partial() | Wrapped() | Obj() | Jitted() | ClassV() | LibV():
            found = identity(value, made)
            if found is None:
                return Atom()
            anew = isinstance(value, Func | Partial | Wrapped | Obj | Jitted)
            at = found.moment if anew and (found.moment.chain or found.moment.turns) else None
            where = getattr(value, "lazy", None) or getattr(value, "node", None) or getattr(value, "site", None)
            return Atom(found.key, open_loops(found.moment), not anew, found.why, at, where)
    return Atom()


def _own_hash(obj: Obj) -> bool:
    cls = obj.project_class
    return cls is not None and any(
        "__hash__" in c.slots or "__eq__" in c.slots for c in cls.mro() if isinstance(c, ClassV)
    )


def _together(what: str, parts: list[Atom]) -> Atom:
    known = all(p.value is not None for p in parts)
    fresh = next((p for p in parts if p.at is not None), None)
    return Atom(
        (what, *(p.value for p in parts)) if known or fresh is not None else None,
        frozenset().union(*(p.loops for p in parts)),
        all(p.setting for p in parts),
        fresh.text if fresh is not None else f"({', '.join(p.text for p in parts)})",
        fresh.at if fresh is not None else None,
        fresh.node if fresh is not None else None,
    )


def open_loops(moment: Moment) -> frozenset[Any]:
    """The loops of which the moment stands for any turn."""
    return frozenset(t.loop for t in moment.open)


def leaves_of(
    name: str, value: Value, made: Moment, path: str, depth: int = 0, filters: bool = False
) -> Iterator[tuple[Part, Atom]]:
    """The structure and the leaves of a traced argument; ``filters``: what is no array is static."""
    if depth > 5:
        return
    structure = Part(name, "structure", path)
    match value:
        case Const(value=c) if filters and c is not None:
            # numbers are compared without their types there
            yield structure, Atom("leaf", text="a leaf")
            yield Part(name, "static", path), replace(static_atom(value, made), value=("const", c))
        case Host() | Func() | Partial() | LibV() if filters:
            atom = static_atom(value, made)
            yield structure, Atom("leaf", text="a leaf")
            yield Part(name, "meta" if atom.at is not None else "static", path), atom
        case Const() | Host():
            kind = py_type(value)
            if kind == "NoneType":
                yield structure, Atom("None", text="None")
            elif kind in NUMBERS:
                yield structure, Atom("leaf", text="an array")
                yield Part(name, "shape", path), Atom((), text="a scalar")
                yield Part(name, "dtype", path), Atom(kind, text=str(kind))
                yield Part(name, "weak", path), Atom(kind != "bool", text="weak (a Python number)")
        case Array():
            yield structure, Atom("leaf", text="an array")
            known = value.shape is not None and None not in value.shape
            yield (
                Part(name, "shape", path),
                Atom(value.shape if known else None, value.shape_loops if not known else NO_LOOPS, text=_shape(value)),
            )
            if value.dtype is not None:
                dtype = _SAME.get(value.dtype, value.dtype)
                yield Part(name, "dtype", path), Atom(dtype, text=dtype)
            weak = False if value.level is Level.NUMPY else value.weak
            if weak is not None:
                yield Part(name, "weak", path), Atom(weak, text="weak" if weak else "strong")
        case ListV() | Tup():
            content = value.content if isinstance(value, ListV) else value
            kind = value.kind if isinstance(value, ListV) else "tuple"
            if content.items is None:
                yield structure, Atom(None, content.length_loops, text=f"a {kind}")
                return
            yield structure, Atom((kind, len(content.items)), text=f"a {kind} of {len(content.items)}")
            for n, item in enumerate(content.items):
                yield from leaves_of(name, item, made, f"{path}[{n}]", depth + 1, filters)
        case DictV() if value.rest is not None:
            yield structure, Atom(None, value.grown, text=f"a {value.kind}")
        case Union():
            yield from _alternatives(name, value, made, path, depth, filters)
        case DictV():
            keys = tuple(sorted(map(str, value.entries())))
            yield structure, Atom((value.kind, keys), text=f"a {value.kind} of {', '.join(keys)}")
            for k, item in value.entries().items():
                yield from leaves_of(name, item, made, f"{path}[{k!r}]", depth + 1, filters)
        case Obj() if value.project_class is not None and (
            value.project_class.facts.pytree or value.project_class.facts.namedtuple
        ):
            facts = value.project_class.facts
            yield structure, Atom(("object", value.cls.name), text=f"a `{value.cls.name}`")
            for k, item in value.slots.items():
                if not isinstance(k, str):
                    continue
                if k in facts.static_fields or facts.data_fields is not None and k not in facts.data_fields:
                    atom = static_atom(item, made)
                    yield Part(name, "meta" if atom.at is not None else "static", f"{path}.{k}"), atom
                else:
                    yield from leaves_of(name, item, made, f"{path}.{k}", depth + 1, filters)


def _alternatives(
    name: str, value: Union, made: Moment, path: str, depth: int, filters: bool
) -> Iterator[tuple[Part, Atom]]:
    """The parts of one of several values. Where a test that changes over a loop decides which one it is, so do they."""
    found: dict[Part, dict[Hashable, Atom]] = {}
    for member in value.members:
        for part, atom in leaves_of(name, member, made, path, depth + 1, filters):
            found.setdefault(part, {}).setdefault(atom.value, atom)
    for part, atoms in found.items():
        if len(atoms) == 1:
            yield part, next(iter(atoms.values()))
        elif None not in atoms and value.decided:
            texts = " or ".join(a.text for a in atoms.values())
            yield part, Atom(None, frozenset(x.few(len(atoms)) for x in value.decided), True, texts)


def _shape(value: Array) -> str:
    if value.shape is None:
        return "of some shape"
    return f"({', '.join('?' if n is None else str(n) for n in value.shape)}{',' if len(value.shape) == 1 else ''})"
