"""What ``isinstance`` answers for abstract values."""

from __future__ import annotations

import collections.abc
import numbers
import types
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.calls import JAX_ARRAY, is_callable
from jitlint.semantics.values import (
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
    SetV,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
    py_type,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_SCALARS = {
    "builtins.int": {"int", "bool"},
    "builtins.float": {"float"},
    "builtins.bool": {"bool"},
    "builtins.str": {"str"},
    "builtins.complex": {"complex"},
    "builtins.bytes": {"bytes"},
    "types.NoneType": {"NoneType"},
}
_CONTAINERS: dict[str, tuple[type, ...]] = {
    "builtins.list": (ListV,),
    "builtins.tuple": (Tup,),
    "builtins.dict": (DictV,),
    "builtins.set": (SetV,),
}
_TRACER = {"jax.core.Tracer", "jax._src.core.Tracer"}


def is_instance(interp: Interpreter, value: Value, kinds: Value) -> bool | None:
    """``isinstance(value, kinds)`` where known."""
    if isinstance(kinds, ListV):
        kinds = kinds.content
    options = kinds.items if isinstance(kinds, Tup) and kinds.items is not None else (kinds,)
    answers = [_is_one(interp, value, k) for k in options]
    if True in answers:
        return True
    return None if None in answers else False


def is_tracer_class(kind: Value) -> bool:
    """Is it the class of tracers?"""
    return isinstance(kind, LibV) and kind.name in _TRACER


def asks_for_tracer(interp: Interpreter, func: Value | None) -> bool | None:
    """What a function of the project that only asks whether its argument is a tracer answers for one; None for
    another function."""
    if not isinstance(func, Func) or not isinstance(func.lazy, cst.FunctionDef):
        return None
    parts = [part for line in func.lazy.body.body if isinstance(line, cst.SimpleStatementLine) for part in line.body]
    if len(func.lazy.body.body) > 2 or not parts or not isinstance(parts[-1], cst.Return):
        return None
    test, answer = parts[-1].value, True
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, answer = test.expression, not answer
    match test:
        case cst.Call(func=cst.Name(value="isinstance"), args=[_, kind]):
            from jitlint.semantics import demands

            return answer if is_tracer_class(demands.meaning(interp, func, kind.value)) else None
    return None


def _is_one(interp: Interpreter, value: Value, kind: Value) -> bool | None:
    if isinstance(value, Unknown | Union):
        return None
    if isinstance(kind, ClassV):
        if isinstance(value, Obj):
            mro = list(value.cls.mro()) if isinstance(value.cls, ClassV) else [value.cls]
            if any(c is kind for c in mro):
                return True
            return (
                None
                if any(not isinstance(c, ClassV) and c != LibV("builtins.object") for c in mro)
                and not isinstance(value.cls, ClassV)
                else False
            )
        return None if isinstance(value, Tree) else False
    if not isinstance(kind, LibV):
        return None
    name = kind.name
    if isinstance(value, Array):
        if name in _TRACER:
            return value.level >= Level.LINEAR
        if name in JAX_ARRAY:
            return value.level >= Level.HOST
        if name in ("numpy.ndarray", "numpy.generic"):
            if value.level is not Level.NUMPY:
                return False
            # what has no dimension may be a NumPy scalar; of what nothing is known, an array is by far likelier
            return None if value.shape == () else name == "numpy.ndarray"
        if value.level < Level.HOST:
            return None
        return False if name in _SCALARS or name in _CONTAINERS else _is_abstract(_JaxArray, name)
    scalar = py_type(value)
    if name in _SCALARS:
        if scalar is not None and scalar != "object" and scalar != "number":
            return scalar in _SCALARS[name]
        return False if isinstance(value, Tup | ListV | DictV | SetV | Func | ClassV) else None
    if name in _CONTAINERS:
        if isinstance(value, Obj):
            return (
                name == "builtins.tuple"
                if value.project_class is not None and value.project_class.facts.namedtuple
                else None
            )
        if isinstance(value, Tup) and value.kind == "iterator":
            return False
        return isinstance(value, _CONTAINERS[name]) if not isinstance(value, Tree | Host) else None
    if name in _TRACER or name in JAX_ARRAY or name in ("numpy.ndarray", "numpy.generic"):
        if isinstance(value, Const | Tup | ListV | DictV | Func | ClassV):
            return False
        if isinstance(value, Host) and value.type != "object":
            return False
        if isinstance(value, Tree) and name in _TRACER:
            return None
    if name in ("collections.abc.Callable", "typing.Callable"):
        return is_callable(value)
    python = _python_type(value)
    return _is_abstract(python, name) if python is not None else None


class _JaxArray:
    """Has the special methods that both arrays and tracers of JAX have (read off a run), to ask abstract classes."""

    __abs__ = __complex__ = __contains__ = __float__ = __index__ = __int__ = __iter__ = __len__ = __round__ = (
        lambda self, *rest: NotImplemented
    )
    __hash__ = None  # type: ignore[assignment]


_ABSTRACT: dict[str, types.ModuleType] = {"collections.abc": collections.abc, "numbers": numbers, "typing": typing}
_UNSURE = {"Reversible"}
"""What arrays are and tracers are not."""


def _is_abstract(kind: type, name: str) -> bool | None:
    """Is ``kind`` a subclass of an abstract class of Python; None for other classes and where that can't be asked."""
    module, _, short = name.rpartition(".")
    if module not in _ABSTRACT or kind is _JaxArray and short in _UNSURE:
        return None
    try:
        return issubclass(kind, getattr(_ABSTRACT[module], short))
    except (AttributeError, TypeError):
        return None


_PYTHON: dict[str, type[Any]] = {
    **{kind.__name__: kind for kind in (bool, bytes, complex, float, int, str, type(None), types.FunctionType)},
    **{kind.__name__: kind for kind in (Counter, OrderedDict, defaultdict, deque, dict, frozenset, list, set)},
}


def _python_type(value: Value) -> type[Any] | None:
    """The Python type of a value that is no array; None where it is not known."""
    match value:
        case Tup():
            return tuple if value.kind == "tuple" else None
        case ListV() | DictV() | SetV():
            return _PYTHON.get(value.kind)
        case Func() | Bound() | Partial() | Jitted() | Wrapped():
            return types.FunctionType
    return _PYTHON.get(py_type(value) or "")
