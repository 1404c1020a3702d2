"""Arguments of traced functions that these write to for their own use: the copy that JAX makes of them is all they need.

Such a write is lost on the caller. Where the function reads what it wrote, and no caller looks at the object afterwards,
nobody misses it. What only a caller can be meant to see, or what counts on from call to call, is another matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.bare import nodes, path, root_name, same
from jitlint.semantics.calls import parameters
from jitlint.semantics.events import OuterWrite
from jitlint.semantics.source import Unit, descendants

if TYPE_CHECKING:
    from jitlint.semantics.entry import Call, Entry

_COLLECTING = frozenset({"add", "append", "appendleft", "extend", "extendleft", "insert"})
_BINDS = (cst.Name, cst.Tuple, cst.List)


def is_scratch(event: OuterWrite) -> bool:
    """Is the argument that is written to read by the traced function afterwards, and by no caller that can be seen?"""
    trace = next((t for t in event.trace if event.box.birth <= t.birth), None)
    entry: Entry | None = trace.entry if trace is not None else None
    if entry is None or entry.target is None or event.frame is None:
        return False
    written = next(_written(event.node), None)
    if written is None:
        return False
    accessor = _accessor(written)
    names, read = {root_name(written)}, False
    above = event.frame.running(event.node)
    for level, outer in zip(above, (*above[1:], None), strict=True):
        names = _aliases(level.function, names)
        read = read or any(
            _is_after(level.unit, n, level.at) for n in _reads(level.unit, level.function, names, accessor)
        )
        if level.function is entry.target.lazy:
            given = names & {p.name for p in entry.params or ()}
            return read and bool(given) and not _is_missed(event, entry, given, accessor)
        if outer is None or not isinstance(outer.at, cst.Call):
            return False
        names = _passed(level.function, names, outer.at)
    return False


def _is_missed(event: OuterWrite, entry: Entry, given: Set[str], accessor: cst.CSTNode | None) -> bool:
    """Does a caller look at the argument afterwards? Where none is seen, only what counts on is for a caller."""
    counts_on = _counts_on(event.node)
    places = [(call, place) for call in entry.calls for name in given if (place := _place(call, name)) is not None]
    if not places:
        return counts_on
    return any(_looks(call, place, accessor, counts_on) for call, place in places)


def _place(call: Call, name: str) -> cst.CSTNode | None:
    """The expression that a call gives for a parameter."""
    if name in call.nodes or not isinstance(call.node, cst.Call):
        return call.nodes.get(name)
    owner = call.node.func
    return owner.value if isinstance(owner, cst.Attribute) and name == "self" else None


def _looks(call: Call, place: cst.CSTNode, accessor: cst.CSTNode | None, counts_on: bool) -> bool:
    """Is what a call is given read later, in the function or module that calls? What counts on is looked at by the next
    call that is given the same, too."""
    unit, name = call.unit, root_name(place)
    if not name:
        return False  # made for the call
    above = unit.around(call.node)
    statement = next((n for n in reversed(above) if isinstance(n, cst.SimpleStatementLine)), call.node)
    functions = [n for n in above if isinstance(n, cst.FunctionDef | cst.Lambda)]
    if "." in path(place):
        within = [n for n in _like(unit, place) if n is not place]
        return counts_on or any(_may_be(unit, n, accessor) for n in within)
    rebound = any(n.value == name and n in unit.targets for n in nodes(statement) if isinstance(n, cst.Name))
    if rebound:
        return False
    around = functions[0] if functions else unit.node
    reads = [] if around is None else [n for n in _reads(unit, around, {name}, accessor) if n is not place]
    binds = [_binds(unit, loop, name) for loop in _loops_around(unit, call.node)]
    if any(_is_after(unit, n, call.node, over_loops=not any(binds)) for n in reads):
        return True
    if counts_on and not all(binds):
        return True
    if functions:
        return False
    for other in unit.module.index.statements:
        if other.first_row > unit.statement.last_row:
            if name in other.mentions:
                return True
            if name in other.binds:
                return False
    return False


def _loops_around(unit: Unit, node: cst.CSTNode) -> list[cst.CSTNode]:
    return [n for n in unit.around(node) if isinstance(n, cst.For | cst.While)]


def _binds(unit: Unit, within: cst.CSTNode, name: str) -> bool:
    return any(n.value == name and n in unit.targets for n in descendants(within, cst.Name))


def _written(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a statement or call writes to: a part of something."""
    match node:
        case cst.Assign(targets=targets):
            found: list[cst.CSTNode] = [target.target for target in targets]
        case cst.AugAssign(target=target) | cst.AnnAssign(target=target) | cst.Del(target=target):
            found = [target]
        case cst.Call(func=cst.Attribute() as method):
            found = [method]
        case _:
            found = [node]
    for one in found:
        if isinstance(one, cst.Subscript | cst.Attribute) and root_name(one):
            yield one


