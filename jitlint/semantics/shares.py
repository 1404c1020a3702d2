"""A count that is dealt out: ``min(size, total - start)`` for each ``start`` in ``range(0, total, size)``.

It has two values at most: the size of a share, and that of the last one.
"""

from __future__ import annotations

import libcst as cst

from jitlint.semantics.bare import same
from jitlint.semantics.source import descendants
from jitlint.semantics.trips import changes


def is_share(call: cst.Call, loop: cst.CSTNode) -> bool:
    """Is a call of ``min`` the size of the share that one turn of a loop takes?"""
    arguments = [a.value for a in call.args if not a.star and a.keyword is None]
    if len(arguments) != 2 or len(call.args) != 2:
        return False
    one, other = arguments
    return _is_share(call, loop, one, other) or _is_share(call, loop, other, one)


def _is_share(call: cst.Call, loop: cst.CSTNode, size: cst.BaseExpression, left: cst.BaseExpression) -> bool:
    if isinstance(loop, cst.For | cst.CompFor):
        return _steps_through(loop, size, left)
    if not isinstance(loop, cst.While):
        return False
    if isinstance(left, cst.Name):
        return _advances(call, loop, left, cst.SubtractAssign, size)
    if not isinstance(left, cst.BinaryOperation) or not isinstance(left.operator, cst.Subtract):
        return False
    return _advances(call, loop, left.right, cst.AddAssign, size)


def _steps_through(loop: cst.For | cst.CompFor, size: cst.BaseExpression, left: cst.BaseExpression) -> bool:
    """``for start in range(0, total, size)``, where ``total - start`` is left."""
    if not isinstance(left, cst.BinaryOperation) or not isinstance(left.operator, cst.Subtract):
        return False
    over = loop.iter
    if not isinstance(over, cst.Call) or not isinstance(over.func, cst.Name) or over.func.value != "range":
        return False
    bounds = [a.value for a in over.args]
    return (
        len(bounds) == 3
        and same(bounds[1], left.left)
        and same(bounds[2], size)
        and isinstance(loop.target, cst.Name)
        and same(loop.target, left.right)
    )


def _advances(
    call: cst.Call, loop: cst.While, counter: cst.BaseExpression, by: type[cst.BaseAugOp], size: cst.BaseExpression
) -> bool:
    """Does each turn of the loop move the counter on by the size, or by the share itself?"""
    if not isinstance(counter, cst.Name):
        return False
    made = [s for s in descendants(loop.body, cst.Assign) if s.value is call]
    shares = [t.target for s in made for t in s.targets] + [size]
    found = changes(loop, counter.value)
    return (
        len(found) == 1
        and isinstance(found[0], cst.AugAssign)
        and isinstance(found[0].operator, by)
        and any(same(found[0].value, share) for share in shares)
    )
