"""What a recorded run passed to the jitted functions of a program, as plain data that the engine can ask.

Places are (path, row): the row of a function is that of its first decorator, or of its ``def`` or ``lambda``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArrayLeaf:
    """An array that was traced: its dtype by its full name (``key`` for PRNG keys), shape and weak type."""

    dtype: str
    shape: tuple[int | None, ...]
    weak: bool = False


@dataclass(frozen=True, slots=True)
class StaticLeaf:
    """A static value: its text, which is a Python literal where its type has those, and the name of its type."""

    text: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a pytree: ``kind`` is ``none``, ``list``, ``tuple``, ``dict`` or ``object``, ``name`` the class of an
    object. The children come with their index, key or field; None where the record does not tell."""

    kind: str
    children: tuple[tuple[Hashable | None, Observed], ...] = ()
    name: str = ""


Observed = ArrayLeaf | StaticLeaf | Branch


@dataclass(frozen=True, slots=True)
class ObservedArgument:
    """One argument of a call: the parameter, whether it was passed by keyword, and the value (None: not legible)."""

    name: str
    keyword: bool
    value: Observed | None


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call that led to a trace, and the place of the user's code that made it ("" where none did)."""

    path: str
    row: int
    arguments: tuple[ObservedArgument, ...]

    def value(self, name: str) -> Observed | None:
        """What was passed for a parameter; None if nothing was, or nothing legible."""
        return next((a.value for a in self.arguments if a.name == name), None)


@dataclass(frozen=True, slots=True)
class ObservedFunction:
    """A jitted function of the run. ``traces`` is how often one process traced it; ``calls`` are those that led to
    traces with arguments that differ."""

    traces: int
    calls: tuple[ObservedCall, ...]


FunctionKey = tuple[str, int, tuple[str, ...]]
"""Path and row of the definition, and the transforms around it, outermost first (``("grad",)``, ``("partial",)``)."""

Observations = Mapping[FunctionKey, ObservedFunction]
