"""What runs at the start of every Python process below ``jitlint trace``.

Until the program imports jax it loads next to nothing: most processes never do, and a program may have modules of its
own with the names of the standard library's.
"""

from __future__ import annotations

import os
import sys

from .waiting import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

FOLDER_VARIABLE = "JITLINT_TRACE_DIR"


def start_from_environment() -> None:
    """Record this process into the folder that ``jitlint trace`` named, if it did."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        when_imported("jax", lambda jax: _start(jax, folder))


def _start(jax: ModuleType, folder: str) -> None:
    try:
        from .instrument import instrument
        from .recorder import recorder
        from .sink import JsonLines
        from .tracebacks import hide_own_frames

        recorder().listeners.append(JsonLines(folder))
        instrument(jax)
        hide_own_frames()
    except Exception as error:
        # This runs within the program's ``import jax``, which must not fail for it.
        print(f"jitlint: this process is not recorded: {type(error).__name__}: {error}", file=sys.stderr)
