"""How often a ``while`` loop that counts turns: ``while i < n: … i += 1``, with numbers that are known."""

from __future__ import annotations

import operator
from collections.abc import Callable

import libcst as cst

from jitlint.semantics.bare import walk
from jitlint.semantics.source import remembered
from jitlint.semantics.values import Const, Value

_HOLDS: dict[type[cst.BaseCompOp], Callable[[float, float], bool]] = {
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
    cst.NotEqual: operator.ne,
}
MOST = 100_000


def while_trip(node: cst.While, value: Callable[[cst.BaseExpression], Value | None]) -> int | None:
    """The number of turns, or None where it is not a count. ``value`` gives the value of a name or number."""
    test = node.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return None
    holds = _HOLDS.get(type(test.comparisons[0].operator))
    start, stop = value(test.left), value(test.comparisons[0].comparator)
    step = _step(node, test.left.value, value)
    if holds is None or step is None:
        return None
    if not isinstance(start, Const) or not isinstance(stop, Const):
        return None
    at, end = start.value, stop.value
    if not isinstance(at, int | float) or not isinstance(end, int | float):
        return None
    turns = 0
    while holds(at, end) and turns <= MOST:
        at += step
        turns += 1
    return turns if turns <= MOST else None


def _step(node: cst.While, name: str, value: Callable[[cst.BaseExpression], Value | None]) -> float | None:
    """What is added to the counter in each turn, by the one statement of the body that changes it."""
    found = _changes(node, name)
    direct = [s for line in node.body.body if isinstance(line, cst.SimpleStatementLine) for s in line.body]
    if len(found.changes) != 1 or found.leaves or not any(found.changes[0] is s for s in direct):
        return None
    change = found.changes[0]
    if not isinstance(change, cst.AugAssign) or not isinstance(change.operator, cst.AddAssign | cst.SubtractAssign):
        return None
    by = value(change.value)
    if not isinstance(by, Const) or not isinstance(by.value, int | float) or isinstance(by.value, bool) or not by.value:
        return None
    return by.value if isinstance(change.operator, cst.AddAssign) else -by.value


def changes(node: cst.While, name: str) -> list[cst.CSTNode]:
    """The statements in the body of a loop that bind a name."""
    return _changes(node, name).changes


@remembered
def _changes(node: cst.While, name: str) -> _Changes:
    """What the body of a loop does to a name; a loop is met once in each run of its function."""
    found = _Changes(name)
    walk(node.body, found)
    return found


class _Changes:
    """The statements that bind a name, and whether the loop may be left or cut short."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.changes: list[cst.CSTNode] = []
        self.leaves = False

    def _note(self, node: cst.CSTNode, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            if target.value == self.name:
                self.changes.append(node)
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._note(node, element.value)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._note(node, node.target)

    def visit_Assign(self, node: cst.Assign) -> None:
        for target in node.targets:
            self._note(node, target.target)

    def visit_For(self, node: cst.For) -> None:
        self._note(node, node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._note(node, node.target)

    def visit_Break(self, node: cst.Break) -> None:
        self.leaves = True

    def visit_Continue(self, node: cst.Continue) -> None:
        self.leaves = True

    def visit_Return(self, node: cst.Return) -> None:
        self.leaves = True

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False
