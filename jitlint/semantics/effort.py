"""What functions may cost. Who runs every function for every caller must leave out calls that bring nothing more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

IDLE_STEPS = 4_000
"""What a function may cost on the host, all roots together, while it gives nothing to record; beyond, its result is
unknown in other roots. Large projects spend half of their time in a few such functions."""
KNOWN_RUNS = 6
"""After so many runs in a row that told nothing new a function is known."""
KNOWN_STEPS = 3_000
"""What one root may spend in known functions. The rest is for those that it is the first to come to: tests of a library
would spend all they have in what the tests before them ran."""


@dataclass(slots=True)
class Effort:
    """Steps spent in functions, which are named by the ids of their definitions."""

    allowance: int
    """What one function may cost in one root, all its calls together; beyond, its result is unknown."""
    _spent: dict[int, int] = field(default_factory=dict)
    """Since the root began."""
    _idle: dict[int, int] = field(default_factory=dict)
    """On the host, over all roots, since it last gave something to record."""
    _idle_assumed: dict[int, int] = field(default_factory=dict)
    """The same under what a library is assumed to trace."""
    _unnewsworthy: dict[int, int] = field(default_factory=dict)
    """The runs of each function, over all roots, since it last told something new."""
    _known: int = 0
    """Steps that the root spent in known functions that have ended."""
    _known_since: int | None = None
    """The step at which the outermost known function that is running began."""

    def new_root(self, steps: int) -> None:
        """Begin a root, which may take so many steps."""
        self.allowance = steps // 3
        self._spent = {}
        self._known = 0

    def leaves_out(self, interp: Interpreter, key: int) -> bool:
        """Is a call of this function not worth its steps?"""
        return (
            self._spent.get(key, 0) > self.allowance
            or interp.root is not None
            and self._unnewsworthy.get(key, 0) >= KNOWN_RUNS
            and self._in_known(interp) > KNOWN_STEPS
            or _on_trial(interp)
            and self._idle_of(interp).get(key, 0) > IDLE_STEPS
        )

    def begin(self, interp: Interpreter, key: int) -> tuple[int, int, int, bool]:
        """A function begins to run: what :meth:`end` wants to know."""
        known = self._known_since is None and self._unnewsworthy.get(key, 0) >= KNOWN_RUNS
        if known:
            self._known_since = interp.steps
        return interp.steps, interp.activity, interp.news, known

    def end(self, interp: Interpreter, key: int, begun: tuple[int, int, int, bool]) -> None:
        """It has run."""
        steps, activity, news, known = begun
        used = interp.steps - steps
        self._spent[key] = self._spent.get(key, 0) + used
        if known:
            self._known_since = None
            self._known += used
        if not interp.quiet:
            self._unnewsworthy[key] = self._unnewsworthy.get(key, 0) + 1 if news == interp.news else 0
        if _on_trial(interp):
            idle = self._idle_of(interp)
            idle[key] = idle.get(key, 0) + used if activity == interp.activity else 0

    def _in_known(self, interp: Interpreter) -> int:
        """The steps that the root has spent in known functions."""
        return self._known if self._known_since is None else self._known + interp.steps - self._known_since

    def _idle_of(self, interp: Interpreter) -> dict[int, int]:
        return self._idle_assumed if interp.assumed else self._idle


def _on_trial(interp: Interpreter) -> bool:
    """Is this the host code of a function that nobody calls, or what a library is assumed to trace, so that no more than
    its kind is known of what is passed?"""
    return interp.root is not None and (not interp.traces or interp.assumed > 0) and not interp.quiet
