"""What a library runs under a trace, as a rule, though nothing in the project says so.

The update function of an optimizer, the ``__call__`` of a module, the ``step`` of an environment: whoever writes one
has it jitted by others. Such a function is run once more, as if traced; what it finds is only possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from jitlint.knowledge import ClassModel
from jitlint.semantics import calls, demands, transforms
from jitlint.semantics.calls import Args
from jitlint.semantics.entry import Param
from jitlint.semantics.events import WeakState
from jitlint.semantics.validity import is_pytree
from jitlint.semantics.values import (
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Func,
    Host,
    Level,
    LibV,
    Obj,
    Origin,
    Tree,
    Tup,
    Value,
    py_type,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

MOST = 400
"""Functions that are run so; a library of many hundreds of modules is not to be run twice."""


def model_of(interp: Interpreter, cls: Value) -> ClassModel | None:
    """The row of a library class; also where the project is that library."""
    if isinstance(cls, LibV):
        return interp.knowledge.class_(cls.name)
    if isinstance(cls, ClassV):
        return interp.knowledge.class_(f"{cls.unit.module.name}.{cls.name}")
    return None


def note(interp: Interpreter, model: ClassModel, args: Args) -> None:
    """Remember the functions that the constructor of a library class is given as fields."""
    for place, field in enumerate(model.fields):
        given = args.get(place, field)
        if field in model.traced and isinstance(given, Func):
            interp.conventional.setdefault(id(given.lazy), (given, None, model, field))
    for first, then in model.carried.items():
        made, renewed = (args.get(model.fields.index(name), name) for name in (first, then))
        if isinstance(made, Func) and isinstance(renewed, Func):
            interp.states.setdefault(id(made.lazy), (made, renewed, None, model))


def run(interp: Interpreter, uncalled: Set[int]) -> None:
    """Run what libraries trace, once each, without a lasting effect on the state. ``uncalled`` are the ids of the
    definitions that nothing in the project calls."""
    for cls in list(interp.classes):
        for model, name, func in _methods(interp, cls):
            interp.conventional.setdefault(id(func), (func, cls, model, name))
    for func in interp.functions:
        if id(func.lazy) in uncalled:
            step = _schedule(interp, func)
            if step is not None:
                model = ClassModel("learning rate schedule", "object", traced={func.name: (step,)})
                interp.conventional.setdefault(id(func.lazy), (func, func.owner, model, func.name))
    for func, owner, model, name in list(interp.conventional.values())[:MOST]:
        _run(interp, func, owner, model, name)
    for cls in list(interp.classes):
        _note_methods(interp, cls)
    for made, renewed, owner, model in list(interp.states.values())[:MOST]:
        _weak_states(interp, made, renewed, owner, model)


_FIRST = ("init_state", "init", "reset", "reset_env")
_THEN = ("update", "step", "step_env")


def _note_methods(interp: Interpreter, cls: ClassV) -> None:
    """Remember the methods of a solver or environment that make and renew its state."""
    first = next((name for name in _FIRST if isinstance(cls.slots.get(name), Func)), None)
    then = next((name for name in _THEN if isinstance(cls.slots.get(name), Func)), None)
    if first is None or then is None:
        return
    made, renewed = cls.slots[first], cls.slots[then]
    assert isinstance(made, Func) and isinstance(renewed, Func)
    model = ClassModel(cls.name, "object", traced={first: (), then: ()}, carried={first: then})
    if made.flavour == renewed.flavour == "":
        interp.states.setdefault(id(made.lazy), (made, renewed, _with_instances(interp, cls), model))


def _with_instances(interp: Interpreter, cls: ClassV) -> ClassV:
    """The class itself or, since abstract ones have no instances, the first of the project that fills it in."""
    if not _is_abstract(cls):
        return cls
    return next((c for c in interp.classes if any(base is cls for base in c.mro()) and not _is_abstract(c)), cls)


def _is_abstract(cls: ClassV) -> bool:
    names = {name for base in cls.mro() if isinstance(base, ClassV) for name in base.slots if isinstance(name, str)}
    found = (cls.lookup(name) for name in names)
    return any(isinstance(value, Func) and value.flavour == "abstract" for value in found)


def _weak_states(interp: Interpreter, made: Func, renewed: Func, owner: ClassV | None, model: ClassModel) -> None:
    """Record where a state begins weakly typed that is not so when it is renewed."""
    (first, then), *_ = model.carried.items()
    quiet = interp.quiet
    interp.quiet += 1  # what else is met in them is no concern of this
    state = _run(interp, made, owner, model, first)
    weak = [
        (obj, str(name), field.origin.node)
        for obj in _objects(state)
        for name, field in obj.slots.items()
        if isinstance(field, Array) and field.weak and field.dtype == "float"
        if field.origin is not None and field.origin.unit is made.unit
    ]
    one = next(_objects(state), state)
    names = [p.name for p in calls.signature(interp, renewed) or () if "state" in p.name]
    given = {name: state if name == "state" and owner is None else one for name in names[:1]}
    renews = _objects(_run(interp, renewed, owner, model, then, given)) if weak else ()
    after = {obj.cls: obj for obj in renews}
    interp.quiet = quiet
    for obj, name, where in weak:
        later = after[obj.cls].slots.get(name) if obj.cls in after else None
        if isinstance(later, Array) and later.weak is not True:
            event = WeakState(node=where, unit=made.unit, cls=obj.cls.name, name=name, by=renewed.name)
            with interp.as_root(calls.module_of(interp, made), made.unit, made.lazy):
                interp.emit(event)


def _objects(value: Value, depth: int = 0) -> Iterator[Obj]:
    """The instances in a value that JAX takes apart, by their fields."""
    if depth > 4:
        return
    if isinstance(value, Tup):
        for item in value.items or ():
            yield from _objects(item, depth + 1)
    elif isinstance(value, Obj) and is_pytree(value):
        yield value
        for field in list(value.slots.values()):
            yield from _objects(field, depth + 1)


def note_schedule(interp: Interpreter, rate: Value) -> None:
    """Remember the function that an optimizer is given as its learning rate: it is called with the step."""
    if isinstance(rate, Func) and rate.owner is None:
        params = calls.signature(interp, rate) or ()
        if len([p for p in params if not p.has_default]) == 1:
            model = ClassModel("learning rate schedule", "object", traced={rate.name: (params[0].name,)})
            interp.conventional.setdefault(id(rate.lazy), (rate, None, model, rate.name))


_SCHEDULES = frozenset({"schedule", "scheduler", "schedules", "schedulers", "lr", "annealing", "warmup"})
_STEPS = frozenset({"step", "count", "global_step", "step_count", "train_step"})


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z]+|[A-Z][a-z]*", name.replace("LR", "Lr"))


def _schedule(interp: Interpreter, func: Func) -> str | None:
    """The parameter for the step, of a function that computes a learning rate: optimizers call it while tracing."""
    if func.owner is not None and func.name != "__call__":
        return None
    first = next((p.name for p in calls.signature(interp, func) or () if p.name != "self"), None)
    if first not in _STEPS or LibV("jax.numpy") not in calls.module_of(interp, func).env.slots.values():
        return None
    words = {word.lower() for part in func.qualname.split(".") for word in _words(part)}
    return None if words.isdisjoint(_SCHEDULES) else first


def _methods(interp: Interpreter, cls: ClassV) -> Iterator[tuple[ClassModel, str, Func]]:
    """The methods that a class of the project itself defines for a library to trace."""
    for base in cls.mro():
        model = model_of(interp, base) if base is not cls else None
        if model is not None and not model.fields:
            for name in model.traced:
                method = cls.slots.get(name)
                if isinstance(method, Func) and method.flavour == "":
                    yield model, name, method


def _run(
    interp: Interpreter,
    func: Func,
    owner: ClassV | None,
    model: ClassModel,
    name: str,
    given: Mapping[str, Value] | None = None,
) -> Value:
    """Call a function as the library does; ``given`` are arguments that are known."""
    from jitlint.semantics.roots import self_value

    module = calls.module_of(interp, func)
    if module.state != "done":
        return UNKNOWN
    origin = Origin(f"`{func.name}` runs while tracing, as a rule: a `{model.name}` is used so", func.node, func.unit)
    with interp.as_root(module, func.unit, func.lazy):
        interp.assumed += 1
        interp.unsure += 1
        leaking = (list(interp.leaking), list(interp.leaking_memo))
        mark = interp.trail.mark()
        try:
            args = Args()
            params = calls.signature(interp, func) or ()
            for place, p in enumerate(params):
                if place == 0 and owner is not None:
                    args.pos.append(self_value(interp, owner, func))
                elif p.kind not in ("args", "kwargs"):
                    value = (given or {}).get(p.name) or _argument(interp, func, p, model.traced[name], origin)
                    if p.kind == "kwonly":
                        args.kw[p.name] = value
                    else:
                        args.pos.append(value)
                elif p.kind == "args":
                    args.pos += [_traced(each.startswith("*"), origin) for each in model.traced[name]]
            target: Value = func if owner is None else Bound(func, args.pos.pop(0))
            return transforms.host_call(
                interp, "traced", None, func.node, True, lambda: calls.call_value(interp, target, args, func.node)
            )
        finally:
            interp.trail.undo(mark)
            interp.leaking[:], interp.leaking_memo[:] = leaking
            interp.unsure -= 1
            interp.assumed -= 1


def _argument(interp: Interpreter, func: Func, p: Param, arrays: tuple[str, ...], origin: Origin) -> Value:
    """What the library passes: arrays where its row says so, else what annotation and default say."""
    said = demands.annotated(interp, func, p)
    if p.name in arrays or f"*{p.name}" in arrays or isinstance(said, Array | Obj):
        if isinstance(said, Array | Obj):
            return transforms.abstract(interp, said, None, origin, keep_python=False, maybe=True)
        return _traced(f"*{p.name}" in arrays, origin)
    if said is not None:
        return said
    kind = py_type(p.default) if p.default is not None else None
    return Host(kind) if kind in ("bool", "int", "float", "str") else UNKNOWN


def _traced(tree: bool, origin: Origin) -> Value:
    """An argument of which nothing more is known than that it is traced."""
    return Tree(frozenset(), origin, True) if tree else Array(Level.TRACED, maybe=True, origin=origin)
