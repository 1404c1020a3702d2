"""Lookups in tables that were filled before: ``if key in table: return table[key]``, and code for what they lack.

Who fills a table with keys that are not known here does so for those that are asked for, under a trace at least. A memo,
which the same function fills, is another thing: the first call of each kind misses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.bare import same
from jitlint.semantics.source import descendants
from jitlint.semantics.values import DictV

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_FILLING = ("setdefault", "update", "__setitem__")


def missing(interp: Interpreter, test: cst.BaseExpression) -> bool | None:
    """For a test whether a table has a key, the outcome that says it has not (None: it is no such test)."""
    if type(test) is not cst.Comparison or len(test.comparisons) != 1:
        return None
    [one] = test.comparisons
    func = interp.frame.func
    if type(one.operator) not in (cst.In, cst.NotIn) or func is None:
        return None
    table = interp.peek(one.comparator)
    if not isinstance(table, DictV) or table.rest is None or _is_filled(func.lazy.body, one.comparator):
        return None
    return type(one.operator) is cst.NotIn


def _is_filled(body: cst.CSTNode, table: cst.BaseExpression) -> bool:
    """Does the code store something in the table, or hand it to somebody who may?"""
    for target in descendants(body, cst.AssignTarget):
        if isinstance(target.target, cst.Subscript) and same(target.target.value, table):
            return True
    for call in descendants(body, cst.Call):
        of = call.func.value if isinstance(call.func, cst.Attribute) and call.func.attr.value in _FILLING else None
        if of is not None and same(of, table) or any(same(a.value, table) for a in call.args):
            return True
    return False
