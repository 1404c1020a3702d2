"""What changes from one call of a jitted callable to the next, and how many programs JAX compiles for it.

JAX finds a compiled program by the identity of the function and by the arguments: the values of the static ones, the
structure, shapes, dtypes and weak types of the others, and how they are spelled. The engine records every call with
its *moment* (the turns of the loops around it); here moments and arguments become a count, with a cause for each part
that changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.entry import Entry
from jitlint.semantics.events import ControlFlow
from jitlint.semantics.identity import identity, jitted_identity
from jitlint.semantics.missed import happenings
from jitlint.semantics.moment import Moment
from jitlint.semantics.values import ClassV, Func

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Frame, Loop
    from jitlint.semantics.source import Unit


# ------------------------------------------------------------------------------------------------ counting


FEW_CALLS = 3
"""Fewer calls of a function, from several places and not in a loop, are not again and again."""
MANY_OBJECTS = 4
"""As many objects that each compile a program of their own, one after the other, are too many."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many: ``number`` (None: as many as turns or calls that are not known), exact or not, and over what."""

    number: int | None = 1
    exact: bool = True
    """All that were counted are compiled for certain; else there are at most so many of them."""
    short: bool = False
    """Calls were left out that may bring more."""
    loop: Loop | None = None
    """The loop over whose turns it grows."""
    calls: bool = False
    """It grows with every call of the function around it."""

    @property
    def many(self) -> bool:
        return self.number is None or self.number > 1

    @property
    def text(self) -> str:
        """``exactly 5``, ``at most 8``, ``at least 2``, ``about 4``, ``one per iteration``, ``one per call``."""
        if self.number is not None:
            return f"{bound(self.exact, self.short)} {self.number}"
        return "one per call" if self.calls else "one per iteration"

    @property
    def compilations(self) -> str:
        """For messages: ``exactly 5 compilations``, ``one compilation per iteration``."""
        return f"{self.text} compilations" if self.number is not None else self.text.replace("one", "one compilation")


