"""Dotted names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def absolute_name(package: str, dotted: str, level: int) -> str:
    """The absolute dotted name of ``from <level dots><dotted> import …`` in the module of ``package``.

    Dots beyond the outermost package are ignored, so that the result is a name in any case.
    """
    if level == 0:
        return dotted
    parts = package.split(".") if package else []
    kept = parts[: max(0, len(parts) + 1 - level)]
    return ".".join([*kept, dotted] if dotted else kept)


def prefixes(dotted: str) -> list[str]:
    """``a.b.c`` as ``a``, ``a.b``, ``a.b.c``."""
    parts = dotted.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def requests_from(dotted: str, names: Iterable[str], level: int) -> Iterator[tuple[str, int]]:
    """What ``from <level dots><dotted> import names`` asks for: the module itself, and a module for each name."""
    yield dotted, level
    for name in names:
        if name != "*":
            yield f"{dotted}.{name}" if dotted else name, level
