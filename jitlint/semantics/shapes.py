"""Arithmetic on what is known of shapes, dtypes and weak types. Follows jax's promotion lattice with x64 off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jitlint.semantics.values import NONE, Array, Const, DtypeOf, Host, LibV, Shape, Steps, Tup, Value, stepwise

_ORDER = ["bool", "int", "float", "complex"]
_DEFAULT = {"int": "int32", "float": "float32", "complex": "complex64", "bool": "bool"}
_KINDS_OF = {
    "generic": ("bool", "int", "float", "complex"),
    "number": ("int", "float", "complex"),
    "inexact": ("float", "complex"),
    "floating": ("float",),
    "complexfloating": ("complex",),
    "integer": ("int",),
    "bool": ("bool",),
}
"""The kinds of dtypes below the abstract scalar types of NumPy, and below ``bool``."""


def kind(dtype: str | None) -> str | None:
    """``float`` for ``float32``, ``int`` for ``uint8``; None when nothing is known."""
    if dtype is None:
        return None
    for k in ("bool", "float", "complex", "key", "str"):
        if dtype.startswith(k) or dtype.startswith("b" + k) and k == "float":
            return k
    return "int" if dtype.startswith(("int", "uint")) else None


def dtype_of(array: Array) -> Host:
    """``array.dtype``, with its name where the kind is certain."""
    if kind(array.dtype) not in _ORDER or array.via is not None or array.maybe:
        return Host("dtype")
    return DtypeOf("dtype", name=array.dtype or "")


def named(value: Value) -> str | None:
    """The dtype that a value names where one is asked for: ``jnp.float32``, ``float``, ``"int32"``."""
    if isinstance(value, LibV):
        tail = value.name.rpartition(".")[2]
        if tail in ("object", "object_"):
            return "object"
        if value.name in ("builtins.float", "builtins.int", "builtins.bool", "builtins.complex"):
            return {"float": "float32", "int": "int32", "bool": "bool", "complex": "complex64"}[tail]
        return tail.rstrip("_") if kind(tail) is not None else None
    if isinstance(value, Const) and isinstance(value.value, str):
        if value.value in ("O", "object"):
            return "object"
        return value.value if kind(value.value) is not None else None
    return None


def is_subdtype(dtype: str, of: str) -> bool | None:
    """Is a dtype one of those that a scalar type of NumPy stands for (``integer``, ``inexact``)? None if unknown."""
    kinds = _KINDS_OF.get(of)
    return None if kinds is None else kind(dtype) in kinds


def full(dtype: str | None) -> str | None:
    """The dtype that a kind has by default (``float`` is float32)."""
    return _DEFAULT.get(dtype, dtype) if dtype is not None else None


def inexact(dtype: str | None) -> str | None:
    """The dtype of a true division: ints become floats."""
    return "float" if kind(dtype) in ("int", "bool") else dtype


def promote(a: Array, b: Array) -> tuple[str | None, bool | None]:
    """dtype and weak type of an operation on two arrays (Python numbers are weak)."""
    ka, kb = kind(a.dtype), kind(b.dtype)
    weak: bool | None
    if ka not in _ORDER or kb not in _ORDER:
        weak = True if a.weak and b.weak else (False if a.weak is False and b.weak is False else None)
        return None, weak
    ia, ib = _ORDER.index(ka), _ORDER.index(kb)
    if ia != ib:
        high, low = (a, b) if ia > ib else (b, a)
        if high.weak and not low.weak and kind(low.dtype) == kind(high.dtype):
            return low.dtype, low.weak
        return high.dtype, high.weak if not (high.weak and low.weak is None) else None
    if a.weak and not b.weak:
        return b.dtype, b.weak
    if b.weak and not a.weak:
        return a.dtype, a.weak
    dtype = a.dtype if full(a.dtype) == full(b.dtype) else ka
    return dtype, (a.weak if a.weak == b.weak else None)


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of an element-wise operation; None when a rank is unknown."""
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    out = list(a)
    for i in range(1, len(b) + 1):
        x, y = a[-i], b[-i]
        out[-i] = (
            y
            if x == 1
            else x
            if y == 1
            else x
            if x is not None and x == y
            else (x if y is None else y if x is None else x)
        )
    return tuple(out)


