"""``%load_ext jitlint``: the recorder in a notebook."""

from __future__ import annotations

import sys
from typing import Any

from jitlint.recorder.memory import MemoryRecord, watch

_MEMORY = MemoryRecord()
_loaded: list[Any] = []


def load_ipython_extension(shell: Any) -> None:
    """Record from now on, and add the magics ``%jit_report`` and ``%jit_reset`` to an IPython shell."""
    if "jax" in sys.modules and not _loaded:
        print("jitlint: jax was imported before: functions that are jitted already are not recorded")
    watch()
    if not _loaded:
        _MEMORY.start()
    _loaded[:] = [shell]
    shell.register_magic_function(_report, "line", "jit_report")
    shell.register_magic_function(_reset, "line", "jit_reset")


def unload_ipython_extension(shell: Any) -> None:
    """Collect no more. What jax got from the recorder stays, and does nothing."""
    if _loaded:
        _MEMORY.stop()
        _MEMORY.events.clear()
        _loaded.clear()
    for name in ("jit_report", "jit_reset"):
        shell.magics_manager.magics["line"].pop(name, None)


def _report(line: str = "") -> None:
    """%jit_report: what was traced and compiled since the extension was loaded or %jit_reset, and why."""
    from jitlint.recorder.table import render_table

    print(render_table(_MEMORY.record(), None), end="")


def _reset(line: str = "") -> None:
    """%jit_reset: begin %jit_report anew."""
    _MEMORY.events.clear()
