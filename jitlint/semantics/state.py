"""The mutable state of the abstract program: boxes with slots, and a trail of writes that can be undone and merged.

Scopes, lists, dicts, instances and classes are boxes. Every write goes through the :class:`Trail`, so that both arms
of a branch can be run from the same state: run one, collect what it changed, undo, run the other, join the changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jitlint.semantics.records import record

if TYPE_CHECKING:
    import libcst as cst

    from jitlint.semantics.source import Unit
    from jitlint.semantics.values import Value


class Box:
    """Something with named slots that can be written. ``birth`` orders boxes by when they were made."""

    __slots__ = ("birth", "site", "slots", "version")

    clock = 0

    def __init__(self, site: Any) -> None:
        self.slots: dict[Any, Value] = {}
        self.site = site
        self.version = 0
        Box.clock += 1
        self.birth = Box.clock


@record(frozen=True, slots=True)
class Running:
    """A function body that is running: the number of its frame, its node, and the place in it that is reached."""

    frame: int
    unit: Unit
    function: cst.CSTNode
    at: cst.CSTNode


@record(frozen=True, slots=True)
class Write:
    """A write of a slot by a statement of the program."""

    time: int
    node: cst.CSTNode
    unit: Unit
    loops: tuple[Any, ...]
    """The loops that were running."""
    traced: bool
    """Made by traced code."""
    certain: bool
    """No undecided branch stands around it."""
    function: str
    """The name of the function that makes it, empty at module level."""
    root: Any
    """The function that nobody in the project calls, under which it happened (None: the module's own run)."""
    run: Any
    """As :attr:`Moment.run`."""
    before: Value | None
    value: Value
    put_back: bool = False
    """Made by a context manager, which puts back at its end what it changes."""
    under: tuple[Running, ...] = ()
    """The functions that were running, the innermost first."""


@record(frozen=True, slots=True)
class Read:
    """A read, while tracing, of a slot that was made before the trace began."""

    box: Box
    key: Any
    node: cst.CSTNode
    unit: Unit
    time: int
    value: Value
    signature: Any
    """The signature under which the entry was traced (None: not known)."""
    function: str
    root: Any
    reader: Any = None
    """The function of the project whose body reads it (None: code of a module)."""
    turns: tuple[tuple[int, int], ...] = ()
    """The loops that were running, by the id of the node, each with the moment at which the running turn began."""


Changes = dict[tuple[int, Any], tuple[Box, Any, "Value | None"]]
"""Slots by (id of box, key), with the value each has after some code ran (None: unbound)."""


class Trail:
    """All writes so far, newest last."""

    def __init__(self) -> None:
        self._log: list[tuple[Box, Any, Value | None]] = []

    def write(self, box: Box, key: Any, value: Value) -> None:
        """Set a slot."""
        old = box.slots.get(key)
        if old is not value:
            self._log.append((box, key, old))
            box.slots[key] = value
            box.version += 1

    def delete(self, box: Box, key: Any) -> None:
        """Unbind a slot, if it is bound."""
        old = box.slots.pop(key, None)
        if old is not None:
            box.version += 1
            self._log.append((box, key, old))

    def mark(self) -> int:
        """A point to come back to."""
        return len(self._log)

    def changes(self, mark: int) -> Changes:
        """What was written since ``mark``, as it stands now."""
        return {(id(box), key): (box, key, box.slots.get(key)) for box, key, _ in self._log[mark:]}

    def since(self, mark: int) -> list[tuple[Box, Any, Value | None]]:
        """The writes since ``mark``, with what each slot held before (None: it was unbound)."""
        return self._log[mark:]

    def changed_in(self, box: Box, mark: int) -> dict[Any, Value | None]:
        """What was written to a box since ``mark``, as it stands now (None: unbound)."""
        return {key: box.slots.get(key) for written, key, _ in self._log[mark:] if written is box}

    def undo(self, mark: int) -> None:
        """Take back every write since ``mark``."""
        log = self._log
        while len(log) > mark:
            box, key, old = log.pop()
            box.version += 1
            if old is None:
                box.slots.pop(key, None)
            else:
                box.slots[key] = old

    def settle(self) -> None:
        """Nobody comes back to a mark any more: what was written stays."""
        self._log.clear()

    def forget(self, mark: int, box: Box) -> None:
        """Drop the writes to a box that nothing can reach any more."""
        log = self._log
        if len(log) > mark:
            log[mark:] = [entry for entry in log[mark:] if entry[0] is not box]

    def apply(self, changes: Changes) -> None:
        """Make the writes of one set of changes."""
        for box, key, value in changes.values():
            if value is None:
                self.delete(box, key)
            else:
                self.write(box, key, value)

    def merge(self, alternatives: list[Changes], join: Callable[[Value, Value], Value]) -> bool:
        """Continue from the state in which any of the alternatives may have happened; True if a slot changed."""
        if not alternatives:
            return False
        keys: Changes = {}
        for a in alternatives:
            keys.update(a)
        changed = False
        for k, (box, key, _) in keys.items():
            base = box.slots.get(key)
            value: Value | None = None
            for a in alternatives:
                v = a[k][2] if k in a else base
                if v is not None and v is not value:
                    value = v if value is None else join(value, v)
            if value is None:
                self.delete(box, key)
                changed |= base is not None
            elif value is not base:
                self.write(box, key, value)
                changed = True
        return changed
