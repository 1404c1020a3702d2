"""What was left out of the runs of the program: with it, more programs may be compiled than were counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jitlint.semantics.moment import Moment
from jitlint.semantics.values import Func

if TYPE_CHECKING:
    from jitlint.semantics.entry import Entry
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Frame


Place = tuple[tuple[tuple[int, int | None], ...], tuple[int, ...]]
"""The loops around a call by their ids, with the turns, and the calls around it, itself included."""
Happening = tuple[Moment, "Frame | None"]
"""When something happened, and the frame that ran."""

_NOWHERE: frozenset[int] = frozenset()


@dataclass(slots=True)
class Missed:
    """Host calls that were left out, by the run, the loops and the calls around them."""

    calls: dict[Frame, dict[Place, frozenset[int]]] = field(default_factory=dict)
    """The ids of the functions that each would have come to, as far as their texts tell."""
    cut: set[Frame] = field(default_factory=set)
    """The runs that were not run to the end, since they cost too much."""
    _ways: dict[frozenset[int], frozenset[int]] = field(default_factory=dict)
    """The sets of functions, each once: calls of one function come to the same ones."""

    def call(self, interp: Interpreter, node: Any, functions: Iterable[int]) -> None:
        """A call is left out that may come to these functions."""
        if interp.quiet or interp.staging or not interp.frames:
            return
        moment = interp.moment()
        turns, chain = _key(moment)
        places = self.calls.setdefault(moment.run, {})
        place = (turns, (*chain, id(node)))
        ways = places.get(place, _NOWHERE).union(functions)
        places[place] = self._ways.setdefault(ways, ways)

    def rest(self, interp: Interpreter) -> None:
        """What runs has used up its steps: all that is left of it is left out."""
        if interp.frames and not interp.quiet:
            self.cut.add(interp.frames[0])

    def some_of(self, run: Frame | None, happenings: Sequence[Happening], functions: Iterable[Func] = ()) -> bool:
        """May more of these happenings be in what was left out of a run, which would run these functions?

        A call in a turn that stands for any turn of its loop was counted for all of them if one was followed.
        """
        if run is None:
            return False
        if run in self.cut:
            return True
        left_out = self.calls.get(run)
        if not left_out:
            return False
        followed = {_key(moment) for moment, _ in happenings if moment.run is run}
        ways = {id(func.lazy) for func in (*functions, *_around(frame for _, frame in happenings))}
        return any(
            not ways.isdisjoint(come_to) and not any(_within(key, at) for key in followed)
            for at, come_to in left_out.items()
        )


def happenings(entries: Iterable[Entry]) -> list[Happening]:
    """Where jitted functions were made and called."""
    found: list[Happening] = []
    for entry in entries:
        found.append((entry.moment, entry.frame))
        found += [(call.moment, call.frame) for call in entry.calls]
    return found


def _key(moment: Moment) -> Place:
    """The same for all passes of a loop that is not run turn by turn."""
    return tuple((id(t.loop.node), t.turn) for t in moment.turns), moment.chain


def _within(key: Place, call: Place) -> bool:
    """Does something happen in a call, or in another pass of a loop over it?"""
    return all(inner[: len(outer)] == outer for inner, outer in zip(key, call, strict=True))


def _around(frames: Iterable[Frame | None]) -> Iterator[Func]:
    """The functions that run there."""
    for innermost in frames:
        frame = innermost
        while frame is not None:
            if frame.func is not None:
                yield frame.func
            frame = frame.caller
