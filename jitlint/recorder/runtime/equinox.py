"""Finds the user's function in what ``equinox.filter_jit`` hands to jax.

Equinox jits one function of its own per name, with the user's function, its arrays and everything else packed into
three arguments. What is known of its insides here is tried, and where it fails the call is recorded as it is.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from .recorder import Function, Unpacked

_FILE = os.path.join("equinox", "_jit.py")


def adapt(function: Function, fun: Any) -> None:
    """Have the record of a function that equinox jits look for the user's function in each call."""
    code = getattr(fun, "__code__", None)
    if code is not None and code.co_filename.endswith(_FILE):
        function.unpack = unpack


def unpack(_jax: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Unpacked | None:
    """The user's function and its arguments with tracers for arrays; None where this equinox is of another make."""
    combine = getattr(sys.modules.get("equinox._compile_utils"), "hashable_combine", None)
    if combine is None or len(args) != 3:
        return None
    try:
        dynamic = {**args[0], **args[1]}
        static_fun, static_first, static_rest = args[2]
        fun = combine(dynamic["fun"], static_fun)
        first = combine(dynamic["first"], static_first)
        rest, kwargs = combine(dynamic["rest"], static_rest)
    except Exception:
        return None
    # The last positional argument is equinox's own, there so that there is always a first one.
    return Unpacked(fun, (first, *rest)[:-1], dict(kwargs))
