"""Numbers for objects that are never used twice, which ``id`` does not promise."""

from __future__ import annotations

import itertools
import weakref
from typing import Any


class Serials:
    """Gives each live object its own number; an object that cannot be weakly referenced falls back on its ``id``."""

    def __init__(self) -> None:
        self._next = itertools.count(1)
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}

    def of(self, thing: object) -> int:
        """The number of ``thing``: the same for the same object, another for any other object ever seen."""
        key = id(thing)
        known = self._known.get(key)
        if known is not None and known[0]() is thing:
            return known[1]
        try:
            reference = weakref.ref(thing)
        except TypeError:
            return -key
        serial = next(self._next)
        self._known[key] = (reference, serial)
        if len(self._known) % 1024 == 0:
            self._known = {k: entry for k, entry in self._known.items() if entry[0]() is not None}
        return serial
