"""What runs while a program is interpreted: function bodies, Python loops, traces, and the bodies of ``try``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.source import constant_parameters
from jitlint.semantics.state import Box, Changes, Running
from jitlint.semantics.values import ClassV, Env, Func, ModuleV, Narrowed, Value

if TYPE_CHECKING:
    from jitlint.semantics.chosen import Chosen
    from jitlint.semantics.entry import Entry
    from jitlint.semantics.flags import Flag
    from jitlint.semantics.source import Scope, Unit


_NONE: list[Any] = []
_EMPTY: dict[str, Any] = {}
"""What frames have that have ended, one for all of them."""


@dataclass(eq=False, slots=True)
class Loop:
    """A Python loop while it runs: its trip count where known, and the turn it is in (None: any)."""

    node: cst.CSTNode
    unit: Unit
    frame: int
    """The number of the frame that it runs in."""
    trip: int | None = None
    turn: int | None = None
    traced: bool = False

    operations: int = 0
    passes: int = 0
    """The pass of a loop that is run to a fixpoint: passes 0 and 1 see the first two turns, later ones any turn."""
    birth: int = field(default_factory=lambda: Box.clock)
    """When it began, in the order in which boxes are made."""
    whole: bool = True
    """Each turn counts, not only so many of them as there are different ones of some thing."""
    fills: bool = False
    """What changes over it is what a length that changes over it leaves of another: padding."""
    since: int = 0
    """The moment at which the turn or pass that runs began."""
    _few: dict[int, Loop] = field(default_factory=dict)
    _rest: Loop | None = None

    def rest(self) -> Loop:
        """The loop as what is left sees it, ``n - length``: length and rest together do not change."""
        if self._rest is None:
            self._rest = replace(self, fills=not self.fills, _few={}, _rest=self)
        return self._rest

    def few(self, number: int | None) -> Loop:
        """The loop as a thing sees it that is only ``number`` different ones over all its turns."""
        if number is None:
            return self
        number = number if self.trip is None else min(number, self.trip)
        if number not in self._few:
            self._few[number] = replace(self, trip=number, whole=False, _few={}, _rest=None)
        return self._few[number]


@dataclass(eq=False, slots=True)
class Trace:
    """A running trace: what began it, and whether jax operations on constants are staged in it."""

    kind: str
    entry: Entry | None
    node: cst.CSTNode
    unit: Unit
    staging: bool
    birth: int
    time: int
    guards_at: int
    frame_at: int
    arguments: frozenset[int] = frozenset()
    """Ids of containers that are arguments of the traced function."""
    signature: Any = None
    """What tells this trace from others of the same entry (None: not known)."""
    forks: int = 0
    """How many undecided tests say that it begins."""
    tests: int = 0
    """In a function that nobody in the project calls: the same. They ask for what that function was given, and what is
    traced may have been chosen by the same tests."""


@dataclass(eq=False, slots=True)
class Guard:
    """A ``try`` whose body is running: the exception names that it swallows, the node of the first handler, and the
    branches and loops around it."""

    names: frozenset[str]
    node: cst.CSTNode
    around: tuple[int, int]
    tripped: bool = False
    """A traced value has raised for certain: the rest of the body does not run."""
    doubted: bool = False
    """A traced value may have raised."""


@dataclass(eq=False, slots=True)
class Frame:
    """A running function body (or module top level)."""

    env: Env
    unit: Unit
    module: ModuleV
    qualname: str
    func: Func | None = None
    args_self: Value | None = None
    scope: Scope | None = None
    """What the compiler knows of the function; None for lambdas and modules."""
    exits: list[tuple[Value, Changes]] = field(default_factory=list)
    straight: Value | None = None
    """What a ``return`` outside of any branch, loop and ``try`` gave."""
    nesting: int = 0
    """Branches, loops and ``try`` bodies running in it, whose state may be undone."""
    mark: int = 0
    loop_outs: list[tuple[list[Changes], list[Changes], int]] = field(default_factory=list)
    """Per running loop: changes at ``break``, at ``continue``, and the mark they count from."""
    yields: list[Value] = field(default_factory=list)
    calls_jitted: bool = False
    """A jitted function was called in it: what its variables were may be asked for."""
    yields_all: bool = True
    """Each ``yield`` so far happens once, in this order."""
    forks: int = 0
    """Branches around the call that may or may not be taken."""
    decided: frozenset[Any] = frozenset()
    """Loops over which the tests change that decide which ``return`` is reached."""
    call: cst.CSTNode | None = None
    caller: Frame | None = None
    class_body: ClassV | None = None
    root: Func | None = None
    """The function that runs in it with unknown arguments, since nobody in the project calls it."""
    expects: bool = False
    """A test whose code expects an error somewhere: the functions that it makes may be there to raise it."""
    kept: bool = False
    """Something made in it outlives it: a function or object is returned or stored elsewhere."""
    concrete: int = 0
    """How many a ``try`` before this place would have left it for what is traced, or a lookup for what a table has."""
    said: dict[str, Value] = field(default_factory=dict)
    """What the tests around the running statement say of its own variables."""
    chosen: dict[str, Chosen] = field(default_factory=dict)
    """Its variables that are one of two functions, by what a test said."""
    flags: dict[str, Flag] = field(default_factory=dict)
    """Its variables that hold what a test said."""
    number: int = field(default_factory=count().__next__)
    callers: tuple[Running, ...] | None = None
    """The function bodies that run around it, see :meth:`running`; None until somebody asks."""
    chain: tuple[int, ...] | None = None
    """The calls around it, by the ids of their nodes, and its own; None until somebody asks."""

    def closure(self) -> Env:
        """The scope of a function that is made here: its own, with what tests say of parameters that stay as they are."""
        if not self.said or self.func is None:
            return self.env
        constant = constant_parameters(self.func.lazy, self.func.unit.statement.text)
        known = {name: v for name, v in self.said.items() if name in constant and self.env.slots.get(name) == v}
        if not known:
            return self.env
        env = Narrowed(self.env, self.env.name)
        env.slots.update(known)
        return env

    def end(self) -> None:
        """Let go of what only the running body needs: much of it would refer back to the frame that made it."""
        self.straight = self.callers = None
        self.exits = self.yields = self.loop_outs = _NONE
        self.said = self.chosen = self.flags = _EMPTY

    def running(self, at: cst.CSTNode) -> tuple[Running, ...]:
        """The function bodies that run while it is at a place, its own first."""
        if self.func is None:
            return ()
        if self.callers is None:
            self.callers = () if self.caller is None or self.call is None else self.caller.running(self.call)
        return (Running(self.number, self.unit, self.func.lazy, at), *self.callers)
