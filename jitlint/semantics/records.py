"""Dataclasses of which very many are made: what ``frozen`` and ``replace`` of the standard library cost, saved.

A frozen dataclass sets each of its fields through ``object.__setattr__``, which doubles the time that making one takes.
``record`` is ``dataclass`` to type checkers, which are the ones to see that nobody assigns to what is frozen; at run
time, what is frozen is hashed by its fields and no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import replace
else:
    from dataclasses import dataclass, fields
    from functools import cache
    from operator import attrgetter

    def record(*, frozen=False, eq=True, **options):
        """``dataclass`` with these options; ``frozen`` gives a hash, and does not keep anybody from assigning."""

        def make(cls):
            hashed = frozen and eq and "__hash__" not in vars(cls)
            return dataclass(eq=eq, unsafe_hash=hashed, **options)(cls)

        return make

    def replace(record, /, **changes):
        """A copy of a record with other values in some of its fields."""
        copy = _copier(type(record))(record)
        for name, value in changes.items():
            setattr(copy, name, value)
        return copy

    @cache
    def _copier(cls):
        """What copies a record of this class."""
        names = [field.name for field in fields(cls)]
        values = attrgetter(*names)
        return (lambda record: cls(*values(record))) if len(names) > 1 else (lambda record: cls(values(record)))


__all__ = ["record", "replace"]
