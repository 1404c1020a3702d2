"""Tests that choose between code for JAX and its twin for the host, by what their names say.

Where nothing is known of the outcome, traced code gets the twin that is written for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.bare import last_name, literal
from jitlint.semantics.events import Event, ItemAssignment, NeedsConcrete
from jitlint.semantics.values import LibV, Value

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_JIT_SETTINGS = frozenset({"jit", "use_jit", "jitted", "is_jitted", "do_jit", "enable_jit", "jit_compile"})
_TRACER_TESTS = frozenset({"has_tracer", "has_tracers", "is_tracer", "any_tracer", "any_tracers", "contains_tracer"})
_LIBRARIES = {"jax": True, "jnp": True, "jax.numpy": True, "numpy": False, "np": False, "cupy": False, "torch": False}
"""Names of libraries of arrays, and whether it is the one whose arrays are traced."""


def says_traced(interp: Interpreter, test: cst.BaseExpression) -> bool | None:
    """The truth, in traced code, of a setting that says by its name whether the code is jitted, of a function that
    looks for tracers, or of a comparison with a library of arrays (None: it is no such)."""
    if type(test) is cst.Name or type(test) is cst.Attribute:  # the commonest
        return last_name(test).lstrip("_") in _JIT_SETTINGS or None
    match test:
        case cst.Comparison(left=left, comparisons=[one]):
            return _compares_libraries(interp, left, one)
        case cst.Call(func=func):
            return last_name(func).lstrip("_") in _TRACER_TESTS or None
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            holds = says_traced(interp, inner)
            return None if holds is None else not holds
        case cst.BooleanOperation(left=left, right=right, operator=operator):
            both = (says_traced(interp, left), says_traced(interp, right))
            if isinstance(operator, cst.And):
                return False if False in both else True if True in both else None
            return True if True in both else False if both == (False, False) else None
    return None


def is_other(interp: Interpreter, event: Event) -> bool:
    """Is it a use of NumPy in the twin that the tests did not choose which say that the trace begins? It is one of
    several, or fewer of them chose it: the others, that choose the transform, ask for the same again, most likely."""
    match event:
        case ItemAssignment(kind="numpy") | NeedsConcrete(need="numpy"):
            trace = interp.traces[0]
            makers = (f.func.frame for f in interp.frames[trace.frame_at :] if f.func is not None)
            return interp.unsure > 0 or any(made is not None and 0 < made.forks < trace.tests for made in makers)
    return False


def _compares_libraries(interp: Interpreter, left: cst.BaseExpression, one: cst.ComparisonTarget) -> bool | None:
    """The truth of ``library == "jax"``, ``xp is np``, ``"jax" in libraries``; an argument that is not traced may be
    of another library, so that ``"numpy" in libraries`` says nothing."""
    how = type(one.operator)
    if how in (cst.Equal, cst.Is, cst.NotEqual, cst.IsNot):
        jax = _is_jax(interp, one.comparator)
        return None if jax is None else jax is (how is cst.Equal or how is cst.Is)
    if how in (cst.In, cst.NotIn) and type(left) is cst.SimpleString and _is_jax(interp, left):
        return how is cst.In
    return None


def _is_jax(interp: Interpreter, node: cst.BaseExpression) -> bool | None:
    """Is a library of arrays, given by its name or itself, the one whose arrays are traced (None: it is none)?"""
    if type(node) is cst.SimpleString:
        return _LIBRARIES.get(literal(node.value))
    value: Value | None = interp.peek(node) if type(node) in (cst.Name, cst.Attribute) else None
    return _LIBRARIES.get(value.name) if isinstance(value, LibV) else None
