"""Which traced values are really Python settings, that ``static_argnames`` would make right; and the fix that does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.findings import Applicability, Edit, Fix, NewImport
from jitlint.fix.static_args import Kind, Parameter, Refusal, make_static
from jitlint.semantics.demands import STRUCTURAL
from jitlint.semantics.entry import STATIC_BY_ANNOTATION, Entry, Param, Root
from jitlint.semantics.events import BadArgument, BlindTest, Event, NeedsConcrete, StaticArgument, TruthTest
from jitlint.semantics.validity import unhashable
from jitlint.semantics.values import (
    NONE,
    Array,
    Const,
    Env,
    Host,
    LibV,
    ModuleV,
    Obj,
    Tree,
    Value,
    leaves,
    members,
    py_type,
)
from jitlint.semantics.variation import only_lowered

if TYPE_CHECKING:
    from jitlint.semantics.context import Context

MOST_VARIANTS = 8
_NOT_FOR_STATIC = {"array-slice", "convert", "item", "numpy", "math", "format", "attribute", "numpy-index", "index"}
"""Needs that a static argument may satisfy, but that another cure fits better when the value varies."""
_KINDS = {
    "posonly": Kind.POSITIONAL_ONLY,
    "pos": Kind.EITHER,
    "args": Kind.VARARGS,
    "kwonly": Kind.KEYWORD_ONLY,
    "kwargs": Kind.KWARGS,
}


def settings_behind(leaf: Array | Tree, need: str = "") -> tuple[Root, ...] | None:
    """The parameters to make static so that the value becomes a Python value; None when that is no cure."""
    if isinstance(leaf, Array) and leaf.python is None or not leaf.roots or any(r.leaf for r in leaf.roots):
        return None
    roots = tuple(sorted(leaf.roots, key=lambda r: (r.entry.time, r.name)))
    return roots if all(is_setting(r, need) for r in roots) else None


def is_setting(root: Root, need: str = "") -> bool:
    """Is the parameter a Python setting: a flag, a name, a count of few values; never an array, a float that varies?"""
    entry = root.entry
    param = entry.param(root.name)
    if entry.kind not in ("jit", "pjit") or entry.opaque or param is None or param.kind in ("args", "kwargs"):
        return False
    if root.name in entry.statics and not entry.both_given or _donated(entry, root.name):
        return False
    evidence = False
    seen: set[Value] = set()
    for value, _ in root.passed:
        for m in members(value):
            answer = _setting_value(m, need)
            if answer is False:
                return False
            evidence |= answer is True
            if isinstance(m, Const):
                seen.add(m)
    if len(seen) > MOST_VARIANTS:
        return False
    return evidence or _declared(param) or not STRUCTURAL.isdisjoint(root.demands)


def _donated(entry: Entry, name: str) -> bool:
    positional = [p.name for p in entry.params or () if p.kind in ("pos", "posonly")]
    return name in entry.donate_names or any(
        -len(positional) <= n < len(positional) and positional[n] == name for n in entry.donate_nums
    )


def _setting_value(v: Value, need: str) -> bool | None:
    """True: a setting; False: certainly none; None: does not say."""
    if v == NONE:
        return None
    if isinstance(v, Const | Host):
        kind = py_type(v)
        if kind in ("bool", "str"):
            return True
        if kind == "int":
            if any(loop.turn is None or (loop.trip or 99) > MOST_VARIANTS for loop in v.loops):
                return False
            return not (v.loops and need in _NOT_FOR_STATIC)
        return False if kind in ("float", "complex", "number") else None
    if isinstance(v, Array):
        return None if v.is_traced and v.python is not None else False
    if isinstance(v, Obj):
        cls = v.project_class
        return True if cls is not None and cls.facts.enum else None
    return None


def _declared(param: Param) -> bool:
    """Does the signature itself say that it is a setting?"""
    default = py_type(param.default) if param.default is not None else None
    if default in ("bool", "int", "str"):
        return True
    node = param.annotation
    while isinstance(node, cst.BinaryOperation):
        node = node.left
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name | cst.Attribute):
        name = node.value.value if isinstance(node.value, cst.Name) else node.value.attr.value
        if name == "Literal":
            return True
        if name == "Optional" and isinstance(node.slice[0].slice, cst.Index):
            node = node.slice[0].slice.value
    return isinstance(node, cst.Name) and node.value in ("bool", "int", "str")


def static_names(ctx: Context) -> Mapping[int, dict[str, Root]]:
    """For each jit site, by the id of its node: the parameters that some use asks to be static."""
    wanted: dict[int, dict[str, Root]] = {}

    def want(roots: Iterable[Root]) -> None:
        for r in roots:
            wanted.setdefault(id(r.entry.node), {})[r.name] = r

    for bucket in ctx.interp.events.values():
        for event in bucket.events:
            for roots in [roots_to_fix(event)]:
                want(roots or ())
    return wanted


def roots_to_fix(event: Event) -> tuple[Root, ...] | None:
    """The parameters that making static would repair this event; None when that is no repair."""
    if isinstance(event, NeedsConcrete):
        if event.need in (
            "hash",
            "range",
            "repeat",
            "shape",
            "axis",
            "size",
            "count",
            "dtype",
            "flag",
            "list-index",
            "list-slice",
            "index",
            "convert",
            "array-slice",
            "math",
            "numpy",
            "format",
        ):
            return _settings_in(event.value, event.need)
        return None
    if isinstance(event, TruthTest | BlindTest):
        return settings_behind(event.leaf)
    if isinstance(event, StaticArgument) and event.problem == "traced":
        roots = _settings_in(event.value, "static")
        return tuple(r for r in roots if r.entry is not event.entry) if roots is not None else None
    if isinstance(event, BadArgument) and event.entry is not None:
        root = event.entry.roots.get(event.param)
        if root is not None and not event.receiver and unhashable(event.value) is None and _all_hashable(root):
            return (root,)
    return None


def _settings_in(value: Value, need: str) -> tuple[Root, ...] | None:
    """The settings behind every traced leaf of a value; None when one of them is no setting."""
    out: dict[Root, None] = {}
    for leaf in leaves(value):
        if isinstance(leaf, Array) and leaf.is_traced or isinstance(leaf, Tree):
            roots = settings_behind(leaf, need)
            if roots is None:
                return None
            out.update(dict.fromkeys(roots))
    return tuple(out) or None


def _all_hashable(root: Root) -> bool:
    param = root.entry.param(root.name)
    if root.entry.kind not in ("jit", "pjit") or root.entry.opaque or param is None or param.kind in ("args", "kwargs"):
        return False
    for value, _ in root.passed:
        if unhashable(value) is not None:
            return False
        if any(isinstance(x, Array) for x in leaves(value)):
            return False
    return True


def static_fix(ctx: Context, roots: tuple[Root, ...]) -> Fix | str | None:
    """The fix that makes these parameters static (and the other settings of the same sites); a reason when there is none."""
    edits: list[Edit] = []
    imports: list[NewImport] = []
    texts = []
    for entry in dict.fromkeys(r.entry for r in roots):
        names = list(
            dict.fromkeys([*(r.name for r in roots if r.entry is entry), *ctx.settings.get(id(entry.node), {})])
        )
        ordered = [p.name for p in entry.params or () if p.name in names]
        result = edit_site(ctx, entry, ordered)
        if isinstance(result, str):
            return result
        edit, more = result
        edits.append(edit)
        imports.extend(more)
        texts.append(f"{', '.join(f'`{n}`' for n in ordered)} static in `{entry.name}`")
    if not edits:
        return None
    # What is compiled ahead of time is called without its static arguments: those calls would have to change too.
    ahead = any(only_lowered(call.node) for root in roots for call in root.entry.calls)
    safety = Applicability.UNSAFE if ahead else Applicability.SAFE
    return Fix("make " + " and ".join(texts), tuple(edits), safety, tuple(dict.fromkeys(imports)))


def edit_site(ctx: Context, entry: Entry, names: list[str]) -> tuple[Edit, tuple[NewImport, ...]] | str:
    """The edit of one jit site, and the imports that it needs; a reason when it cannot be edited."""
    if not isinstance(entry.node, cst.BaseExpression):
        return "the jit site is no expression"
    if STATIC_BY_ANNOTATION in entry.options:
        return "its static parameters are told by their annotations"
    span = entry.unit.span(entry.node)
    module = entry.unit.module
    outcome = make_static(
        entry.unit.code(entry.node),
        names,
        [Parameter(p.name, _KINDS[p.kind]) for p in entry.params or ()],
        filename=module.display,
        decorator=entry.form == "decorator",
        factory=ctx.target.has_jit_factory,
        bindings=ctx.bindings(module),
    )
    if isinstance(outcome, Refusal):
        return outcome.reason
    return Edit(module.display, span, outcome.text), outcome.imports


def bindings_of(module: ModuleV) -> dict[str, str]:
    """What the module-level names mean, dotted; names of its own map to ``module:name``."""
    out: dict[str, str] = {}
    env: Env = module.env
    for name, value in env.slots.items():
        if isinstance(name, str) and not name.startswith("__"):
            out[name] = value.name if isinstance(value, LibV) else f":{name}"
    return out
