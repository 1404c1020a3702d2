"""What a method left to subclasses may be: where only the base class is known, each of those that the project has."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import libcst as cst

from jitlint.semantics.values import Bound, ClassV, Func, Jitted, Value, union

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

MOST = 4
"""Overrides that are told apart; among more, nothing is said."""


def of_abstract(interp: Interpreter, cls: ClassV, name: str, method: Func) -> Value | None:
    """The overrides of an abstract method, each bound to an instance of its class; None when there are none or many."""
    if not is_abstract(method):
        return None
    from jitlint.semantics.roots import self_value

    found: dict[int, Value] = {}
    for sub in interp.classes:
        own = sub.slots.get(name)
        if sub is not cls and _runs(own) and any(c is cls for c in sub.mro()):
            found[id(own)] = Bound(own, self_value(interp, sub))
        if len(found) > MOST:
            return None
    return union(found.values()) if found else None


def _runs(own: Value | None) -> TypeGuard[Func | Jitted]:
    """Is it a plain method with something to run?"""
    return isinstance(own, Jitted) or isinstance(own, Func) and own.flavour == "" and not is_abstract(own)


def is_abstract(method: Func) -> bool:
    """Does the method only say that subclasses must have it?"""
    if method.flavour == "abstract":
        return True
    if method.flavour or not isinstance(method.lazy, cst.FunctionDef):
        return False
    body = [s for s in method.lazy.body.body if not _is_text(s)]
    return len(body) == 1 and _raises_not_implemented(body[0])


def _is_text(s: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    if isinstance(s, cst.SimpleStatementLine) and len(s.body) == 1:
        return isinstance(s.body[0], cst.Expr) and isinstance(s.body[0].value, cst.SimpleString)
    return False


def _raises_not_implemented(s: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    small = s.body[0] if isinstance(s, cst.SimpleStatementLine) and s.body else s
    if not isinstance(small, cst.Raise) or small.exc is None:
        return False
    what = small.exc.func if isinstance(small.exc, cst.Call) else small.exc
    return isinstance(what, cst.Name) and what.value == "NotImplementedError"
