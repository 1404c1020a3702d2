"""Tests that a variable remembers: ``whole = isinstance(x, int)``. Who tests the variable later asks the same of ``x``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.hoist import names_in
from jitlint.semantics.source import all_params, descendants
from jitlint.semantics.values import Const, Value

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_TESTS = frozenset({cst.BooleanOperation, cst.Call, cst.Comparison, cst.UnaryOperation})


@dataclass(frozen=True, slots=True)
class Flag:
    """What a variable was given: the value of a ``test``, at a ``time``."""

    test: cst.BaseExpression
    time: int


def note(interp: Interpreter, name: str, test: cst.BaseExpression, value: Value) -> None:
    """Remember that a variable of the running function was given the value of a test that is not decided."""
    frame = interp.frames[-1]
    if type(test) in _TESTS and not isinstance(value, Const) and frame.func is not None:
        frame.flags[name] = Flag(test, interp.time)


def meant(interp: Interpreter, name: str) -> cst.BaseExpression | None:
    """The test that a variable stands for, where neither it nor what it asks for was set again."""
    frame = interp.frame
    flag, func = frame.flags.get(name), frame.func
    if flag is None or func is None:
        return None
    names = names_in(flag.test)
    if name in names or names.isdisjoint(frame.env.slots):
        return None
    for each in (name, *names):
        log = interp.writes.get((id(frame.env), each))
        if log and log[-1].time > flag.time:
            return None
    targets = [t.target for t in descendants(func.node.body, cst.AssignTarget)]
    given = sum(isinstance(t, cst.Name) and t.value == name for t in targets)
    return flag.test if given == 1 and all(p.name.value != name for p in all_params(func.node.params)) else None