def bound(exact: bool, short: bool) -> str:
    """What a count is to the true number: ``exactly``, ``at most``, ``at least`` or ``about``."""
    if short:
        return "at least" if exact else "about"
    return "exactly" if exact else "at most"


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many objects a set of moments stands for, over which loops, and whether over several calls without a loop."""

    number: int | None = 0
    exact: bool = True
    loops: tuple[Loop, ...] = ()
    chains: bool = False
    run: Frame | None = None


def repeats(moments: Iterable[tuple[Hashable, Moment]]) -> Repeats:
    """How many distinct objects the keyed moments stand for in one run of the program: the most of any run.

    What tests do is no evidence: they call everything, and each in a process of its own as far as anybody knows.
    """
    runs: dict[int, list[tuple[Hashable, Moment]]] = {}
    for key, m in moments:
        if not is_test(m):
            runs.setdefault(id(m.run), []).append((key, m))
    found = [_in_run(each) for each in runs.values()]
    return max(found, key=lambda r: (r.number is None, r.number or 0), default=Repeats())


def _in_run(moments: Sequence[tuple[Hashable, Moment]]) -> Repeats:
    groups: dict[Hashable, list[Moment]] = {}
    for key, m in moments:
        groups.setdefault(key, []).append(m)
    total: int | None = 0
    exact = True
    loops: dict[int, Loop] = {}
    turns: dict[int, set[int]] = {}
    chains: set[tuple[int, ...]] = set()
    for group in groups.values():
        factor: int | None = 1
        open_: dict[int, tuple[Loop, dict[int, bool]]] = {}
        for m in group:
            chains.add(m.chain)
            for t in m.turns:
                loops.setdefault(id(t.loop.node), t.loop)
                if t.turn is not None:
                    turns.setdefault(id(t.loop.node), set()).add(t.turn)
                else:
                    passes = open_.setdefault(id(t.loop.node), (t.loop, {}))[1]
                    passes[t.passes] = passes.get(t.passes, False) or m.certain
        for node, (loop, passes) in open_.items():
            if again(passes):
                exact = exact and any(certain for p, certain in passes.items() if p >= 1)
                turns.setdefault(node, set()).update((-1, -2))
                factor = None if factor is None or loop.trip is None else factor * loop.trip
        exact = exact and any(m.certain for m in group)
        total = None if total is None or factor is None else total + factor
    varying = tuple(loop for node, loop in loops.items() if len(turns.get(node, ())) > 1)
    return Repeats(total, exact, varying, len(chains) > 1 and not varying, moments[0][1].run)


def is_test(moment: Moment) -> bool:
    """Does it happen in a test?"""
    run = moment.run
    if run is None:
        return False
    path = PurePath(run.module.module.display)
    if path.name.startswith(("test_", "conftest")) or path.stem.endswith("_test") or "tests" in path.parts:
        return True
    return run.root is not None and run.root.name.startswith("test")


def again(passes: dict[int, bool]) -> bool:
    """Does what was seen in these passes of a loop happen in more than its first turn?

    Passes 0 and 1 see the first two turns as they are. What happens in later passes only, and not for certain, is
    what a memo prevents.
    """
    return 1 in passes or any(certain for p, certain in passes.items() if p > 1)


# ------------------------------------------------------------------------------------------------ functions made anew


@dataclass(frozen=True, slots=True)
class Remade:
    """A jitted callable, or the body of a control-flow call, that is a new function each time."""

    why: str
    count: Count
    loop: Loop | None
    """The loop it is made in, in the same function."""
    outer: Loop | None
    """The loop that calls the function it is made in."""
    entry: Entry | None = None
    root: str = ""
    """The function that nobody in the project calls, whose every call makes it anew."""


def remade_site(interp: Interpreter, node: cst.CSTNode) -> Remade | None:
    """How often the jit site at ``node`` makes, calls and throws away a new function; None where it does not."""
    from jitlint.semantics.calls import underlying

    entries = [
        e for e in interp.entries if e.node is node and not e.traced and _used(e) and not _fills_in_traced(interp, e)
    ]
    keyed: list[tuple[Hashable, Moment]] = []
    bodies: set[int] = set()
    why, local = "", False
    for e in entries:
        found = jitted_identity(e)
        if found is None or _memoised(e):
            continue
        keyed.append((found.key, found.moment))
        local = local or bool(found.moment.chain)
        body = underlying(e.func)
        bodies.add(id(body.lazy) if body is not None else 0)
        why = found.why
    if not keyed:
        return None
    over = repeats(keyed)
    runs = [e for e in entries if any(t.loop.node is x.node for t in e.moment.turns for x in over.loops)]
    entry = (runs or entries)[-1]
    if over.number is not None and 1 < over.number <= len(bodies):
        return None  # each is another function of the program: every one of them is compiled once, wherever it is made
    if over.number is not None and over.number < 2:
        root = _root(entry) if entry.form == "call" and _throwaway(entry) and why and local else None
        return Remade(why, Count(None, calls=True), None, None, entry, root) if root is not None else None
    lexical = next((x for x in over.loops if x.frame == entry.frame.number), None)
    outer = next((x for x in over.loops if x.frame != entry.frame.number), None)
    if lexical is None and (outer is None and not over.chains or not _discarded(entry, outer)):
        return None
    if lexical is not None and not any(_called_within(e, lexical) for e in entries):
        return None
    if not over.loops and over.number == 2 and not over.exact:
        return None  # two calls, and perhaps not both
    short = interp.missed.some_of(over.run, happenings(entries))
    count = Count(over.number, over.exact, short, lexical or outer)
    return Remade(why, count, lexical, None if lexical is not None else outer, entry)


def handed_over(interp: Interpreter, node: cst.CSTNode) -> list[tuple[cst.CSTNode, Unit]]:
    """The calls of a function that only jits what it is given and returns that, where they give it functions that
    are new each time; none where the jit site itself makes them."""
    from jitlint.semantics.calls import underlying

    places: dict[int, tuple[cst.CSTNode, Unit]] = {}
    for e in interp.entries:
        if e.node is node and not e.traced and _used(e) and jitted_identity(e) is not None:
            made = underlying(e.func)
            frame = e.frame
            if made is None or made.frame is None or frame.call is None or made.frame is not frame.caller:
                return []
            if made.frame.func is None or made.frame.func.frame is None:  # local functions are often run by JAX
                places[id(frame.call)] = frame.call, frame.caller.unit
    return list(places.values())


def _used(entry: Entry) -> bool:
    return any(not c.traced and not only_lowered(c.node) for c in entry.calls)


def only_lowered(node: cst.CSTNode) -> bool:
    """``jitted.lower(…)`` and its kin ask for the program, once."""
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value in ("lower", "trace", "eval_shape")
    )


def _memoised(entry: Entry) -> bool:
    """Stored on a branch that may not be taken again: a cache filled by hand."""
    return not entry.moment.certain and entry.kept in ("attribute", "item", "global")


def _called_within(entry: Entry, loop: Loop) -> bool:
    """Is it called in the turn of the loop in which it was made?"""
    return any(any(t.loop.node is loop.node for t in c.moment.turns) for c in entry.calls)


def _discarded(entry: Entry, outer: Loop | None) -> bool:
    """Is it gone when the function that made it has returned, or at the end of the loop's turn?"""
    func = entry.frame.func
    if func is not None and func.name == "__init__":
        return outer is not None and not entry.held and (outer.trip or 0) >= MANY_OBJECTS and _called_within(entry, outer)
    if entry.kept in ("attribute", "item", "global", "cache"):
        return False
    if not entry.kept and not entry.frame.kept:
        return any(c.inside for c in entry.calls)
    return outer is not None and _called_within(entry, outer)


