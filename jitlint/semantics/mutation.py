"""Objects given as static arguments that the program changes between two calls.

JAX keeps the object as a key of its cache, and finds the same key again though the object has changed. Runs after the
program: every call remembers its arguments, and the interpreter every write.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jitlint.semantics.entry import Call, Entry
from jitlint.semantics.events import Bucket, MutatedStatic
from jitlint.semantics.state import Box, Write
from jitlint.semantics.validity import is_pytree
from jitlint.semantics.values import DictV, ListV, Obj, SetV, Tup, Value, members

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

DEPTH = 4
"""How deep objects are followed."""


def emit_mutated_statics(interp: Interpreter) -> None:
    """Record a :class:`MutatedStatic` for each write to a static argument after a call, and before another."""
    for entry in interp.entries:
        for name in sorted(entry.statics):
            if not _is_receiver(entry, name):
                for write, call in _between(interp, entry, name):
                    _emit(interp, entry, name, write, call)


def _is_receiver(entry: Entry, name: str) -> bool:
    """Is it the ``self`` of a method? Its attributes are a matter of stale reads."""
    owned = entry.target is not None and entry.target.owner is not None
    return owned and bool(entry.params) and name == "self"


def _between(interp: Interpreter, entry: Entry, name: str) -> Iterator[tuple[Write, Call]]:
    """The first write to each thing that a static parameter was given, with the call before it."""
    first: dict[int, Call] = {}
    last: dict[int, int] = {}
    boxes: dict[int, Box] = {}
    for call in entry.calls:
        for box in _boxes(call.bound.get(name)):
            boxes[id(box)] = box
            first.setdefault(id(box), call)
            last[id(box)] = max(last.get(id(box), 0), call.time)
    for key, box in boxes.items():
        writes = [w for slot in _matters(entry, box) for w in interp.writes.get((key, slot), ())]
        late = [w for w in writes if not w.traced and first[key].time < w.time < last[key]]
        if late:
            yield min(late, key=lambda write: write.time), first[key]


def _matters(entry: Entry, box: Box) -> list[Any]:
    """The slots whose change goes unseen: of an object, those that traced code read, where any read is known."""
    read = {slot for (key, slot, _) in entry.reads if key == id(box)}
    if not isinstance(box, Obj) or not read or box.project_class is None or box.project_class.lookup("__hash__"):
        return list(box.slots)
    return [slot for slot in box.slots if slot in read]


def _boxes(value: Value | None, depth: int = 0) -> Iterator[Box]:
    """The mutable parts of a static argument. What is a pytree is not kept as an object."""
    if value is None or depth > DEPTH:
        return
    for m in members(value):
        parts: tuple[Any, ...] = ()
        if isinstance(m, Tup):
            parts = m.items or ()
        elif isinstance(m, ListV | DictV | SetV) or isinstance(m, Obj) and not is_pytree(m):
            yield m
            parts = tuple(m.slots.values())
        for part in parts:
            yield from _boxes(part, depth + 1)


def _emit(interp: Interpreter, entry: Entry, name: str, write: Write, call: Call) -> None:
    event = MutatedStatic(
        node=write.node,
        unit=write.unit,
        function=write.function,
        time=write.time,
        entry=entry,
        param=name,
        call=call,
        certain=write.certain,
    )
    interp.events.setdefault((MutatedStatic, id(write.node), ""), Bucket()).events.append(event)
