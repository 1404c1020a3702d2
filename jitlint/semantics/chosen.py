"""What a test chose: ``run = plain if mask is None else jitted``.

Where the test asks for parameters that stay as they are, a later call of the chosen function is followed once for each
outcome, so that ``run(x, mask)`` does not give the jitted function what only the plain one is given. Where the same is
asked again, variables are what the first test made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.bare import same
from jitlint.semantics.source import constant_parameters, remembered
from jitlint.semantics.state import Box
from jitlint.semantics.values import (
    Bound,
    Const,
    DictV,
    Func,
    Host,
    Jitted,
    LibV,
    Partial,
    Tup,
    Unknown,
    Value,
    Wrapped,
    members,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Frame

_FUNCTIONS = (Func, Bound, Jitted, Partial, Wrapped, LibV)


@dataclass(frozen=True, slots=True)
class Chosen:
    """``value`` is what a variable is after a test: the first of ``arms`` where the test holds, else the second."""

    test: cst.BaseExpression
    arms: tuple[Value, Value]
    value: Value


def is_steady(frame: Frame, test: cst.BaseExpression) -> bool:
    """Does a test ask for nothing but parameters of the running function that stay as they are?"""
    func = frame.func
    names = _names(test)
    if func is None or not names or "" in names:
        return False
    return names <= constant_parameters(func.lazy, func.unit.statement.text)


_NOTHING: frozenset[str] = frozenset()
_ANYTHING = frozenset({""})


@remembered
def _one(name: str) -> frozenset[str]:
    return frozenset({name})  # the same for all tests that ask for it


@remembered
def _names(test: cst.BaseExpression) -> frozenset[str]:
    """The variables that a test asks for; an empty name for anything else that may change."""
    match test:
        case cst.Name(value="None" | "True" | "False") | cst.BaseNumber() | cst.SimpleString():
            return _NOTHING
        case cst.Name(value=name):
            return _one(name)
        case cst.UnaryOperation(expression=inner):
            return _names(inner)
        case cst.BooleanOperation(left=left, right=right):
            return _names(left) | _names(right)
        case cst.Comparison(left=left, comparisons=more):
            return _names(left).union(*(_names(one.comparator) for one in more))
    return _ANYTHING


def changed(interp: Interpreter, mark: int, steady: bool) -> dict[str, Value]:
    """The variables of the running function that have changed since ``mark``; none under a test that is not steady."""
    changes = interp.trail.changed_in(interp.frame.env, mark) if steady else {}
    return {key: value for key, value in changes.items() if value is not None}


def note(frame: Frame, name: str, test: cst.BaseExpression, one: Value, other: Value) -> None:
    """Remember that a steady test has just chosen what a variable of the running code is."""
    value = frame.env.slots.get(name)
    if value is None or one is other or isinstance(value, Const | Unknown):
        return
    if (value is one or value is other) and not (isinstance(value, Host) and value.type == "bool"):
        return  # there is but one, or one that other variables may be
    own = [*members(one), *members(other)]
    if any(isinstance(m, Box | Tup) and all(m is not each for each in own) for m in members(value)):
        return  # what is joined of both may change, and they do not
    frame.chosen[name] = Chosen(test, (one, other), value)


def note_all(
    frame: Frame, test: cst.BaseExpression, arms: Sequence[Mapping[str, Value]], before: Mapping[Hashable, Value]
) -> None:
    """Remember what a steady test has just chosen: ``arms`` are the variables that changed where it holds, and where it
    does not; ``before`` is what they were."""
    one, other = arms
    for name in {**one, **other}:
        values = one.get(name, before.get(name)), other.get(name, before.get(name))
        if values[0] is not None and values[1] is not None:
            note(frame, name, test, values[0], values[1])


def recall(interp: Interpreter, test: cst.BaseExpression, holds: bool) -> None:
    """Where a test is made a second time, what it chose the first time is known."""
    env = interp.frame.env
    for name, found in interp.frame.chosen.items():
        if env.slots.get(name) is found.value:
            same = _says_the_same(found.test, test)
            if same is not None:
                for box, key in _places(interp.frame, name, found.value):
                    interp.trail.write(box, key, found.arms[0 if holds is same else 1])


def _places(frame: Frame, name: str, value: Value) -> list[tuple[Box, Hashable]]:
    """Where the value of a variable is: in the variable, and in the dicts of others that it was put into."""
    dicts = [held for held in frame.env.slots.values() if isinstance(held, DictV)]
    return [(frame.env, name), *((held, key) for held in dicts for key, item in held.slots.items() if item is value)]


def _says_the_same(one: cst.BaseExpression, other: cst.BaseExpression) -> bool | None:
    """Do two tests ask the same (True), or the opposite (False)? None: neither is seen."""
    (first, missing, holds), (second, as_missing, as_well) = _plain(one), _plain(other)
    return holds is as_well if missing is as_missing and same(first, second) else None


def _plain(test: cst.BaseExpression) -> tuple[cst.BaseExpression, bool, bool]:
    """What a test asks about, whether it asks for None, and whether it holds where that is so."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            of, missing, holds = _plain(inner)
            return of, missing, not holds
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot() as how, comparator=right)]
        ) if isinstance(right, cst.Name) and right.value == "None":
            return left, True, isinstance(how, cst.Is)
    return test, False, True


def call(interp: Interpreter, node: cst.Call, run: Callable[[], Value]) -> Value:
    """The result of a call, followed apart for each outcome of the test that chose the function; ``run`` follows it."""
    frame = interp.frame
    name = node.func.value if isinstance(node.func, cst.Name) else ""
    chosen = frame.chosen.get(name)
    if chosen is None or frame.env.slots.get(name) is not chosen.value or not _are_functions(chosen.arms):
        return run()
    results: list[Value] = []
    known = [
        (box, key, found.value)
        for each, found in frame.chosen.items()
        if frame.env.slots.get(each) is found.value
        for box, key in _places(frame, each, found.value)
    ]

    def arm(value: Value, holds: bool) -> Callable[[], bool]:
        def follow() -> bool:
            interp.trail.write(frame.env, name, value)
            said = interp.enter(chosen.test, holds)
            results.append(run())
            interp.frame.said = said
            return True

        return follow

    interp.fork([arm(value, holds) for value, holds in zip(chosen.arms, (True, False), strict=True)])
    for box, key, value in known:
        interp.trail.write(box, key, value)
    interp.choice = (node, chosen.test, results[0], results[1])
    return union(results)


def _are_functions(arms: tuple[Value, ...]) -> bool:
    return all(isinstance(m, _FUNCTIONS) for arm in arms for m in members(arm))