_ONCE = ("init", "setup", "main", "train", "fit", "run", "compile", "build", "make", "create", "warm")
"""How names of methods begin that are called once, or whose calls are long anyway."""


def _root(entry: Entry) -> str | None:
    """The name of the method around it that nobody calls, where more than one call of it must be expected."""
    run = entry.moment.run
    if run is None or run.root is None or run.root.owner is None or entry.moment.turns or is_test(entry.moment):
        return None
    name = run.root.name.lstrip("_")
    return None if name.startswith(_ONCE) else str(run.root.qualname)


def _fills_in_traced(interp: Interpreter, entry: Entry) -> bool:
    """Was it made in a method that nobody is seen to call, and stands for one of a base class that traced code calls?"""
    root = entry.moment.run.root if entry.moment.run is not None else None
    if root is None or root.owner is None:
        return False
    private = root.name.startswith("_")
    bases = [base for base in root.owner.mro() if isinstance(base, ClassV) and (private or base is not root.owner)]
    others = (base.slots.get(root.name) for base in bases)
    return any(isinstance(other, Func) and id(other.lazy) in interp.called_in_traces for other in others)


def _throwaway(entry: Entry) -> bool:
    """``jax.jit(f)(x)``: nothing holds the jitted callable."""
    return any(isinstance(c.node, cst.Call) and c.node.func is entry.node for c in entry.calls)


def remade_body(interp: Interpreter, events: Sequence[ControlFlow]) -> Remade | None:
    """How often an un-jitted control-flow call gets a new function; None where it is the same one, or called once."""
    keyed: list[tuple[Hashable, Moment]] = []
    why = ""
    for e in events:
        if e.moment.run is not None and e.moment.run.root is not None:
            continue  # a function that nobody calls may well be called under jit
        if e.kind == "map":
            keyed.append((("map", e.moment.key), e.moment))
            why = "`lax.map`"
            continue
        for body in e.bodies:
            found = identity(body, e.moment)
            if found is None or not found.moment.key[:-1] and not found.moment.chain:
                continue
            keyed.append((found.key, found.moment))
            why = found.why
            break
    if not keyed:
        return None
    over = repeats(keyed)
    if over.number is not None and over.number < (2 if over.loops else FEW_CALLS):
        return None
    short = interp.missed.some_of(over.run, [(e.moment, e.frame) for e in events])
    return Remade(why, Count(over.number, over.exact, short, over.loops[0] if over.loops else None), None, None)
