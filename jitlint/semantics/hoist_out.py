"""Moving what makes a jitted function out of the function around it, to the module: when it may be moved, the edits."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from jitlint.findings import Edit, Span
from jitlint.fix.text import newline_of, split_lines
from jitlint.semantics.bare import children, walk
from jitlint.semantics.hoist import Bindings, bound_name, calls_unknown, names_in
from jitlint.semantics.source import Unit, all_params


def out_of_function(unit: Unit, site: cst.CSTNode) -> tuple[Edit, Edit] | None:
    """The edits that make what is jitted at ``site`` once, above the function or class at module level; None where it
    depends on something of the function, or on a name that the module binds later or twice.

    ``name = jax.jit(…)`` and a decorated ``def`` move as they are; any other expression gets a name.
    """
    top = unit.node
    path = [] if top is None else _path(top, site)
    functions = [n for n in path if isinstance(n, cst.FunctionDef) and site not in [d.decorator for d in n.decorators]]
    if not functions or any(isinstance(n, cst.Lambda) for n in path[:-1]):
        return None
    statement = _statement(path, site)
    moved = statement if statement is not None else site
    name = None if statement is None else bound_name(statement)
    reads = names_in(moved) - _own(moved) - {name}
    above, bound = _module_names(unit)
    local = {name for f in functions for name in _local(f)}
    if reads & local or not reads <= above or calls_unknown(moved):
        return None
    lines = split_lines(unit.module.text)
    if statement is not None:
        if name is None or name in bound or sum(_local(f).count(name) for f in functions) != 1:
            return None
        return _moved(unit, lines, statement)
    code = unit.code(site)
    around = [n.name.value for n in path if isinstance(n, cst.ClassDef | cst.FunctionDef)]
    name = "_" + "_".join(
        [*around, *(list(_words(site)) or ["jitted"])]
    )  # of its own in the module, whatever else is moved at once
    if "\n" in code or name in bound or name in local or not isinstance(site, cst.Call):
        return None
    return _insert(unit, lines, [f"{name} = {code}"]), Edit(unit.module.display, unit.span(site), name)


def _path(node: cst.CSTNode, site: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes from ``node`` down to ``site``."""
    if node is site:
        return [node]
    for child in children(node):
        if found := _path(child, site):
            return [node, *found]
    return []


def _statement(path: list[cst.CSTNode], site: cst.CSTNode) -> cst.SimpleStatementLine | cst.FunctionDef | None:
    """The statement that is nothing but the making: ``name = jax.jit(…)`` or a ``def`` decorated so."""
    for node in reversed(path):
        if isinstance(node, cst.FunctionDef):
            return node if any(d.decorator is site for d in node.decorators) else None
        if isinstance(node, cst.SimpleStatementLine):
            small = node.body[0]
            alone = len(node.body) == 1 and isinstance(small, cst.Assign) and small.value is site
            return node if alone else None
    return None


class _Inner(Bindings):
    """Every name that the functions in a statement bind, parameters included."""

    def visit_Param(self, node: cst.Param) -> None:
        self.names.append(node.name.value)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._targets(node.target)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        self.names.append(node.name.value)
        return True

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return True


def _own(moved: cst.CSTNode) -> set[str]:
    inner = _Inner()
    if isinstance(moved, cst.SimpleStatementLine):
        moved = moved.body[0]
    walk(moved.value if isinstance(moved, cst.Assign) else moved, inner)
    return set(inner.names)


def _local(function: cst.FunctionDef) -> list[str]:
    """The names that a function binds, once for each time."""
    found = Bindings()
    walk(function.body, found)
    return [*(p.name.value for p in all_params(function.params)), *found.names]


def _module_names(unit: Unit) -> tuple[set[str], set[str]]:
    """The names that the module binds once and before the statement of ``unit``, and all that it binds."""
    counts: dict[str, int] = {}
    before: set[str] = set()
    for statement in unit.module.index.statements:
        for name in statement.binds:
            counts[name] = counts.get(name, 0) + 1
            if statement.last_row < unit.statement.first_row:
                before.add(name)
    return {name for name in before if counts[name] == 1}, set(counts)


def _words(node: cst.CSTNode) -> Iterator[str]:
    """``grad`` and ``loss`` for ``jax.jit(jax.grad(loss))``."""
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, cst.Attribute):
        yield node.attr.value
    elif isinstance(node, cst.Call) and node.args:
        name = list(_words(node.func))
        if name and name[-1] not in ("jit", "pmap", "partial"):
            yield name[-1]
        yield from _words(node.args[0].value)


def _moved(unit: Unit, lines: list[str], statement: cst.SimpleStatementLine | cst.FunctionDef) -> tuple[Edit, Edit]:
    span = unit.span(statement)
    first = unit.span(statement.decorators[0]).row if isinstance(statement, cst.FunctionDef) else span.row
    while lines[first - 2].strip().startswith("#"):
        first -= 1
    last = span.end_row
    while not lines[last - 1].strip():
        last -= 1
    body = lines[first - 1 : last]
    indent = len(body[0]) - len(body[0].lstrip())
    after = last
    while isinstance(statement, cst.FunctionDef) and after < len(lines) and not lines[after].strip():
        after += 1
    taken = Edit(unit.module.display, Span(first, 1, after + 1, 1), "")
    return _insert(unit, lines, [line[indent:] for line in body]), taken


def _insert(unit: Unit, lines: list[str], text: list[str]) -> Edit:
    """The edit that puts lines above the top-level statement of ``unit`` and the comments that belong to it."""
    row = unit.statement.first_row
    while row > 1 and lines[row - 2].startswith("#"):
        row -= 1
    end = newline_of(unit.module.text)
    return Edit(unit.module.display, Span(row, 1, row, 1), "".join(line + end for line in (*text, "", "")))
