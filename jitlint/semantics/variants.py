"""How many programs a jitted function is compiled for, and which part of its cache key makes each new one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.cachekey import Atom, Part
from jitlint.semantics.entry import Call, Entry
from jitlint.semantics.identity import jitted_identity
from jitlint.semantics.missed import happenings
from jitlint.semantics.variation import Count, again, is_test, only_lowered

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Frame, Loop

FUNCTION = Part("", "function")
LEVEL = 1.5
MOST_LEVELS = 4
"""Shapes that only grow may belong to a search that doubles its effort; so many are a pyramid."""
KINDS = {"passed": "spelling", "meta": "fresh"}


@dataclass(slots=True)
class Cause:
    """A part of the key that changes: the values seen, at which calls, and over which loop (None: between calls)."""

    part: Part
    count: Count
    values: tuple[str, ...]
    calls: tuple[Call, ...]
    """The calls at which it changes; the first is the one to report."""
    loop: Loop | None = None
    setting: bool = False
    nodes: tuple[Any, ...] = ()
    """Where the objects were made."""
    known: tuple[Hashable, ...] = ()
    """The values that are known, in order."""

    @property
    def levels(self) -> bool:
        """Are these the few shapes of a pyramid, each several times as large or small as the one before?"""
        sizes = [prod(v) for v in self.known if isinstance(v, tuple) and all(isinstance(n, int) for n in v)]
        pairs = list(pairwise(sizes))
        if len(sizes) != len(self.known) or len(pairs) < 2:
            return False
        falls = all(a >= LEVEL * b for a, b in pairs)
        rises = all(b >= LEVEL * a for a, b in pairs)
        return falls or rises and len(sizes) <= MOST_LEVELS

    @property
    def kind(self) -> str:
        """``static`` ``fresh`` ``shape`` ``dtype`` ``weak`` ``structure`` ``spelling`` ``function``."""
        return KINDS.get(self.part.kind, self.part.kind)


@dataclass(slots=True)
class Estimate:
    """The programs compiled for one jit site in one run of the program."""

    entry: Entry
    count: Count = field(default_factory=Count)
    causes: list[Cause] = field(default_factory=list)
    run: Frame | None = None


@dataclass(slots=True)
class _Seen:
    call: Call
    key: dict[Part, Atom]

    @property
    def place(self) -> Hashable:
        """The same call of the program, whatever the turns of the loops around it."""
        return id(self.call.node), self.call.moment.chain


def estimate(interp: Interpreter, site: cst.CSTNode) -> Estimate | None:
    """The estimate for a jit site; None where no call of it was seen outside of tests."""
    entries = [e for e in interp.entries if e.node is site]
    runs: dict[int, list[_Seen]] = {}
    for entry in entries:
        for call in entry.calls:
            if is_test(call.moment) or only_lowered(call.node):
                continue
            key = dict(call.key)
            made = jitted_identity(entry)
            if made is not None:
                loops = frozenset(t.loop for t in made.moment.open)
                key[FUNCTION] = Atom(made.key, loops, text=made.why, at=made.moment)
            runs.setdefault(id(call.moment.run), []).append(_Seen(call, key))
    if not runs:
        return None
    found = [_of_run(entries[-1], seen) for seen in runs.values()]
    most = max(found, key=lambda e: (e.count.number is None, e.count.number or 0, len(e.causes)))
    if interp.missed.some_of(most.run, happenings(entries), (e.target for e in entries if e.target is not None)):
        most.count = replace(most.count, short=True)
        for cause in most.causes:
            cause.count = replace(cause.count, short=True)
    return most


def _of_run(entry: Entry, seen: list[_Seen]) -> Estimate:
    parts = list(dict.fromkeys(p for s in seen for p in s.key))
    places: dict[Hashable, list[_Seen]] = {}
    for s in seen:
        places.setdefault(s.place, []).append(s)
    causes = [c for p in parts for c in _causes(p, seen, places)]
    plain: set[tuple[Hashable, ...]] = set()
    open_: dict[tuple[Hashable, ...], list[tuple[_Seen, tuple[Loop, ...]]]] = {}
    common = {p: next((s.key[p].value for s in seen if p in s.key and s.key[p].value is not None), None) for p in parts}
    for group in places.values():
        grown = {p: over for p in parts if (over := _grows(p, group)) is not None}
        for s in group:
            loops = {
                id(x.node): x for p in parts for x in (*_changing(s, p, group), *((grown[p],) if p in grown else ()))
            }
            vector = tuple(
                common[p] if _atom(s, p).value is None else _atom(s, p).value for p in parts if p not in grown
            )
            if loops:
                open_.setdefault(vector, []).append((s, tuple(loops.values())))
            else:
                plain.add(vector)
    number: int | None = len(plain)
    loop: Loop | None = None
    for each in open_.values():
        varying = {id(x.node): x for _, loops_of in each for x in loops_of}
        loop = loop or next(iter(varying.values()))
        factor = _product(_turns(x, [s for s, _ in each]) for x in varying.values())
        number = None if number is None or factor is None else number + factor
    settings = [c for c in causes if c.loop is not None and (c.setting or not c.count.exact)]
    exact = all(s.call.moment.certain for s in seen) and not settings
    return Estimate(entry, Count(number, exact, loop=loop), causes, seen[0].call.moment.run)


def _atom(s: _Seen, p: Part) -> Atom:
    return s.key.get(p, Atom())


def _product(numbers: Iterable[int | None]) -> int | None:
    found = list(numbers)
    return None if None in found else prod(n for n in found if n is not None)


def _turns(loop: Loop, seen: list[_Seen]) -> int | None:
    """The turns of a loop in which these calls, which are other ones in each turn, happen."""
    turns = [t for s in seen for t in s.call.moment.turns if t.loop.node is loop.node]
    known = {t.turn for t in turns}
    if None not in known:
        return len(known)
    trip: int | None = turns[0].loop.trip if turns else None
    most: int | None = loop.trip
    if most is None or trip is None or not isinstance(loop.node, cst.For | cst.While):
        return most
    return max(1, min(most, trip - min(2, *(t.passes for t in turns))))


def _changing(s: _Seen, p: Part, group: list[_Seen]) -> tuple[Loop, ...]:
    """The loops over which a part of this call changes in a way that is not known turn by turn."""
    atom = _atom(s, p)
    if not atom.loops or s.call.jitted:
        return ()
    out: list[Loop] = []
    for t in s.call.moment.turns:
        over = [x for x in atom.loops if x.node is t.loop.node]
        if not over or t.turn is not None and atom.value is not None:
            continue
        if t.turn is None and t.passes == 0 and not _goes_on(p, t.loop, group):
            continue
        moments = [g.call.moment if atom.at is None else _atom(g, p).at or g.call.moment for g in group]
        same = [u for m in moments for u in m.turns if u.loop.node is t.loop.node]
        if again({u.passes: True for u in same}) or len({u.turn for u in same}) > 1:
            few = [x.trip for x in over if not x.whole and x.trip is not None]
            out.append(t.loop.few(min(few)) if len(few) == len(over) else t.loop)
    return tuple(out)


def _goes_on(p: Part, loop: Loop, group: list[_Seen]) -> bool:
    """Does the part change over the loop in its second turn, too, as far as that is seen? A list that the first turn
    makes longer may be replaced by a new one in each."""
    later = [g for g in group if any(u.loop.node is loop.node and u.passes > 0 for u in g.call.moment.turns)]
    return not all(p in g.key and all(x.node is not loop.node for x in g.key[p].loops) for g in later) or not later


def _grows(p: Part, group: list[_Seen]) -> Loop | None:
    """The loop over which a part is another in each of the first two turns, and not known afterwards."""
    for s in group:
        for t in s.call.moment.open:
            by_pass: dict[int, set[Hashable]] = {}
            for g in group:
                for u in g.call.moment.open:
                    if u.loop.node is t.loop.node:
                        by_pass.setdefault(u.passes, set()).add(_atom(g, p).value)
            first, second = by_pass.get(0, {None}), by_pass.get(1, {None})
            later = set().union(*(v for k, v in by_pass.items() if k > 1))
            if None not in first and None not in second and first.isdisjoint(second) and later == {None}:
                grown: Loop = t.loop
                if p.kind == "weak":
                    return grown.few(2)  # weak or strong
                few = [x.trip for g in group for x in _atom(g, p).loops if x.node is grown.node and not x.whole]
                return grown.few(min(few)) if few else grown
    return None


def _causes(p: Part, seen: list[_Seen], places: dict[Hashable, list[_Seen]]) -> list[Cause]:
    out = []
    for group in places.values():
        if (cause := _over_loop(p, group)) is not None:
            out.append(cause)
    if not out and (cause := _over_calls(p, seen)) is not None:
        out.append(cause)
    return out


def _over_loop(p: Part, group: list[_Seen]) -> Cause | None:
    """What changes at one call of the program from turn to turn."""
    here = [s for s in group if not s.call.jitted]
    atoms = [_atom(s, p) for s in here]
    if not here:
        return None
    loops = {id(x.node): x for s in here for x in _changing(s, p, here)}
    grown = _grows(p, here)
    if grown is not None:
        loops[id(grown.node)] = grown
    values = dict.fromkeys(a.value for a in atoms if a.value is not None)
    texts = tuple(dict.fromkeys(a.text for a in atoms if a.text))
    nodes = tuple(a.node for a in atoms if a.node is not None)
    calls = tuple(s.call for s in here)
    if loops:
        open_ = [s for s in here if _changing(s, p, here) or grown is not None]
        plain = {_atom(s, p).value for s in here if s not in open_} - {None}
        number = _product(_turns(x, open_) for x in loops.values())
        number = None if number is None else number + len(plain)
        setting = all(a.setting for a in atoms)
        certain = any(c.moment.certain for c in calls)
        first = next(iter(loops.values()))
        sized = p.kind == "shape" and grown is None and any(x.whole for x in loops.values())
        count = Count(number, certain and not setting and not sized, loop=first)
        return Cause(p, count, texts, calls, first, setting, nodes, tuple(values) if not open_ else ())
    if len(values) < 2:
        return None
    loop = _turning(p, here)
    count = Count(len(values), all(c.moment.certain for c in calls), loop=loop)
    return Cause(p, count, texts, calls, loop, all(a.setting for a in atoms), nodes, tuple(values))


def _turning(p: Part, here: list[_Seen]) -> Loop | None:
    """The innermost loop in whose turns the part differs."""
    found: Loop | None = None
    for s in here:
        for t in s.call.moment.turns:
            by_turn: dict[Hashable, set[Hashable]] = {}
            for g in here:
                for u in g.call.moment.turns:
                    if u.loop.node is t.loop.node:
                        by_turn.setdefault((u.turn, u.passes), set()).add(_atom(g, p).value)
            if len({frozenset(v) for v in by_turn.values()}) > 1:
                found = t.loop
    return found


def _over_calls(p: Part, seen: list[_Seen]) -> Cause | None:
    """What differs between calls of the program."""
    known = [s for s in seen if _atom(s, p).value is not None]
    values = dict.fromkeys(_atom(s, p).value for s in known)
    if len(values) < 2:
        return None
    first = _atom(known[0], p).value
    other = [s.call for s in known if _atom(s, p).value != first]
    texts = tuple(dict.fromkeys(_atom(s, p).text for s in known))
    nodes = tuple(n for s in known if (n := _atom(s, p).node) is not None)
    setting = all(_atom(s, p).setting for s in known)
    exact = all(s.call.moment.certain for s in known)
    # of objects that are new, other calls of a function that nobody in the project calls make more
    anew = p.kind in ("fresh", "meta") and any(s.call.moment.run is not None and s.call.moment.run.root for s in known)
    count = Count(None, exact, calls=True) if anew else Count(len(values), exact)
    return Cause(p, count, texts, (*other, *(s.call for s in known)), None, setting, nodes)
