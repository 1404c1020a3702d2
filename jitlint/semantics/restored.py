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
    for frame in reversed(interp.frames[interp.traces[0].frame_at :]):
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
    kept: dict[str, tuple[str, cst.CSTNode]] = {}
    found = []
    for assign in descendants(function.body, cst.Assign):
        for target, value in _pairs(assign):
            if isinstance(target, cst.Name) and isinstance(value, cst.Name | cst.Attribute):
                kept[target.value] = (_path(value), assign)
            back = kept.get(value.value) if isinstance(value, cst.Name) else None
            if back is not None and back[0] and back[0] == _path(target):
                found.append((back[0].rpartition(".")[2], back[1], assign))
    return tuple(found)


def _pairs(assign: cst.Assign) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    for target in assign.targets:
        match target.target, assign.value:
            case cst.Tuple(elements=targets), cst.Tuple(elements=values) if len(targets) == len(values):
                yield from ((t.value, v.value) for t, v in zip(targets, values, strict=True))
            case one, value:
                yield one, value


def _path(node: cst.BaseExpression) -> str:
    """Dotted names without underscores in front of each; empty for other expressions."""
    match node:
        case cst.Name(value=name):
            return name.lstrip("_") or name
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if before := _path(owner):
            return f"{before}.{name.lstrip('_')}"
    return ""
