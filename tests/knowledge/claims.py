"""The small languages of ``shape``, ``dtype`` and ``weak``, evaluated on concrete arguments.

The engine evaluates them on abstract values; here they are evaluated on real ones, so that a row's claim can be
compared with what the library gives. ``UNKNOWN`` says that the word claims nothing about this call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jitlint.knowledge import FunctionModel, Term

UNKNOWN = object()
_NUMBERS = (bool, int, float, complex, np.generic)


def operands(model: FunctionModel, term: Term, args: Mapping[str, Any]) -> list[Any]:
    """The arrays and numbers that ``promote`` and ``inexact`` range over: the named ones, else all but the concrete."""
    names = term.args or [name for name in args if name not in model.concrete]
    leaves = jax.tree.leaves([args[name] for name in names if args.get(name) is not None])
    return [leaf for leaf in leaves if is_data(leaf)]


def is_data(value: Any) -> bool:
    """Is it an array or a number, but no key?"""
    if isinstance(value, (jax.Array, np.ndarray, jax.ShapeDtypeStruct)):
        return not jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    return isinstance(value, _NUMBERS)


def shape(model: FunctionModel, args: Mapping[str, Any]) -> Any:
    """The shape that the row claims for a call with these arguments (defaults filled in)."""
    return UNKNOWN if model.shape is None else _shape(model, model.shape, args)


def _shape(model: FunctionModel, term: Term, args: Mapping[str, Any]) -> Any:
    if term.op == "arg":
        given = args.get(term.arg)
        if given is not None and given != ():
            return (given,) if isinstance(given, int) else tuple(given)
        if len(term.args) > 1:
            return _shape(model, Term(term.args[1], term.args[2:]), args)
        return UNKNOWN if given is None else ()
    if term.op == "scalar":
        return ()
    if term.op == "broadcast":
        return np.broadcast_shapes(*(np.shape(leaf) for leaf in operands(model, term, args)))
    if term.op == "rank":
        return Rank(int(term.arg))
    if term.op == "vector":
        return (args[term.arg],)
    if term.op == "matrix":
        rows, columns = args[term.args[0]], args.get(term.args[1])
        return (rows, rows if columns is None else columns)
    if term.op == "arange":
        return np.arange(*(args[n] for n in ("start", "stop", "step") if args.get(n) is not None)).shape
    if term.op == "linspace":
        return (args["num"],) if np.shape(args["start"]) == np.shape(args["stop"]) == () else UNKNOWN
    if term.op == "keys":
        return (args[term.arg],) if isinstance(args[term.arg], int) else tuple(args[term.arg])
    first = args[term.arg]
    if term.op in ("concat", "stack"):
        at = args[term.args[1]]
        join = np.concatenate if term.op == "concat" else np.stack
        return UNKNOWN if at is None else join([np.zeros(np.shape(part)) for part in first], axis=at).shape
    if term.op == "pad":
        return np.pad(np.zeros(np.shape(first)), args[term.args[1]]).shape
    if term.op in ("vstack", "hstack"):
        return getattr(np, term.op)([np.zeros(np.shape(part)) for part in first]).shape
    if term.op == "append":
        flat = args.get("axis") is None
        return np.append(np.zeros(np.shape(first)), np.zeros(np.shape(args[term.args[1]]))).shape if flat else UNKNOWN
    sample = np.zeros(np.shape(first))
    axis: Any = args.get(term.args[1]) if len(term.args) > 1 else None
    if term.op == "like":
        return np.array(sample, ndmin=axis or 0).shape
    if term.op == "shuffled":
        return np.shape(first) or (int(first),)
    if term.op == "reduce":
        return np.sum(sample, axis=axis, keepdims=bool(args.get("keepdims"))).shape
    if term.op in ("matmul", "dot"):
        return getattr(np, term.op)(sample, np.zeros(np.shape(args[term.args[1]]))).shape
    if term.op == "transpose":
        return np.transpose(sample, axis).shape
    if term.op == "swap":
        return np.swapaxes(sample, -1, -2).shape
    if term.op == "expand":
        return np.expand_dims(sample, axis).shape
    if term.op == "squeeze":
        return np.squeeze(sample, axis).shape
    raise ValueError(f"no such shape word: {term}")


class Rank:
    """Equal to any shape of that rank."""

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and len(other) == self.rank

    def __hash__(self) -> int:
        return self.rank

    def __repr__(self) -> str:
        return f"<rank {self.rank}>"


def dtype(model: FunctionModel, args: Mapping[str, Any]) -> Any:
    """The dtype that the row claims, as a numpy dtype."""
    return UNKNOWN if model.dtype is None else _dtype(model, model.dtype, args)


def _dtype(model: FunctionModel, term: Term, args: Mapping[str, Any]) -> Any:
    if term.op == "arg":
        if args.get(term.arg) is not None:
            return jax.dtypes.canonicalize_dtype(args[term.arg])
        return UNKNOWN if len(term.args) < 2 else _dtype(model, Term(term.args[1], term.args[2:]), args)
    if term.op == "like":
        return jnp.result_type(*jax.tree.leaves(args[term.arg]))
    if term.op in ("promote", "inexact"):
        found = jnp.result_type(*operands(model, term, args))
        return found if term.op == "promote" or found.kind in "fcV" else jnp.result_type(float)
    if term.op == "real":
        found = _dtype(model, Term(term.args[0], term.args[1:]), args)
        return np.finfo(found).dtype if found.kind == "c" else found
    if term.op == "total":
        found = jnp.result_type(args[term.arg])
        return jnp.sum(jnp.zeros(1, found)).dtype
    words = {"float": float, "int": int, "bool": bool, "complex": complex}
    return jnp.result_type(words[term.op]) if term.op in words else jax.dtypes.canonicalize_dtype(term.op)


def weak(model: FunctionModel, args: Mapping[str, Any]) -> Any:
    """Whether the row claims a weakly typed result."""
    term = model.weak
    if term is None:
        return UNKNOWN
    chosen = model.dtype is not None and model.dtype.op == "arg" and args.get(model.dtype.arg) is not None
    if chosen or term.op == "never":
        return False
    if term.op == "always":
        return True
    if term.op == "inexact" and not jnp.issubdtype(jnp.result_type(args[term.arg]), jnp.inexact):
        return UNKNOWN
    if term.op == "drawn" and isinstance(args[term.arg], _NUMBERS):
        return False
    if term.op in ("like", "value", "inexact", "drawn"):
        return all(_is_weak(leaf) for leaf in jax.tree.leaves(args[term.arg]))
    if term.op == "promote":
        return all(_is_weak(leaf) for leaf in operands(model, term, args))
    raise ValueError(f"no such weak word: {term}")


def _is_weak(value: Any) -> bool:
    if isinstance(value, _NUMBERS):
        return not isinstance(value, (bool, np.generic))
    return bool(getattr(value, "weak_type", False))