def matmul(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of ``a @ b``."""
    if not a or not b:
        return None
    if len(a) == 1 and len(b) == 1:
        return ()
    if len(a) == 1:
        return (*b[:-2], b[-1])
    if len(b) == 1:
        return a[:-1]
    batch = broadcast(a[:-2], b[:-2])
    return None if batch is None else (*batch, a[-2], b[-1])


def as_int(v: Value) -> int | None:
    """A small constant int, or None."""
    return v.value if isinstance(v, Const) and isinstance(v.value, int) and not isinstance(v.value, bool) else None


def as_length(v: Value) -> int | None:
    """The length of an axis; None when it is unknown."""
    n = as_int(v)
    return n if n is not None and n >= 0 else None


def as_shape(v: Value) -> Shape | None:
    """A shape argument (an int or a tuple or list of ints) as a shape, where -1 is a length that is not known; None when
    the rank is unknown."""
    from jitlint.semantics.values import ListV

    if isinstance(v, ListV):
        v = v.content
    if isinstance(v, Tup):
        return None if v.items is None else tuple(as_length(i) for i in v.items)
    if isinstance(v, Const) and isinstance(v.value, int):
        return (as_length(v),)
    if isinstance(v, Host) and v.type == "int":
        return (None,)
    return None


def as_axes(v: Value, rank: int) -> tuple[int, ...] | None:
    """An axis argument as non-negative ints; all axes for None; None when unknown."""
    if isinstance(v, Const) and v.value is None:
        return tuple(range(rank))
    single = as_int(v)
    if single is not None:
        return (single % rank,) if rank and -rank <= single < rank else None
    if isinstance(v, Tup) and v.items is not None:
        axes = [as_int(i) for i in v.items]
        return tuple(x % rank for x in axes if x is not None) if rank and None not in axes else None
    return None


def indexed(shape: Shape | None, parts: Sequence[Value]) -> Shape | None:
    """The shape of ``x[parts]``; None when it is not simple."""
    from jitlint.semantics.operators import SliceV

    if shape is None:
        return None
    used = 0
    advanced: list[Shape] = []
    for p in parts:
        if isinstance(p, Const) and (p.value is None or p.value is ...):
            continue
        if isinstance(p, Array):
            if p.shape is None or kind(p.dtype) == "bool" or p.dtype is None and p.shape != ():
                return None
            if p.shape != ():
                advanced.append(p.shape)
        elif not isinstance(p, Const | Host | SliceV):
            return None
        used += 1
    if used > len(shape):
        return None
    if len(advanced) > 1 or advanced and len(parts) > 1:
        return None
    out: list[int | None] = []
    axis = 0
    for p in parts:
        if isinstance(p, Const) and p.value is None:
            out.append(1)
        elif isinstance(p, Const) and p.value is ...:
            rest = len(shape) - used
            out.extend(shape[axis : axis + rest])
            axis += rest
        elif isinstance(p, SliceV):
            out.append(_sliced(shape[axis], p))
            axis += 1
        elif isinstance(p, Array) and p.shape:
            out.extend(p.shape)
            axis += 1
        else:
            axis += 1
    out.extend(shape[axis:])
    return tuple(out)


def dimensions(shape: Shape | None, parts: Sequence[Value]) -> list[tuple[Value, int | None]]:
    """The parts of an index, each with the length of the axis that it is for, where that is known."""
    if shape is None or any(isinstance(p, Const) and (p.value is None or p.value is ...) for p in parts):
        return [(p, None) for p in parts]
    return [(p, shape[i] if i < len(shape) else None) for i, p in enumerate(parts)]


def lengths(dim: int | None, s: Any) -> set[int] | None:
    """The lengths of ``x[a:b]`` over the turns of a loop whose index ``a`` or ``b`` (or both) comes from; None where
    they are not known."""
    lower, upper, step = s.bounds
    if dim is None or step != NONE:
        return None
    found = stepwise(lambda a, b: len(range(*slice(a, b).indices(dim))), lower, upper)
    return set(found.values) if isinstance(found, Steps) else None


def _sliced(dim: int | None, s: Any) -> int | None:
    found = lengths(dim, s)
    if found is not None and len(found) == 1:
        return found.pop()
    bounds = []
    for b in s.bounds:
        if not isinstance(b, Const):
            return None
        bounds.append(b.value)
    if bounds == [None, None, None]:
        return dim
    if dim is None:
        lower, upper, step = bounds
        if lower in (None, 0) and step is None and isinstance(upper, int) and upper >= 0:
            return None
        return None
    try:
        return len(range(*slice(*bounds).indices(dim)))
    except (TypeError, ValueError):
        return None


def reduced(shape: Shape | None, axis: Value | None, keepdims: bool | None) -> Shape | None:
    """The shape of a reduction over ``axis`` (None: all)."""
    if axis is None or isinstance(axis, Const) and axis.value is None:
        if keepdims:
            return None if shape is None else (1,) * len(shape)
        return () if keepdims is False else None
    if shape is None or keepdims is None:
        return None
    axes = as_axes(axis, len(shape))
    if axes is None:
        return None
    if keepdims:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)


def join_like(a: Shape | None, b: Shape | None) -> Shape | None:
    """The common shape of the elements of a list; None where they differ in rank."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def size(shape: Shape | None) -> int | None:
    """The number of elements, or None."""
    if shape is None or None in shape:
        return None
    out = 1
    for d in shape:
        out *= d or 0
    return out