def _counts_on(node: cst.CSTNode) -> bool:
    """Is what is written made of what was there before?"""
    match node:
        case cst.AugAssign():
            return True
        case cst.Call(func=cst.Attribute(attr=attr)):
            return attr.value in _COLLECTING
        case cst.Assign(targets=targets, value=value):
            return any(same(target.target, n) for target in targets for n in nodes(value))
    return False


def _accessor(node: cst.CSTNode) -> cst.CSTNode | None:
    """The key or attribute of the variable in which the written part lies; None where it cannot be told from others."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        if isinstance(node.value, cst.Name):
            return _key(node)
        node = node.value
    return None


def _key(part: cst.Attribute | cst.Subscript) -> cst.CSTNode | None:
    if isinstance(part, cst.Attribute):
        return part.attr
    match part.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() | cst.Integer() as key))]:
            return key
    return None


def _aliases(function: cst.CSTNode, names: set[str]) -> set[str]:
    """These variables of a function and those that hold parts of them, or what they are parts of."""
    pairs: list[tuple[set[str], set[str]]] = []
    for assign in descendants(function, cst.Assign):
        bound = {n for t in assign.targets if isinstance(t.target, _BINDS) for n in _names(t.target)}
        pairs.append((bound, {root_name(assign.value)} - {""}))
    for loop in descendants(function, cst.For):
        pairs.append((set(_names(loop.target)), set(_names(loop.iter))))
    found, size = set(names), 0
    while len(found) > size:
        size = len(found)
        for bound, of in pairs:
            if bound and of and not found.isdisjoint(bound | of):
                found |= bound | of
    return found


def _names(node: cst.CSTNode) -> Iterator[str]:
    return (n.value for n in nodes(node) if isinstance(n, cst.Name))


def _reads(unit: Unit, within: cst.CSTNode, names: Set[str], accessor: cst.CSTNode | None) -> Iterator[cst.CSTNode]:
    """Where variables are read, or such a part of them as may hold what was written."""
    for n in nodes(within):
        if isinstance(n, cst.Name) and n.value in names and n not in unit.targets and _may_be(unit, n, accessor):
            yield n


def _may_be(unit: Unit, node: cst.CSTNode, accessor: cst.CSTNode | None) -> bool:
    """May what was written be read there?"""
    parent = unit.parents.get(node)
    match parent:
        case cst.Param() | cst.AssignTarget() | cst.AugAssign():
            return False
        case cst.Arg(keyword=keyword) if keyword is node:
            return False
        case cst.Attribute(attr=attr) if attr is node:
            return False
        case cst.Attribute() | cst.Subscript():
            above = unit.parents.get(parent)
            if isinstance(above, cst.AssignTarget | cst.AugAssign | cst.Del):
                return False
            if isinstance(above, cst.Call) and above.func is parent:
                return True
            key = _key(parent)
            return key is None or accessor is None or type(key) is not type(accessor) or same(key, accessor)
    return True


def _like(unit: Unit, place: cst.CSTNode) -> Iterator[cst.CSTNode]:
    return (n for n in nodes(unit.node) if same(n, place)) if unit.node is not None else iter(())


def _is_after(unit: Unit, node: cst.CSTNode, place: cst.CSTNode, over_loops: bool = True) -> bool:
    """Does a node come after a place, in the text or in the next turn of a loop?"""
    here, there = unit.span(place), unit.span(node)
    if (there.row, there.column) > (here.end_row, here.end_column):
        return True
    if not over_loops or (there.end_row, there.end_column) > (here.row, here.column):
        return False
    around = unit.around(node)
    return any(loop in around for loop in _loops_around(unit, place))


def _passed(function: cst.CSTNode, names: Set[str], call: cst.Call) -> set[str]:
    """The variables that a call gives for these parameters, or holds them in."""
    if not isinstance(function, cst.FunctionDef | cst.Lambda):
        return set()
    found = set()
    positional = [p.name for p in parameters(function) if p.kind in ("pos", "posonly")]
    if isinstance(call.func, cst.Attribute) and positional[:1] == ["self"]:
        positional = positional[1:]
        if "self" in names:
            found.add(root_name(call.func.value))
    for index, arg in enumerate(call.args):
        name = arg.keyword.value if arg.keyword is not None else positional[index] if index < len(positional) else ""
        if name in names:
            found.add(root_name(arg.value))
    return found - {""}
