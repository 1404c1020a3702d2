"""Puts the recorder into jax, once the program has imported it."""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import Any

from .bodies import Bodies
from .compiles import Compiles
from .equinox import adapt
from .importlib_bootstrap import CallableBody, make_entry
from .recorder import Recorder, recorder
from .waiting import when_imported

_done: list[Recorder] = []


def instrument(jax: ModuleType) -> Recorder:
    """Have the recorder of this process see every jit from here on; a second call changes nothing."""
    found = recorder()
    if _done:
        return found
    _done.append(found)
    try:
        bodies = Bodies(found, adapt)
        Compiles(found, bodies).listen(_monitoring())
        _hide_frames()
        _replace(jax, "jit", bodies)
        _replace(jax, "pmap", bodies)
        when_imported("jax.experimental.pjit", lambda module: _replace(module, "pjit", bodies, "jit"))
        found.emit({"event": "jax", "id": found.next_id(), "version": getattr(jax, "__version__", "")})
    except Exception as error:
        found.fault(error)
    return found


def _monitoring() -> Any:
    import jax.monitoring

    return jax.monitoring


def _replace(module: Any, name: str, bodies: Bodies, transform: str = "") -> None:
    original = getattr(module, name)
    kind = transform or name

    def finish(result: Any, fun: Any) -> None:
        if getattr(result, "__wrapped__", fun) is fun:
            return
        body = result.__wrapped__
        try:
            result.__wrapped__ = fun
            if isinstance(body, CallableBody):
                result.__module__ = getattr(fun, "__module__", "<unknown module>")
                result.__doc__ = getattr(fun, "__doc__", "") or ""
        except Exception as error:
            recorder().fault(error)

    def wrap(fun: Any) -> Any:
        try:
            return bodies.body_of(fun, kind)
        except Exception as error:
            recorder().fault(error)
            return fun

    entry = make_entry(original, wrap, finish)
    functools.update_wrapper(entry, original)
    # Where it can be found: pickles of functions that use jit refer to it by name.
    entry.__module__, entry.__qualname__ = module.__name__, name
    setattr(module, name, entry)


def _hide_frames() -> None:
    """Have jax leave the recorder's frames out of the tracebacks that it filters and makes, as it does its own."""
    for name in ("jax._src.traceback_util", "jax._src.source_info_util"):
        register = getattr(sys.modules.get(name), "register_exclusion", None)
        if register is not None:
            register(os.path.dirname(os.path.abspath(__file__)))
