"""PRNG keys: which key a use consumes, and whether it was consumed before on the same path.

A key made by ``jax.random`` carries a token (in ``via``), under which it is known wherever it is passed. A key whose
making was not seen is known by the slot it is read from, until that is assigned anew. What was consumed is kept in a
box of the interpreter's, so that branches that exclude each other do not see each other's uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.fix.text import split_lines
from jitlint.semantics.bare import last_name
from jitlint.semantics.entry import Entry
from jitlint.semantics.events import TURNS, KeyReuse
from jitlint.semantics.source import descendants
from jitlint.semantics.values import KEY, NONE, Array, Env, Func, LibV, ModuleV, Obj, Unknown, Value, leaves, members
from jitlint.semantics.variation import is_test

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.source import Unit

_SELECTIONS = frozenset({"jax.random.choice", "jax.random.permutation", "jax.random.shuffle"})
"""Drawn twice with one key, they pick the same places of two arrays: inputs and labels stay together."""

_INVERSES = frozenset({"inv", "inverse", "inverted", "undo"})
"""Words that tell the name of an inverse from that of what it undoes."""

Place = tuple[cst.CSTNode, "Unit"]


@dataclass(frozen=True, slots=True)
class Used(Value):
    """A key was consumed: the chain of calls that led there, outermost first, and the consuming call."""

    chain: tuple[Place, ...] = field(compare=False)
    time: int = field(compare=False)
    turns: tuple[Any, ...] = field(compare=False)
    """The turns of the running loops."""
    root: Any = field(compare=False)
    what: str = field(compare=False)
    statement: cst.CSTNode | None = field(compare=False)


def token(interp: Interpreter) -> str:
    """A name for a new key."""
    return f"{KEY}{interp.tick()}"


def item_token(base: str | None, index: object) -> str | None:
    """The name of an element of an array of keys, by its constant index."""
    return f"{base}[{index}]" if is_token(base) else None


_NAMES = frozenset({"key", "rng", "rng_key", "prng_key", "seed_key"})


def is_named_key(module: ModuleV, function: Func, name: str) -> bool:
    """Is a parameter called as keys are, where a variable of that name is handed to ``jax.random``? Generators of NumPy
    bear such names, too, but have methods; ``key`` alone may be that of a dict."""
    if name not in _NAMES:
        return False
    text = _rows(function) if name == "key" else module.module.text
    spelt = [k for k, v in module.env.slots.items() if v == LibV("jax.random") and isinstance(k, str)]
    called = "|".join(map(re.escape, ("jax.random", *spelt)))
    drawn = re.search(rf"\b(?:{called})\.\w+\(\s*(?:key\s*=\s*)?{name}\b", text)
    return drawn is not None and not re.search(rf"(?<![\w.]){name}\.\w+\(", module.module.text)


def _rows(function: Func) -> str:
    """The rows that a function stands on."""
    span = function.unit.span(function.lazy)
    return "\n".join(split_lines(function.unit.module.text)[span.row - 1 : span.end_row])


def is_token(via: str | None) -> bool:
    """Does ``via`` name a key?"""
    return via is not None and via.startswith(KEY)


def consume(interp: Interpreter, key: Value, at: cst.CSTNode | None, node: cst.CSTNode, what: str) -> None:
    """A key is consumed by the call ``node``; it was given as ``at``. Reuse is recorded."""
    time = interp.tick()
    identity = _identity(interp, key, at)
    if identity is None or interp.quiet:
        return
    chain = (*_calls(interp), (node, interp.unit))
    before = interp.used_keys.slots.get(identity)
    if isinstance(before, Used) and before.root is interp.root and not _assigned_since(interp, identity, before.time):
        paired = what in _SELECTIONS and before.what == what or _exclusive(interp, node, before)
        if not paired and not is_test(interp.moment()):  # tests often want the same numbers
            _emit_again(interp, identity, at, chain, before, what)
        return
    captured = _captured_by(interp, identity, at)
    if captured is not None:
        how, entry = captured
        unit = interp.unit
        interp.emit(KeyReuse(node=node, unit=unit, first=node, first_unit=unit, what=what, how=how, entry=entry))
    interp.trail.write(interp.used_keys, identity, Used(chain, time, _turns(interp), interp.root, what, interp.current))


def apart(interp: Interpreter, alternatives: Iterable[Callable[[], Value]]) -> list[Value]:
    """Run what excludes each other: none sees the keys that the others used, and all are used afterwards."""
    used, results = interp.used_keys, []
    before, after = dict(used.slots), dict(used.slots)
    for run in alternatives:
        results.append(run())
        after.update(used.slots)
        for key in used.slots.keys() - before.keys():
            interp.trail.delete(used, key)
    for key in after.keys() - before.keys():
        interp.trail.write(used, key, after[key])
    return results


def _exclusive(interp: Interpreter, node: cst.CSTNode, before: Used) -> bool:
    """Are both draws multiplied by tests of one thing for different values, so that only one of them counts?"""
    now = _masks(interp.unit, interp.current, node)
    earlier = _masks(before.chain[-1][1], before.statement, before.chain[-1][0]) if now else {}
    return any(thing in earlier and earlier[thing] != value for thing, value in now.items())


def _masks(unit: Unit, statement: cst.CSTNode | None, node: cst.CSTNode) -> dict[str, str]:
    """What a product that a draw is part of is masked by: the values that things are tested for, by their text."""
    found: dict[str, str] = {}
    for around in unit.around(node, statement) if statement is not None else ():
        if isinstance(around, cst.BinaryOperation) and isinstance(around.operator, cst.Multiply):
            for test in descendants(around, cst.Comparison):
                if isinstance(test.comparisons[0].operator, cst.Equal):
                    found[unit.code(test.left)] = unit.code(test.comparisons[0].comparator)
    return found


def _identity(interp: Interpreter, key: Value, at: cst.CSTNode | None) -> Any:
    if isinstance(key, Array) and is_token(key.via):
        return key.via
    kinds = {type(m) for m in members(key) if m != NONE}
    if isinstance(at, cst.Name | cst.Attribute) and kinds and kinds <= {Array, Unknown}:
        place = interp.place(at)
        if place is not None:
            box, name, _ = place
            interp.boxes.append(box)
            if isinstance(box, Obj) and box.several:
                # another one in each turn of the loops that it was met in
                return id(box), name, *_turns(interp, begun_by=box.birth)
            return id(box), name
    return None


def _calls(interp: Interpreter) -> list[Place]:
    return [
        (frame.call, caller.unit)
        for caller, frame in pairwise(interp.frames)
        if frame.func is not None and frame.call is not None
    ]


def _assigned_since(interp: Interpreter, identity: Any, time: int) -> bool:
    writes = interp.writes.get(identity[:2], ()) if isinstance(identity, tuple) else ()
    return any(w.time > time for w in writes)


def _emit_again(
    interp: Interpreter, identity: Any, at: cst.CSTNode | None, chain: tuple[Place, ...], before: Used, what: str
) -> None:
    """Report where the two ways to the key part: in the function that uses it twice, not in what it calls; there, when
    it is a method that uses a key of its object."""
    for level, ((node, unit), (first, first_unit)) in enumerate(zip(chain, before.chain, strict=False)):
        if node is not first:
            if level and _in_another_turn(interp, before):
                return  # what one call of a function chooses, the next may choose again: that is reported for itself
            if before.what == what and _undoes(node, first):
                return
            if level == len(chain) - 1 or _is_given(interp, level, node, identity):
                event = KeyReuse(node=node, unit=unit, first=first, first_unit=first_unit, what=what, how="again")
                interp.emit(event)
            elif chain[-1][0] is before.chain[-1][0] and _is_own(at):
                used, used_unit = chain[-1]
                interp.emit(KeyReuse(node=used, unit=used_unit, first=node, first_unit=unit, what=what, how="kept"))
            return
    if before.turns != _turns(interp):
        level = _loop_level(interp, before)
        node, unit = chain[level if _is_given(interp, level, chain[level][0], identity) else -1]
        interp.emit(KeyReuse(node=node, unit=unit, first=node, first_unit=unit, what=what, how="loop"))


def _undoes(node: cst.CSTNode, first: cst.CSTNode) -> bool:
    """Is one of two functions called the inverse of the other? It must draw the same numbers once more."""
    names = [last_name(call.func) if isinstance(call, cst.Call) else "" for call in (node, first)]
    called = [set(name.split("_")) for name in names]
    apart = called[0] ^ called[1]
    return bool(called[0] & called[1]) and len(apart) == 1 and apart <= _INVERSES


def _is_own(at: cst.CSTNode | None) -> bool:
    """Is the key an attribute of the object whose method runs?"""
    return isinstance(at, cst.Attribute) and isinstance(at.value, cst.Name) and at.value.value == "self"


def _turns(interp: Interpreter, begun_by: float = inf) -> tuple[Any, ...]:
    return tuple((id(loop), loop.turn, loop.passes) for loop in interp.loops if loop.birth <= begun_by)


def _in_another_turn(interp: Interpreter, before: Used) -> bool:
    """Do the same loops run, in a later turn?"""
    now = _turns(interp)
    return now != before.turns and [loop for loop, *_ in now] == [loop for loop, *_ in before.turns]


def _loop_level(interp: Interpreter, before: Used) -> int:
    """Where in the chain of calls the loop runs that has gone on since."""
    went_on = next((loop for loop in interp.loops if (id(loop), loop.turn, loop.passes) not in before.turns), None)
    callers = [c for c, f in pairwise(interp.frames) if f.func is not None and f.call is not None]
    return next((i for i, c in enumerate(callers) if went_on is not None and c.number == went_on.frame), len(callers))


def _is_given(interp: Interpreter, level: int, node: cst.CSTNode, identity: Any) -> bool:
    """Is the key among the arguments of the call at that level? (Else the function takes it from elsewhere.)"""
    callers = [c for c, f in pairwise(interp.frames) if f.func is not None and f.call is not None]
    if not isinstance(node, cst.Call) or level >= len(callers):
        return False
    for arg in node.args:
        for name in descendants(arg, cst.Name):
            env: Env | None = callers[level].env
            while env is not None and name.value not in env.slots:
                env = env.parent
            if env is None:
                continue
            value = env.slots[name.value]
            if isinstance(value, Array) and value.via is not None and str(identity).startswith(value.via):
                return True
    return False


def _captured_by(interp: Interpreter, identity: Any, at: cst.CSTNode | None) -> tuple[str, Entry | None] | None:
    """How a key from outside of the running traces is used each time: by the body of a ``lax`` loop, by the calls of a
    jitted function."""
    if not isinstance(identity, str):
        place = interp.place(at) if isinstance(at, cst.Name) else None
        looped = (t for t in interp.traces if t.entry is None and t.kind in TURNS)
        captured = place is not None and any(place[0].birth <= t.birth for t in looped)
        return ("loop", None) if captured else None
    made = int(identity[len(KEY) :].partition("[")[0])
    for t in interp.traces:
        if made < t.time and t.entry is None and t.kind in TURNS:
            return "loop", None
        if made < t.time and t.entry is not None and not _is_passed(t.entry, identity):
            return "jit", t.entry
    return None


def _is_passed(entry: Entry, identity: str) -> bool:
    return any(
        isinstance(leaf, Array) and leaf.via is not None and identity.startswith(leaf.via)
        for call in entry.calls
        for value in call.bound.values()
        for leaf in leaves(value)
    )
