"""``%load_ext jitlint``: the recorder in a notebook."""

from __future__ import annotations

import re
import sys
from typing import Any

from jitlint.recorder.memory import MemoryRecord, watch
from jitlint.recorder.record import record_of_events
from jitlint.recorder.runtime.recorder import Event
from jitlint.recorder.runtime.sink import process_event

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

    print(render_table(record_of_events([process_event(), *map(_by_cell, _MEMORY.events)]), None), end="")


def _by_cell(event: Event) -> Event:
    """The event with cells by the number that the user sees, in place of the files that IPython makes up."""
    shown = dict(event)
    if "file" in shown:
        shown["file"] = _cell_name(shown["file"])
    for key in ("call", "made", "raised"):
        if shown.get(key):
            shown[key] = {**shown[key], "file": _cell_name(shown[key]["file"])}
    return shown


def _cell_name(file: str) -> str:
    found = re.match(r"<ipython-input-(\d+)-", file)
    if found is not None:
        return f"In[{found[1]}]"
    name_of = getattr(getattr(_loaded[0], "compile", None), "format_code_name", None) if _loaded else None
    name = name_of(file) if name_of is not None else None
    return str(name[1]) if name else file


def _reset(line: str = "") -> None:
    """%jit_reset: begin %jit_report anew."""
    _MEMORY.events.clear()
