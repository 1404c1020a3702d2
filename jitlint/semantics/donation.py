"""Donation: buffers that a jitted call takes over, and what still refers to them.

A call on the host takes the buffers of its donated arguments where a result can use them. Every name, attribute and
container slot that holds such an array then holds a deleted one; they are marked (``via`` is ``donated``), and a mark
goes when the slot is assigned anew. Under an outer trace nothing is donated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.entry import Entry
from jitlint.semantics.events import DonatedUse
from jitlint.semantics.state import Box
from jitlint.semantics.values import (
    DONATED,
    MAYBE_DONATED,
    Array,
    DictV,
    Env,
    Gone,
    Level,
    ListV,
    Obj,
    Origin,
    Tup,
    Union,
    Unknown,
    Value,
    leaves,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

DEPTH = 4


def donated_parameters(entry: Entry, spelling: dict[str, str]) -> set[str]:
    """The names of the parameters that a call spelt like this donates."""
    positional = [p.name for p in entry.params or () if p.kind in ("pos", "posonly")]
    nums = {positional[n] for n in entry.donate_nums if -len(positional) <= n < len(positional)}
    if entry.kind == "pmap":
        nums = {n for n in nums if spelling.get(n) == "pos"}
    return nums | set(entry.donate_names)


def before_call(
    interp: Interpreter, entry: Entry, given: dict[str, Value], donated: set[str], node: cst.CSTNode
) -> bool:
    """Record a call that is given a deleted buffer, or donates one that it is given twice; True when it raises."""
    leaf = next((x for v in given.values() for x in _donated(v)), None)
    if leaf is not None:
        _emit(interp, leaf, node, "again", entry)
        return isinstance(leaf, Array) and leaf.via == DONATED
    for first in (name for name in given if name in donated):
        for name, value in given.items():
            if name != first and value is given[first] and any(_buffers(value)) and interp.root is None:
                interp.emit(DonatedUse(node=node, unit=interp.unit, name=name, how="twice", entry=entry))
                return True
    return False


def after_call(
    interp: Interpreter,
    entry: Entry,
    given: dict[str, Value],
    at: dict[str, cst.CSTNode],
    donated: set[str],
    result: Value,
    node: cst.CSTNode,
) -> None:
    """Mark the buffers that the call took over, wherever they are still referred to; of what is not known, the name
    that it was given as (``at``)."""
    marks: dict[int, tuple[Array, Array]] = {}
    results = list(leaves(result))
    for name in sorted(donated):
        place = at.get(name)
        if isinstance(given.get(name), Unknown) and isinstance(place, cst.Name | cst.Attribute):
            slot = interp.place(place)
            if slot is not None and isinstance(slot[2], Unknown) and not isinstance(slot[2], Gone):
                interp.unusable = True
                interp.trail.write(slot[0], slot[1], Gone(Origin(f"donated to `{entry.name}` here", node, interp.unit)))
        for leaf in _buffers(given[name]) if name in given else ():
            usable = _usable(leaf, results)
            if usable is not False and leaf.via not in (DONATED, MAYBE_DONATED):
                origin = Origin(f"donated to `{entry.name}` here", node, interp.unit)
                via = DONATED if usable and interp.root is None else MAYBE_DONATED
                marks[id(leaf)] = (leaf, replace(leaf, via=via, origin=origin))
    if marks:
        interp.unusable = True
        marking = _Marking(interp, marks)
        for box in _scopes(interp):
            marking.keep(box, 0)
        for value in given.values():
            marking.marked(value, 0)


def check(interp: Interpreter, values: Iterable[Value], node: cst.CSTNode) -> bool:
    """Record the use of a deleted buffer, if one of the values is one; True when that is certain."""
    if interp.traces or not interp.unusable:
        return False
    for value in values:
        for leaf in _donated(value):
            _emit(interp, leaf, node, "read", None)
            return isinstance(leaf, Array) and leaf.via == DONATED and not isinstance(value, Union)
    return False


def _buffers(value: Value) -> Iterator[Array]:
    return (x for x in leaves(value) if isinstance(x, Array) and x.level is Level.HOST)


def _donated(value: Value) -> Iterator[Array | Gone]:
    for leaf in leaves(value):
        match leaf:
            case Gone():
                yield leaf
            case Array(level=Level.HOST, via="donated" | "maybe donated"):
                yield leaf


def _usable(leaf: Array, results: list[Value]) -> bool | None:
    """Can a result take the buffer over? JAX wants one of the same shape and dtype; None when that is not known."""
    known = True
    for out in results:
        if isinstance(out, Array):
            if not _is_exact(out) or not _is_exact(leaf):
                known = False
            elif (out.shape, out.dtype) == (leaf.shape, leaf.dtype):
                return True
        else:
            known = False
    return False if known else None


def _is_exact(array: Array) -> bool:
    return array.dtype is not None and array.shape is not None and None not in array.shape


def _scopes(interp: Interpreter) -> Iterator[Box]:
    seen: set[int] = set()
    for frame in interp.frames:
        env: Env | None = frame.env
        while env is not None and id(env) not in seen:
            seen.add(id(env))
            yield env
            env = env.parent


@dataclass(slots=True)
class _Marking:
    """Puts marked arrays in the place of the ones that were donated. Scopes and objects are changed; a container or
    pytree is replaced by a marked copy wherever it is referred to, since it is the same on ways that did not donate."""

    interp: Interpreter
    marks: dict[int, tuple[Array, Array]]
    """What takes the place of an array, by its id; the array itself, too, so that the id stays its own."""
    copies: dict[int, tuple[ListV | DictV | Obj, ListV | DictV | Obj]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)

    def keep(self, box: Box, depth: int) -> None:
        """Mark what a scope or an object refers to."""
        if id(box) in self.seen or depth > DEPTH:
            return
        self.seen.add(id(box))
        for key, value in list(box.slots.items()):
            new = self.marked(value, depth)
            if new is not value:
                self.interp.trail.write(box, key, new)

    def marked(self, value: Value, depth: int) -> Value:
        """The value with its donated arrays marked; itself when it has none."""
        match value:
            case Array():
                found = self.marks.get(id(value))
                return found[1] if found is not None else value
            case Tup(items=items) if items is not None:
                new = tuple(self.marked(i, depth + 1) for i in items)
                return value if all(a is b for a, b in zip(new, items, strict=True)) else replace(value, items=new)
            case ListV() | DictV():
                return self._copy(value, depth)
            case Obj():
                cls = value.project_class
                if cls is not None and (cls.facts.pytree or cls.facts.namedtuple):
                    return self._copy(value, depth)
                self.keep(value, depth + 1)
        return value

    def _copy(self, box: ListV | DictV | Obj, depth: int) -> ListV | DictV | Obj:
        known = self.copies.get(id(box))
        if known is not None or depth > DEPTH:
            return known[1] if known is not None else box
        self.copies[id(box)] = (box, box)
        slots = {key: self.marked(value, depth + 1) for key, value in box.slots.items()}
        if any(new is not box.slots[key] for key, new in slots.items()):
            out = copy(box)
            out.slots = slots
            self.copies[id(box)] = (box, out)
        return self.copies[id(box)][1]


def _emit(interp: Interpreter, leaf: Array | Gone, node: cst.CSTNode, how: str, entry: Entry | None) -> None:
    origin = leaf.origin
    if origin is not None and not interp.quiet and not _is_first_use(interp, origin.node, node):
        return
    interp.emit(
        DonatedUse(
            node=node,
            unit=interp.unit,
            name=interp.unit.code(node),
            how=how,
            entry=entry,
            source=origin,
            possible=isinstance(leaf, Gone) or leaf.via == MAYBE_DONATED,
        )
    )


def _is_first_use(interp: Interpreter, donated_at: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Is this the first use of what was donated there? The program gets no further."""
    return interp.donated_uses.setdefault((id(donated_at), id(interp.root)), node) is node
