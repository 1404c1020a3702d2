"""jitlint finds what goes wrong under ``jax.jit``, says why, and repairs it.

The library API is :func:`check_paths` and :func:`check_source`; both return a :class:`Report`. They are loaded on first
use, so that ``import jitlint`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Finding",
    "Report",
    "RetraceError",
    "__version__",
    "check_paths",
    "check_source",
    "load_ipython_extension",
    "no_retrace",
    "unload_ipython_extension",
    "watch",
]

_HOMES = {
    "Finding": "jitlint.findings",
    "Report": "jitlint.library",
    "check_paths": "jitlint.library",
    "check_source": "jitlint.library",
    "RetraceError": "jitlint.recorder.guard",
    "load_ipython_extension": "jitlint.recorder.notebook",
    "no_retrace": "jitlint.recorder.guard",
    "unload_ipython_extension": "jitlint.recorder.notebook",
    "watch": "jitlint.recorder.memory",
}

if TYPE_CHECKING:
    from jitlint.findings import Finding
    from jitlint.library import Report, check_paths, check_source
    from jitlint.recorder.guard import RetraceError, no_retrace
    from jitlint.recorder.memory import watch
    from jitlint.recorder.notebook import load_ipython_extension, unload_ipython_extension
else:

    def __getattr__(name: str) -> object:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'jitlint' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(home), name)
