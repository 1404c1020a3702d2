"""Functions that a test chose: ``run = plain if mask is None else jitted``.

Where the test asks for parameters that stay as they are, a later call of the chosen function is followed once for each
outcome, so that ``run(x, mask)`` does not give the jitted function what only the plain one is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.source import constant_parameters, descendants
from jitlint.semantics.values import Bound, Func, Jitted, LibV, Partial, Union, Value, Wrapped, members, union

if TYPE_CHECKING:
    from jitlint.semantics.interp import Frame, Interpreter

_FUNCTIONS = (Func, Bound, Jitted, Partial, Wrapped, LibV)


@dataclass(frozen=True, slots=True)
class Chosen:
    """``value`` is what a variable is after a test: the first of ``arms`` where the test holds, else the second."""

    test: cst.BaseExpression
    arms: tuple[Value, Value]
    value: Value


def is_steady(frame: Frame, test: cst.BaseExpression) -> bool:
    """Does a test ask for nothing but parameters of the running function that stay as they are?"""
    kinds = (cst.Call, cst.Attribute, cst.Subscript, cst.NamedExpr)
    if frame.func is None or any(True for kind in kinds for _ in descendants(test, kind)):
        return False
    names = {name.value for name in descendants(test, cst.Name)} - {"None", "True", "False"}
    return bool(names) and names <= constant_parameters(frame.func.lazy)


def functions(interp: Interpreter, mark: int) -> dict[str, Value]:
    """The variables of the running function that have become functions since ``mark``."""
    env = interp.frame.env
    changes = interp.trail.changes(mark).values()
    return {key: value for box, key, value in changes if box is env and isinstance(value, _FUNCTIONS)}


def note(frame: Frame, name: str, test: cst.BaseExpression, one: Value, other: Value) -> None:
    """Remember that a test has just chosen which function a variable of the running code is."""
    value = frame.env.slots.get(name)
    functions = all(isinstance(m, _FUNCTIONS) for arm in (one, other) for m in members(arm))
    if isinstance(value, Union) and functions and is_steady(frame, test):
        frame.chosen[name] = Chosen(test, (one, other), value)


def call(interp: Interpreter, node: cst.Call, run: Callable[[], Value]) -> Value:
    """The result of a call, followed apart for each outcome of the test that chose the function; ``run`` follows it."""
    frame = interp.frame
    name = node.func.value if isinstance(node.func, cst.Name) else ""
    chosen = frame.chosen.get(name)
    if chosen is None or frame.env.slots.get(name) is not chosen.value:
        return run()
    results: list[Value] = []

    def arm(value: Value, holds: bool) -> Callable[[], bool]:
        def follow() -> bool:
            interp.trail.write(frame.env, name, value)
            with interp.where(chosen.test, holds):
                results.append(run())
            return True

        return follow

    interp.fork([arm(value, holds) for value, holds in zip(chosen.arms, (True, False), strict=True)])
    interp.trail.write(frame.env, name, chosen.value)
    return union(results)
