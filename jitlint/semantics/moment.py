"""Moments: where in the run of the program something happens, by the loops and calls around it."""

from __future__ import annotations

from typing import Any

from jitlint.semantics.records import record


@record(frozen=True, slots=True)
class Turn:
    """A loop and where in it: the turn, when turns are run one by one, else None and the pass towards a fixpoint."""

    loop: Any
    turn: int | None
    passes: int


@record(frozen=True, slots=True)
class Moment:
    """Where in the run of the program something happens: the turns of the loops around it (callers' loops included)
    and the chain of calls. ``certain``: no undecided branch stands in between."""

    turns: tuple[Turn, ...] = ()
    chain: tuple[int, ...] = ()
    certain: bool = True
    run: Any = None
    """The bottom of the stack: a module that is run, or a function that nobody calls."""

    @property
    def key(self) -> tuple[object, ...]:
        """The same for all passes of a loop that is not run turn by turn."""
        return (*((id(t.loop.node), t.turn) for t in self.turns), self.chain, id(self.run))

    @property
    def open(self) -> tuple[Turn, ...]:
        """The loops that stand for any of their turns."""
        return tuple(t for t in self.turns if t.turn is None)
