"""Which line of the user's program led here."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_JAX_PACKAGES = (f"{os.sep}jax{os.sep}", f"{os.sep}jaxlib{os.sep}", f"{os.sep}jax_plugins{os.sep}")
_LIBRARY_FOLDERS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STDLIB = tuple(
    path + os.sep
    for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)}
    if path
)


def frames(start: FrameType | None) -> Iterator[FrameType]:
    """``start`` and its callers, innermost first."""
    while start is not None:
        yield start
        start = start.f_back


@lru_cache(maxsize=4096)
def origin(filename: str) -> str:
    """Who wrote the code in ``filename``: ``recorder``, ``jax``, ``library`` or ``user``."""
    if filename.startswith(_OWN):
        return "recorder"
    if filename.startswith("<frozen "):
        return "library"
    for folder in _LIBRARY_FOLDERS:
        _, found, rest = filename.rpartition(folder)
        if found:
            return "jax" if (os.sep + rest).startswith(_JAX_PACKAGES) else "library"
    if filename.startswith(_jax_root()):
        return "jax"
    return "library" if filename.startswith(_STDLIB) else "user"


def _jax_root() -> str | tuple[str, ...]:
    """The folder of a jax that is not installed but run from its sources; no file name starts with ``()``."""
    module = sys.modules.get("jax")
    path = getattr(module, "__file__", None)
    return os.path.dirname(path) + os.sep if path else ()


def user_frame(start: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's own code; where there is none, the innermost one that is not jax's."""
    fallback = None
    for frame in frames(start):
        who = origin(frame.f_code.co_filename)
        if who == "user":
            return frame
        if who == "library" and fallback is None and not frame.f_code.co_filename.startswith(("<frozen ", *_STDLIB)):
            fallback = frame
    return fallback


def place(frame: FrameType | None) -> dict[str, object] | None:
    """File, row and function of a frame, as the record has them."""
    if frame is None:
        return None
    return {
        "file": frame.f_code.co_filename,
        "row": frame.f_lineno,
        "function": getattr(frame.f_code, "co_qualname", frame.f_code.co_name),
    }


def place_of_error(error: BaseException) -> dict[str, object] | None:
    """The line of the user's own code where an error came up, None where it came up in none."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if origin(trace.tb_frame.f_code.co_filename) == "user":
            found = {**(place(trace.tb_frame) or {}), "row": trace.tb_lineno}
        trace = trace.tb_next
    return found
