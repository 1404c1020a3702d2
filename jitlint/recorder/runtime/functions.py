"""Which function of the user's a callable comes down to, through jits, partials, gradients and bound methods."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable
from typing import Any, NamedTuple

from .stack import origin

_MAX_DEPTH = 32
_WRAPPER_NAMES = {
    "grad_f": "grad",
    "grad_f_aux": "grad",
    "value_and_grad_f": "value_and_grad",
    "vmap_f": "vmap",
    "jacfun": "jacobian",
    "fun_remat": "checkpoint",
}
"""What the functions inside jax that make up transformed functions are the result of."""


class Definition(NamedTuple):
    """Where and as what a function is defined; two function objects of one ``def`` have equal ``key``."""

    name: str
    qualname: str
    label: str
    """The name as a user thinks of it: ``loss``, ``value_and_grad(loss)``, ``partial(step)``."""
    file: str
    row: int
    key: Hashable

    def as_json(self) -> dict[str, object]:
        """What the record says of the function."""
        return {
            "name": self.name,
            "qualname": self.qualname,
            "label": self.label,
            "file": self.file,
            "row": self.row,
            "library": origin(self.file) != "user",
        }


def definition(fun: Any) -> Definition:
    """The definition behind ``fun``, whatever callable it is."""
    shown_name = getattr(fun, "__name__", None)
    wrappers: list[str] = []
    chain: list[Hashable] = []
    for _ in range(_MAX_DEPTH):
        if isinstance(fun, functools.partial):
            wrappers.append("partial")
            chain.append("partial")
            fun = fun.func
        elif inspect.ismethod(fun):
            fun = fun.__func__
        elif (inner := _wrapped(fun)) is not None:
            wrapper_code: Hashable = getattr(fun, "__code__", None)
            chain.append(wrapper_code or type(fun).__qualname__)
            if (wrapper := _wrapper_name(fun)) is not None:
                wrappers.append(wrapper)
                chain.append(wrapper)
            fun = inner
        else:
            break
    if not hasattr(fun, "__code__") and not inspect.isroutine(fun) and not isinstance(fun, type):
        # An object with ``__call__``: its class is where the code is.
        call = inspect.unwrap(type(fun).__call__)
        if hasattr(call, "__code__"):
            fun = call
    code = getattr(fun, "__code__", None)
    qualname = getattr(fun, "__qualname__", None) or type(fun).__qualname__
    name = shown_name or getattr(fun, "__name__", None) or type(fun).__name__
    label = functools.reduce(lambda text, wrapper: f"{wrapper}({text})", reversed(wrappers), qualname)
    if code is None:
        return Definition(name, qualname, label, "", 0, (qualname, *chain))
    return Definition(name, qualname, label, code.co_filename, code.co_firstlineno, (code, *chain))


def _wrapped(fun: Any) -> Any:
    """What a wrapper made by ``functools.wraps`` or by jax stands for, None where ``fun`` is no wrapper."""
    try:
        return vars(fun).get("__wrapped__") or (hasattr(type(fun), "__wrapped__") and fun.__wrapped__) or None
    except Exception:
        return None


def _wrapper_name(fun: Any) -> str | None:
    """``grad`` for what ``jax.grad`` returns; None for jits and for wrappers of the user's, which name themselves."""
    code = getattr(fun, "__code__", None)
    if code is None or origin(code.co_filename) != "jax":
        return None
    if code.co_name == "reraise_with_filtered_traceback":
        # What filters tracebacks stands around what does the work.
        inner = inspect.getclosurevars(fun).nonlocals.get("fun")
        code = getattr(inner, "__code__", code)
    return _WRAPPER_NAMES.get(code.co_name)
