"""Code that keeps what something was, sets it to something else, and puts it back: ``old = x.a; x.a = …; x.a = old``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.source import descendants, remembered

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter


def is_put_back(interp: Interpreter, key: str, node: cst.CSTNode) -> bool:
    """Does the running code, or code under the same trace that calls it, put back what it now sets at ``node``? ``key``
    is the attribute or variable; a property and what it keeps differ in underscores only, or its setter is running."""
    at: cst.CSTNode | None = node
    names = {key.lstrip("_")}
    began = interp.traces[0].frame_at
    if any(depth >= began and not names.isdisjoint(put_back) for depth, put_back in interp.managers):
        return True
    for frame in reversed(interp.frames[began:]):
        if frame.func is None or at is None:
            return False
        for name, first, last in _put_back(frame.func.lazy):
            if name in names and frame.unit.span(first).row < frame.unit.span(at).row <= frame.unit.span(last).row:
                return True
        names.add(frame.func.name.lstrip("_"))
        at = frame.call
    return False


@remembered
def _put_back(function: cst.FunctionDef | cst.Lambda) -> tuple[tuple[str, cst.CSTNode, cst.CSTNode], ...]:
    """What a function puts back, by its last name, with the statements that keep it and put it back."""
    if isinstance(function, cst.Lambda):
        return ()
    kept: dict[str, tuple[tuple[str, ...], cst.CSTNode]] = {}
    found = []
    for assign in descendants(function.body, cst.Assign):
        for target, value in _pairs(assign):
            if isinstance(target, cst.Name):
                kept[target.value] = (_paths(value), assign)
            paths, first = kept.get(value.value, ((), assign)) if isinstance(value, cst.Name) else ((), assign)
            if paths and paths == _paths(target):
                found += [(path.rpartition(".")[2], first, assign) for path in paths if path]
    return tuple(found)


@remembered
def names_put_back(function: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The variables and attributes that a function puts back, by their last names without underscores in front."""
    return frozenset(name for name, _, _ in _put_back(function))


def _pairs(assign: cst.Assign) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    for target in assign.targets:
        match target.target, assign.value:
            case cst.Tuple(elements=targets), cst.Tuple(elements=values) if len(targets) == len(values):
                yield from ((t.value, v.value) for t, v in zip(targets, values, strict=True))
            case one, value:
                yield one, value


def _paths(node: cst.BaseExpression) -> tuple[str, ...]:
    """The path of an expression; of a tuple, those of its elements."""
    elements = [e.value for e in node.elements] if isinstance(node, cst.Tuple) else [node]
    return tuple(_path(e) for e in elements)


def _path(node: cst.BaseExpression) -> str:
    """Dotted names without underscores in front of each; empty for other expressions."""
    match node:
        case cst.Name(value=name):
            return name.lstrip("_") or name
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if before := _path(owner):
            return f"{before}.{name.lstrip('_')}"
    return ""
