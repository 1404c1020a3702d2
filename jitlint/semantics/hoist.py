"""Moving a statement that makes a jitted function out of a loop: when it may be moved, and the edits."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.findings import Edit, Span
from jitlint.fix.text import split_lines
from jitlint.semantics.bare import children, last_name, nodes, walk
from jitlint.semantics.source import Unit

if TYPE_CHECKING:
    from jitlint.semantics.running import Loop


def hoisted(unit: Unit, loop: Loop, site: cst.CSTNode) -> tuple[Edit, Edit] | None:
    """The edits that move the statement of the loop's body which holds ``site`` before the loop, or None.

    The statement must be ``name = …`` or a decorated ``def``, stand directly in the body, bind a name that nothing
    else in the loop binds, and read nothing that the loop binds.
    """
    if loop.unit is not unit or not isinstance(loop.node, cst.For | cst.While):
        return None
    body = loop.node.body
    if not isinstance(body, cst.IndentedBlock):
        return None
    statement = next((s for s in body.body if _holds(s, site)), None)
    name = bound_name(statement) if statement is not None else None
    if statement is None or name is None:
        return None
    bound = Bindings()
    walk(loop.node, bound)
    if bound.names.count(name) != 1 or (names_in(statement) - _own(statement)) & (set(bound.names) - {name}):
        return None
    if calls_unknown(statement):
        return None
    return _edits(unit, loop.node, statement)


def _holds(statement: cst.CSTNode, site: cst.CSTNode) -> bool:
    return statement is site or any(_holds(c, site) for c in children(statement))


def bound_name(statement: cst.CSTNode) -> str | None:
    """The one name that a statement binds."""
    if isinstance(statement, cst.FunctionDef):
        return statement.name.value
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        small = statement.body[0]
        if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
            return small.targets[0].target.value
    return None


class Bindings:
    """Every name bound in a loop, also in the functions it defines: what they share cannot be told apart here."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._targets(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._targets(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._targets(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._targets(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._targets(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._targets(node.name)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        self.names.append(node.name.value)
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self.names.append(node.name.value)
        return False

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        self.names.append(str(node.evaluated_alias or node.evaluated_name).split(".")[0])

    def _targets(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Name):
            self.names.append(node.value)
        elif isinstance(node, cst.Attribute | cst.Subscript):
            self._targets(node.value)
        else:
            for child in children(node):
                self._targets(child)


def calls_unknown(statement: cst.CSTNode) -> bool:
    """Does the statement call anything but transforms while it runs? It may do anything then."""
    seen = _Calls()
    walk(statement, seen)
    return bool(seen.names)


class _Calls:
    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        for decorator in node.decorators:
            walk(decorator, self)
        return False

    def visit_Call(self, node: cst.Call) -> None:
        name = last_name(node.func)
        if name not in _PURE:
            self.names.append(name)


_PURE = frozenset(
    {"jit", "pmap", "grad", "value_and_grad", "vmap", "jacfwd", "jacrev", "hessian", "partial", "checkpoint", "remat"}
)


def names_in(statement: cst.CSTNode) -> set[str]:
    """Every name that is mentioned, but for builtins and names of keyword arguments."""
    out: set[str] = set()
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if type(node) is cst.Name:
            if not hasattr(builtins, node.value):
                out.add(node.value)
        elif type(node) is cst.Attribute or type(node) is cst.Arg:
            waiting.append(node.value)
        else:
            waiting += children(node)
    return out


def _own(statement: cst.CSTNode) -> set[str]:
    """Names that are variables of the functions in the statement alone."""
    return {node.name.value for node in nodes(statement) if isinstance(node, cst.Param)}


def _edits(unit: Unit, loop: cst.CSTNode, statement: Any) -> tuple[Edit, Edit] | None:
    lines = split_lines(unit.module.text)
    span, head = unit.span(statement), unit.span(loop)
    first = unit.span(statement.decorators[0]).row if isinstance(statement, cst.FunctionDef) else span.row
    last = span.end_row
    while first > head.row + 1 and lines[first - 2].strip().startswith("#"):
        first -= 1
    while not lines[last - 1].strip():
        last -= 1
    indent = len(lines[head.row - 1]) - len(lines[head.row - 1].lstrip())
    step = len(lines[first - 1]) - len(lines[first - 1].lstrip()) - indent
    body = lines[first - 1 : last]
    if any(line.strip() and line[: indent + step].strip() for line in body) or len(_body_of(loop)) < 2:
        return None
    end = "\r\n" if "\r\n" in unit.module.text else "\n"
    moved = "".join((line[step:] if line.strip() else line) + end for line in body)
    after = last
    if isinstance(statement, cst.FunctionDef):
        apart = 1 if indent else 2
        above = head.row - 1
        while above and not lines[above - 1].strip():
            above -= 1
        opens = above and lines[above - 1].rstrip().endswith(":")
        moved = end * max(0, 0 if opens or not above else apart - (head.row - 1 - above)) + moved + end * apart
        while after < len(lines) and not lines[after].strip():
            after += 1
        while first > head.row + 1 and not lines[first - 2].strip():
            first -= 1
    name = unit.module.display
    return (
        Edit(name, Span(head.row, 1, head.row, 1), moved),
        Edit(name, Span(first, 1, after + 1, 1), ""),
    )


def _body_of(loop: Any) -> list[Any]:
    return list(loop.body.body)
