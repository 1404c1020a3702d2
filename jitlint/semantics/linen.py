"""Modules of flax.linen: ``model.apply(variables, x)`` runs a method on a copy of the module that holds variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import calls
from jitlint.semantics.calls import Args
from jitlint.semantics.entry import Param
from jitlint.semantics.values import FALSE, NONE, UNKNOWN, Bound, Const, Func, LibV, Obj, Tup, Value

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_OPTIONS = ("rngs", "method", "mutable", "capture_intermediates")
_FIRST = {"apply": "variables", "init": "rngs", "init_with_output": "rngs"}


def attribute(module: Obj, name: str) -> Value | None:
    """What a linen module inherits under ``name``, if it is followed."""
    return Bound(LibV(f"linen.{name}"), module) if name in _FIRST else None


def signature(name: str) -> tuple[Param, ...]:
    """The parameters of ``module.apply`` and its kin."""
    options = (Param(option, "kwonly", True) for option in _OPTIONS if option != _FIRST[name])
    return (Param(_FIRST[name], "pos"), Param("args", "args"), *options, Param("kwargs", "kwargs"))


def method(interp: Interpreter, me: Value, name: str, args: Args, node: cst.CSTNode) -> Value:
    """``module.apply(variables, *args, **kwargs)`` and its kin; variables themselves are not known."""
    assert isinstance(me, Obj) and me.project_class is not None
    options = {k: v for k, v in args.kw.items() if k in _OPTIONS}
    chosen = options.get("method", NONE)
    if isinstance(chosen, Const):
        chosen = me.project_class.lookup("__call__" if chosen == NONE else str(chosen.value)) or UNKNOWN
    if not isinstance(chosen, Func):
        return UNKNOWN
    inner = Args(
        args.pos[1:],
        {k: v for k, v in args.kw.items() if k not in options and k != _FIRST[name]},
        args.rest,
        args.more,
        args.pos_nodes[1:],
        dict(args.kw_nodes),
    )
    result = run(interp, me, chosen, inner, node)
    if name == "init":
        return UNKNOWN
    plain = options.get("mutable", FALSE) == FALSE and options.get("capture_intermediates", FALSE) == FALSE
    return result if plain and name == "apply" else Tup((result, UNKNOWN))


def run(interp: Interpreter, me: Obj, chosen: Func, args: Args, node: cst.CSTNode) -> Value:
    """Run a method on a copy of the module, after its ``setup``."""
    assert me.project_class is not None
    bound = Obj(me.cls, node, me.open)
    bound.slots.update(me.slots)
    setup = me.project_class.lookup("setup")
    if isinstance(setup, Func):
        calls.call_value(interp, Bound(setup, bound), Args(), node)
    return calls.call_value(interp, Bound(chosen, bound), args, node)
