"""From the static analysis to arguments: what each call of a jitted function passes, as far as that is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jitlint.dynamic.annotations import SCALARS
from jitlint.dynamic.plan import CallSite, PlannedArgument
from jitlint.dynamic.signature import Node, array, key, literal
from jitlint.semantics.source import Unit
from jitlint.semantics.values import Array, ClassV, Const, DictV, Func, Host, LibV, ListV, Obj, Tup, Value

if TYPE_CHECKING:
    from jitlint.project.config import Config
    from jitlint.project.model import Project
    from jitlint.semantics.entry import Call, Entry

KINDS = {"float": "float32", "int": "int32", "bool": "bool", "complex": "complex64"}
# Without jax_enable_x64, which is how programs run unless they say otherwise, JAX has no wider types than these.
NARROWED = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
MAX_DEPTH = 6

CallSites = dict[tuple[str, int], list[CallSite]]
"""Calls by (path, row) of the function called; its row is that of its first decorator."""


def find_call_sites(project: Project, config: Config) -> CallSites:
    """Analyse a project for the calls of its jitted functions; runs no rules. Empty where the analysis fails: the
    trial then goes by annotations."""
    from jitlint.knowledge import load
    from jitlint.semantics import driver

    knowledge = load([Path(path) for path in config.extra_models])
    try:
        found = driver.analyse(project, knowledge, (), assume_jitted=frozenset(config.assume_jitted))
        return call_sites(found.interp.entries)
    except Exception:
        # A fault of the analysis has been reported with its findings; here it only leaves less to go by.
        return {}


def call_sites(entries: Sequence[Entry]) -> CallSites:
    """The calls of these entries, of those whose function is jitted as it stands (not under grad, partial …)."""
    out: CallSites = {}
    for entry in entries:
        function = entry.func
        if not isinstance(function, Func) or entry.params is None or entry.probed:
            continue
        place = str(function.unit.module.path), function.first_row
        for call in entry.calls:
            out.setdefault(place, []).append(_call_site(entry, call))
    return out


def _call_site(entry: Entry, call: Call) -> CallSite:
    home = call.unit.module.name
    spelling = dict(call.spelling)
    args: list[PlannedArgument] = []
    kwargs: dict[str, PlannedArgument] = {}
    for param in entry.params or ():
        value = call.bound.get(param.name)
        if value is None or (param.name not in spelling and param.kind not in ("args", "kwargs")):
            continue
        static = param.name in entry.statics
        if param.kind in ("args", "kwargs"):
            args.append(PlannedArgument(None, param.name))
        elif spelling[param.name] == "pos":
            args.append(PlannedArgument(planned(value, static=static), _code(call, param.name)))
        else:
            kwargs[param.name] = PlannedArgument(planned(value, static=static), _code(call, param.name))
    if any(name.startswith("*") for name in call.bound):
        args.append(PlannedArgument(None, home))
    return CallSite(str(call.unit.module.path), call.unit.span(call.node).row, tuple(args), kwargs)


def _code(call: Call, name: str) -> str:
    node = call.nodes.get(name)
    unit: Unit = call.unit
    return "" if node is None else unit.code(node)


def planned(value: Value, *, static: bool = False, depth: int = 0) -> Node | None:
    """The argument that an abstract value stands for; None where it is not known well enough to trace with."""
    if depth > MAX_DEPTH:
        return None

    def inner(each: Value) -> Node | None:
        return planned(each, static=static, depth=depth + 1)

    match value:
        case Const(value=bool() | int() | float() | str() | None as constant):
            return literal(constant)
        case Host(type=kind) if kind in SCALARS and not static:
            # Traced, every number of a type is the same: only its type goes into the signature.
            return literal(SCALARS[kind])
        case Array() if not static:
            return _array(value)
        case Tup(items=tuple() as items):
            return _sequence("tuple", [inner(item) for item in items])
        case ListV(kind="list", content=Tup(items=tuple() as items)):
            return _sequence("list", [inner(item) for item in items])
        case DictV() if value.rest is None and value.kind == "dict":
            return _dict({name: inner(item) for name, item in value.entries().items()})
        case Func(env=env) if env.parent is None or env.parent.parent is None:
            return _named(value.unit.module.name, value.qualname) if value.frame is None else None
        case ClassV():
            return _named(value.unit.module.name, value.qualname) if value.made_in is None else None
        case LibV(name=name) if not name.startswith("builtins."):
            return {"ref": name}
        case Obj():
            return _instance(value, {name: inner(item) for name, item in value.slots.items() if isinstance(name, str)})
    return None


def _array(value: Array) -> Node | None:
    if value.dtype == "key":
        return key()
    if value.dtype is None or value.shape is None:
        return None
    sizes = [size for size in value.shape if size is not None]
    dtype = KINDS.get(value.dtype, value.dtype)
    if len(sizes) < len(value.shape):
        return None
    return array(NARROWED.get(dtype, dtype), sizes, weak=bool(value.weak))


def _sequence(kind: str, items: list[Node | None]) -> Node | None:
    return None if None in items else {kind: items}


def _dict(items: dict[object, Node | None]) -> Node | None:
    pairs = []
    for name, item in items.items():
        if item is None or not isinstance(name, (str, int)):
            return None
        pairs.append([literal(name), item])
    return {"dict": pairs}


def _named(module: str, qualname: str) -> Node | None:
    """A reference to what a module of the project defines, by its full name so that any module can use it."""
    return None if "<" in qualname else {"ref": f"{module}.{qualname}"}


def _instance(value: Obj, fields: dict[str, Node | None]) -> Node | None:
    """An instance of a named tuple or dataclass, made from its fields."""
    owner = value.project_class
    if owner is None or value.open or not (owner.facts.namedtuple or owner.facts.dataclass):
        return None
    made = planned(owner)
    names = owner.facts.fields or tuple(fields)
    if made is None or any(fields.get(name) is None for name in names):
        return None
    return {"call": made, "args": [], "kwargs": {name: fields[name] for name in names}}
