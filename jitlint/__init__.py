"""jitlint finds what goes wrong under ``jax.jit``, says why, and repairs it.

The library API is :func:`check_paths` and :func:`check_source`; both return a :class:`Report`. They are loaded on first
use, so that ``import jitlint`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = ["Finding", "Report", "__version__", "check_paths", "check_source"]

_HOMES = {
    "Finding": "jitlint.findings",
    "Report": "jitlint.library",
    "check_paths": "jitlint.library",
    "check_source": "jitlint.library",
}

if TYPE_CHECKING:
    from jitlint.findings import Finding
    from jitlint.library import Report, check_paths, check_source
else:

    def __getattr__(name: str) -> object:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'jitlint' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(home), name)
