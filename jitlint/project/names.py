"""Dotted names."""

from __future__ import annotations


def absolute_name(package: str, dotted: str, level: int) -> str:
    """The absolute dotted name of ``from <level dots><dotted> import …`` in the module of ``package``.

    Dots beyond the outermost package are ignored, so that the result is a name in any case.
    """
    if level == 0:
        return dotted
    parts = package.split(".") if package else []
    kept = parts[: max(0, len(parts) + 1 - level)]
    return ".".join([*kept, dotted] if dotted else kept)
