"""Python's own functions and the methods of its containers, and a few of jax's that data cannot say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics import (
    attributes,
    bare,
    calls,
    classes,
    instances,
    leaks,
    lifetime,
    linen,
    operators,
    shapes,
    shares,
    timing,
    transforms,
)
from jitlint.semantics.calls import Args
from jitlint.semantics.events import BlindTest, GradientCut
from jitlint.semantics.records import record, replace
from jitlint.semantics.running import Loop
from jitlint.semantics.values import (
    FALSE,
    MOST_STEPS,
    NONE,
    TRUE,
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    Func,
    Host,
    Jitted,
    Level,
    LibV,
    ListV,
    Obj,
    Partial,
    SetV,
    Steps,
    TracerType,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
    join,
    join_all,
    leaves,
    members,
    py_type,
    stepwise,
    traced_leaf,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

Handler = Callable[["Interpreter", Args, cst.CSTNode], Value]
MethodHandler = Callable[["Interpreter", Value, str, Args, cst.CSTNode], Value]

_FOLDABLE: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "round": round,
    "divmod": divmod,
    "pow": pow,
    "min": min,
    "max": max,
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "len": len,
    "add": lambda a, b: a + b,
}


def fold_call(name: str, values: list[Value]) -> Value | None:
    """A builtin applied to constants, or None."""
    f = _FOLDABLE.get(name)
    if f is not None and (stepped := stepwise(f, *values)) is not None:
        return stepped
    if f is None or not all(isinstance(v, Const) for v in values):
        return None
    try:
        out = f(*(v.value for v in values if isinstance(v, Const)))
    except Exception:
        return None
    if isinstance(out, tuple):
        return Tup(tuple(Const(x) for x in out))
    return (
        Const(out, operators._loops(*values), operators._via(*values))
        if isinstance(out, bool | int | float | complex | str)
        else None
    )


# ------------------------------------------------------------------------------------------------ builtins


def _len(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    v = args.pos[0] if args.pos else UNKNOWN

    def one(v: Value) -> Value:
        match v:
            case Array():
                operators.unsized(interp, v, args.node(0) or node, "len() of a 0-d array")
                if v.shape:
                    d = v.shape[0]
                    return Const(d, via="shape") if d is not None else Host("int", v.shape_loops, "shape")
                return Host("int", v.shape_loops, "shape")
            case ListV():
                c = v.content
                return _length(interp, c)
            case Tup():
                return _length(interp, v)
            case DictV():
                return Const(len(v.slots)) if v.rest is None else Host("int")
            case Const(value=str() | bytes() as text):
                return Const(len(text))
            case Obj():
                cls = v.project_class
                method = cls.lookup("__len__") if cls is not None else None
                if method is not None:
                    return calls.call_value(interp, Bound(method, v), Args(), node)
                if cls is not None and cls.facts.namedtuple:
                    return Const(len(cls.facts.fields))
        return Host("int")

    return union(one(m) for m in members(v))


def _length(interp: Interpreter, content: Tup) -> Value:
    known = content.count if content.items is None else len(content.items)
    return Host("int", operators.running(interp, content.length_loops)) if known is None else Const(known)


def _range(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    for i, v in enumerate(args.pos):
        at = args.node(i) or node
        if interp.traces:
            operators.needs_concrete(interp, v, at, "range", "range()", "TracerIntegerConversionError")
    nums = [shapes.as_int(v) for v in args.pos]
    loops = operators._loops(*args.pos)
    if nums and None not in nums:
        try:
            r = range(*[n for n in nums if n is not None])
        except (ValueError, TypeError):
            return UNKNOWN
        if len(r) <= 16:
            return Tup(tuple(Const(i) for i in r), kind=f"range:{len(r)}")
        each = Steps("int", values=tuple(r)) if len(r) <= MOST_STEPS else Host("int")
        return Tup(None, each, kind=f"range:{len(r)}")
    return Tup(None, Host("int"), kind="range", length_loops=loops)


def _convert(name: str) -> Handler:
    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        if not args.pos:
            return Const({"int": 0, "float": 0.0, "complex": 0j}[name])
        v = args.pos[0]
        own = v.project_class.lookup(f"__{name}__") if isinstance(v, Obj) and v.project_class is not None else None
        if own is not None:
            calls.call_value(interp, Bound(own, v), Args(), node)
            return Host(name)
        timing.waited(interp)
        if leaks.check(interp, [v], node, "ConcretizationTypeError"):
            return Host(name)
        if interp.traces:
            at = args.node(0) or node
            operators.needs_concrete(interp, v, at, "convert", f"{name}()", "ConcretizationTypeError")
            if name == "int":
                for m in members(v):
                    if isinstance(m, Array) and m.level is Level.LINEAR:
                        interp.emit(GradientCut(node=at, unit=interp.unit, value=m, what="int()"))
            else:
                operators.differentiated(interp, v, at, "convert", f"{name}()", "ConcretizationTypeError")
        if traced_leaf(v) is not None and not isinstance(v, Union):
            return UNKNOWN
        folded = fold_call(name, args.pos) if name != "complex" else None
        return folded if folded is not None else Host(name, operators._loops(*args.pos), operators._via(*args.pos))

    return handler


def _bool(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if not args.pos:
        return FALSE
    known = operators.truth(interp, args.pos[0], args.node(0) or node, "bool")
    return Host("bool", operators._loops(*args.pos)) if known is None else Const(known)


def _isinstance(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) < 2:
        return Host("bool")
    value, kinds = args.pos[0], args.pos[1]
    answers = {instances.is_instance(interp, m, kinds) for m in members(value)}
    answer = answers.pop() if len(answers) == 1 else None
    for m in members(value):
        if isinstance(m, Array) and m.is_traced and m.python is not None and answer is False and _scalar_classes(kinds):
            operators.blind(
                interp,
                BlindTest(
                    node=node,
                    unit=interp.unit,
                    value=value,
                    leaf=m,
                    error="",
                    how="isinstance",
                    against=_class_names(kinds),
                    possible=m.maybe or isinstance(value, Union),
                ),
            )
    return Host("bool") if answer is None else Const(answer)


def _scalar_classes(kinds: Value) -> bool:
    content = kinds.content if isinstance(kinds, ListV) else kinds
    options = content.items if isinstance(content, Tup) and content.items is not None else (content,)
    return any(isinstance(k, LibV) and k.name in operators.SCALARS for k in options)


def _class_names(kinds: Value) -> str:
    options = kinds.items if isinstance(kinds, Tup) and kinds.items is not None else (kinds,)
    return ", ".join(k.name.rpartition(".")[2] for k in options if isinstance(k, LibV | ClassV))


def _comparing(name: str) -> Handler:
    """``min``, ``max`` and ``sorted``: comparisons between items are asked for their truth."""

    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        if not args.pos:
            return UNKNOWN
        if len(args.pos) == 1:
            content = operators.iterate(interp, args.pos[0], node)
            items: tuple[Value, ...] = (
                content.items if content.items is not None else (content.any_item(), content.any_item())
            )
        else:
            items = tuple(args.pos)
        key = args.kw.get("key")
        compared = (
            items
            if key is None or key == NONE
            else tuple(calls.call_value(interp, key, Args([i]), node) for i in items)
        )
        if len(compared) > 1 and interp.traces:
            flat = []
            for i in compared:
                flat.append(i.items[0] if isinstance(i, Tup) and i.items else i)
            # comparing a concrete jax array under a trace gives a tracer as well
            flat = [operators.staged(interp, i, node, f"the comparison in {name}()") for i in flat]
            traced = next((m for i in flat for m in members(i) if isinstance(m, Array) and m.is_traced), None)
            if traced is not None:
                certain = any(isinstance(i, Array) and i.is_traced for i in flat)
                others = [i for i in flat if isinstance(i, Unknown)]
                compared_value = replace(traced, dtype="bool", maybe=traced.maybe or not certain or bool(others))
                operators.truth(interp, compared_value, node, name)
        if name == "sorted":
            loose = Tup(None, join_all(items)) if items else Tup(())
            known = content.items is not None if len(args.pos) == 1 else False
            in_order = _in_order(items) if known and not args.kw else None
            if in_order is not None:
                return ListV(Tup(in_order), node)
            return ListV(Tup((join_all(items),) * len(items)) if known and items else loose, node)
        folded = fold_call(name, list(items)) if len(items) > 1 and key is None else None
        if folded is None and name == "min" and isinstance(node, cst.Call):
            over = {loop.node for loop in interp.loops if shares.is_share(node, loop.node)}
            items = tuple(operators.in_ways(i, over, 2) for i in items) if over else items
        if folded is None and name == "min" and key is None and (capped := _capped(items)) is not None:
            return capped
        return folded if folded is not None else (join_all(items) if items else args.kw.get("default", UNKNOWN))

    return handler


def _capped(items: tuple[Value, ...]) -> Value | None:
    """``min(n, 8)``: a size that changes over a loop, but is no more than that."""
    sizes = [i for i in items if isinstance(i, Host) and i.type == "int"]
    caps = [c for i in items if (c := shapes.as_int(i)) is not None and c > 0]
    if len(sizes) + len(caps) < len(items) or not sizes or not caps:
        return None
    return Host("int", frozenset(x.few(min(caps)) for x in operators._loops(*sizes)), sizes[0].via)


def _in_order(items: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """Constants sorted; None where one is not a constant or they do not compare."""
    constants = [i for i in items if isinstance(i, Const)]
    if len(constants) < len(items):
        return None
    try:
        return tuple(sorted(constants, key=lambda c: c.value))
    except TypeError:
        return None


def _any_all(name: str) -> Handler:
    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        content = operators.iterate(interp, args.pos[0] if args.pos else UNKNOWN, node)
        items = content.items if content.items is not None else ((content.elem,) if content.elem is not None else ())
        known: bool | None = name == "all"
        for i in items:
            one = operators.truth(interp, i, node, name)
            if one is None:
                known = None
            elif one is (name == "any") and content.items is not None and known is not None:
                return Const(name == "any")
            if one is None and traced_leaf(i) is not None:
                break
        return Host("bool") if known is None or content.items is None else Const(known)

    return handler


def _folded(op: type[cst.CSTNode], start: int) -> Handler:
    """``sum`` and ``math.prod``."""

    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        content = operators.iterate(interp, args.pos[0] if args.pos else UNKNOWN, node)
        total = args.get(1, "start") or Const(start)
        if content.items is not None:
            for i in content.items:
                total = operators.binary(interp, op, total, i, node)
            return total
        if content.elem is None:
            return UNKNOWN
        return operators.binary(interp, op, total, content.elem, node)

    return handler


def _hasattr(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) == 2 and isinstance(args.pos[1], Const):
        v, name = args.pos[0], args.pos[1].value
        if isinstance(v, Obj) and (
            name in v.slots or v.project_class is not None and v.project_class.lookup(name) is not None
        ):
            return TRUE
        if isinstance(v, Array) and isinstance(name, str):
            known = attributes.array_has(interp, v, name)
            return Host("bool") if known is None else Const(known)
        if isinstance(v, Const | ListV | DictV | Tup) and name in ("shape", "dtype", "ndim"):
            return FALSE
    return Host("bool")


def _getattr(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) >= 2 and isinstance(args.pos[1], Const) and isinstance(args.pos[1].value, str):
        name = args.pos[1].value
        owners = members(args.pos[0])
        if len(args.pos) > 2 and any(attributes.lacks(interp, m, name) for m in owners):
            left = [m for m in owners if not attributes.lacks(interp, m, name)]
            return join_all([args.pos[2], *(attributes.get_attribute(interp, m, name, node) for m in left)])
        found = attributes.get_attribute(interp, args.pos[0], name, node)
        if isinstance(args.pos[0], LibV) and isinstance(found, LibV) and interp.knowledge.function(found.name) is None:
            return UNKNOWN
        return join(found, args.pos[2]) if isinstance(found, Unknown) and len(args.pos) > 2 else found
    return UNKNOWN


def _setattr(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) >= 3 and isinstance(args.pos[1], Const) and isinstance(args.pos[1].value, str):
        for o in members(args.pos[0]):
            if isinstance(o, Obj | ClassV):
                operators.outer_write(interp, o, args.pos[1].value, args.pos[2], node, "attribute", args.pos[1].value)
                interp.write(o, args.pos[1].value, args.pos[2], node)
    elif len(args.pos) >= 3 and interp.traces:
        for o in members(args.pos[0]):
            if isinstance(o, Obj):
                leaks.may_be_replaced(interp, o)
    return NONE


def _enumerate(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    content = operators.iterate(interp, args.pos[0] if args.pos else UNKNOWN, node)
    start = args.get(1, "start")
    if start is not None and traced_leaf(start) is not None:
        operators.needs_concrete(interp, start, node, "range", "enumerate()", "TracerIntegerConversionError")
    base = shapes.as_int(start) if start is not None else 0
    if content.items is not None and base is not None:
        return Tup(tuple(Tup((Const(base + i), v)) for i, v in enumerate(content.items)), kind="iterator")
    return Tup(None, Tup((Host("int"), content.any_item())), kind="iterator")


def _zip(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    parts = [operators.iterate(interp, v, node) for v in args.pos]
    if parts and all(p.items is not None for p in parts):
        return Tup(
            tuple(Tup(tuple(row)) for row in zip(*(p.items or () for p in parts), strict=False)), kind="iterator"
        )
    if args.rest is not None:
        return Tup(None, Tup(None, operators.iterate(interp, args.rest, node).any_item()), kind="iterator")
    known = next((p.items for p in parts if p.items is not None and len(p.items) <= 16), None)
    if known is not None and len(parts) > 1:
        rows = []
        for i in range(len(known)):
            rows.append(
                Tup(tuple(p.items[i] if p.items is not None and i < len(p.items) else p.any_item() for p in parts))
            )
        if all(p.items is None or len(p.items) >= len(known) for p in parts):
            return Tup(None, join_all(rows), kind="iterator")
    return Tup(None, Tup(tuple(p.any_item() for p in parts)), kind="iterator")


def _map(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) < 2:
        return UNKNOWN
    parts = [operators.iterate(interp, v, node) for v in args.pos[1:]]
    f = args.pos[0]
    lengths = [p.count if p.items is None else len(p.items) for p in parts]
    known = [n for n in lengths if n is not None]
    trip = min(known) if len(known) == len(lengths) else None
    loop = Loop(node, interp.unit, interp.frame.number, trip, passes=1)
    interp.loops.append(loop)
    try:
        if all(p.items is not None and len(p.items) <= 16 for p in parts):
            out = []
            for turn, row in enumerate(zip(*(p.items or () for p in parts), strict=False)):
                loop.turn = turn
                loop.since = interp.time
                out.append(calls.call_value(interp, f, Args(list(row)), node))
            return Tup(tuple(out), kind="iterator")
        any_row = [operators.element(interp, operators.any_turn(p), loop) for p in parts]
        return Tup(None, calls.call_value(interp, f, Args(any_row), node), kind="iterator", count=trip)
    finally:
        interp.loops.pop()


def _filter(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) < 2:
        return UNKNOWN
    content = operators.iterate(interp, args.pos[1], node)
    items = content.items if content.items is not None else ((content.elem,) if content.elem is not None else ())
    for i in items:
        test = i if args.pos[0] == NONE else calls.call_value(interp, args.pos[0], Args([i]), node)
        operators.truth(interp, test, node, "filter")
    return Tup(None, content.any_item(), kind="iterator")


def _iter(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    return ListV(operators.iterate(interp, args.pos[0] if args.pos else UNKNOWN, node), node, "iterator")


def _names_something(interp: Interpreter, node: cst.CSTNode) -> bool:
    """Is the element an identifier: given by keyword, or put into a text?"""
    around = interp.unit.around(node, interp.current) if interp.current is not None else []
    parent = around[-1] if around else None
    by_keyword = isinstance(parent, cst.Arg) and parent.keyword is not None
    return by_keyword or isinstance(parent, cst.FormattedStringExpression)


def _next(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    v = args.pos[0] if args.pos else UNKNOWN
    outer = isinstance(node, cst.Call) and node.args and operators.is_outer_iterator(interp, v, node.args[0].value)
    if outer and not (isinstance(v, Unknown) and _names_something(interp, node)):
        interp.effect("iterator", "next()", node, [])
    content = operators.iterate(interp, v, node)
    if isinstance(v, ListV) and v.kind == "iterator" and content.items and not interp.loops:
        interp.trail.write(v, "content", Tup(content.items[1:]))
        return content.items[0]
    return content.any_item()


def _sequence(make: Callable[[Tup, cst.CSTNode], Value]) -> Handler:
    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        content = operators.iterate(interp, args.pos[0], node) if args.pos else Tup(())
        return make(replace(content, kind="tuple"), node)

    return handler


def _deque(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    given = args.get(0, "iterable")
    content = operators.iterate(interp, given, node) if given is not None else Tup(())
    most = args.get(1, "maxlen")
    return ListV(replace(content, kind="tuple"), node, "deque", None if most is None else shapes.as_int(most))


def _frozenset(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    out = _set(interp, args, node)
    return SetV(out.slots.get("elem"), node, "frozenset", out.some) if isinstance(out, SetV) else out


def _set(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    content = operators.iterate(interp, args.pos[0], node) if args.pos else Tup(())
    items = content.items if content.items is not None else ((content.elem,) if content.elem is not None else ())
    for i in items:
        operators.hashed(interp, i, node, "an element")
    some = bool(content.items) or any(isinstance(given, SetV) and given.some for given in args.pos)
    return SetV(join_all(items) if items else None, node, some=some)


def _dict(interp: Interpreter, args: Args, node: cst.CSTNode, kind: str = "dict") -> Value:
    out = DictV(site=node, kind=kind)
    for v in args.pos:
        if isinstance(v, DictV):
            out.slots.update(out.updated(v.slots))
            continue
        content = operators.iterate(interp, v, node)
        for row in content.items if content.items is not None else (content.any_item(),):
            pair = (
                row.items
                if isinstance(row, Tup) and row.items is not None and len(row.items) == 2
                else (UNKNOWN, UNKNOWN)
            )
            key = operators.dict_key(pair[0]) if content.items is not None else None
            operators.hashed(interp, pair[0], node, "a key")
            slot = DictV.REST if key is None else key
            old = out.slots.get(slot)
            out.slots[slot] = pair[1] if old is None else join(old, pair[1])
    more = {} if args.more is None else {DictV.REST: args.more}
    out.slots.update(out.updated({**args.kw, **more}))
    return out


def _reversed(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    content = operators.iterate(interp, args.pos[0] if args.pos else UNKNOWN, node)
    return (
        Tup(tuple(reversed(content.items)), kind="iterator")
        if content.items is not None
        else replace(content, kind="iterator")
    )


def _type(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    v = args.pos[0] if len(args.pos) == 1 else UNKNOWN
    if isinstance(v, Obj):
        return v.cls
    if isinstance(v, Array) and v.is_traced:
        return TracerType("object", of=v)
    kind = py_type(v)
    if kind in ("int", "float", "bool", "str", "complex", "bytes"):
        return LibV(f"builtins.{kind}")
    for cls, name in ((ListV, "list"), (DictV, "dict"), (Tup, "tuple"), (SetV, "set")):
        if isinstance(v, cls):
            return LibV(f"builtins.{name}") if v.kind == name else Host("object")
    return Host("object")


def _format(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) > 1 and args.pos[1] != Const(""):
        operators.formatted(interp, args.pos[0], args.node(0) or node, "format()")
    return Host("str")


def _hash(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if args.pos:
        operators.hashed(interp, args.pos[0], args.node(0) or node, "hash()")
    return Host("int")


def _callable(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    answers = {calls.is_callable(m) for m in members(args.pos[0])} if args.pos else {None}
    answer = answers.pop() if len(answers) == 1 else None
    return Host("bool") if answer is None else Const(answer)


def _slice(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    parts = [*args.pos, NONE, NONE, NONE][:3] if len(args.pos) != 1 else [NONE, args.pos[0], NONE]
    return operators.SliceV(parts[0], parts[1], parts[2], node)


def _str(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    folded = fold_call("str", args.pos) if len(args.pos) == 1 else None
    return folded if folded is not None else operators.text_of(*args.pos)


def _nothing(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    return NONE


# ------------------------------------------------------------------------------------------------ functools, dataclasses


def _partial(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if not args.pos:
        return UNKNOWN

    def make(f: Value) -> Value:
        if isinstance(f, Unknown):
            return UNKNOWN
        return Partial(
            f,
            tuple(args.pos[1:]),
            dict(args.kw),
            node,
            interp.around(),
            interp.frame.number if interp.frame.func is not None else None,
            interp.tick(),
            interp.moment(),
            args.rest,
            args.more,
        )

    return union(make(m) for m in members(args.pos[0]))


def _wraps(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    return Partial(LibV("functools.update_wrapper"), (), {"wrapped": args.pos[0] if args.pos else UNKNOWN}, node)


def _update_wrapper(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    wrapper = args.get(0, "wrapper")
    wrapped = args.get(1, "wrapped")
    if isinstance(wrapper, Func) and wrapped is not None:
        wrapper.attrs["__wrapped__"] = wrapped
    return wrapper if wrapper is not None else UNKNOWN


def _cache(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if args.pos and isinstance(args.pos[0], Func):
        args.pos[0].flavour = "lru_cache"
        return args.pos[0]
    if args.pos and not isinstance(args.pos[0], Const):
        return args.pos[0]
    return LibV("functools.lru_cache")


def _cached_property(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if args.pos and isinstance(args.pos[0], Func):
        args.pos[0].flavour = "cached_property"
    return args.pos[0] if args.pos else UNKNOWN


def _reduce(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if len(args.pos) < 2:
        return UNKNOWN
    content = operators.iterate(interp, args.pos[1], node)
    items = list(content.items) if content.items is not None else [content.any_item(), content.any_item()]
    acc = args.pos[2] if len(args.pos) > 2 else items.pop(0) if items else UNKNOWN
    for i in items:
        acc = calls.call_value(interp, args.pos[0], Args([acc, i]), node)
    return acc


def _descriptor(flavour: str) -> Handler:
    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        v = args.pos[0] if args.pos else UNKNOWN
        if isinstance(v, Func):
            v.flavour = flavour
        elif isinstance(v, Jitted):
            v.attrs["flavour"] = Const(flavour)
        return v

    return handler


def _replace_fields(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    """``dataclasses.replace(obj, **changes)``."""

    def one(v: Value) -> Value:
        if not isinstance(v, Obj):
            return v if isinstance(v, Tree) else UNKNOWN
        out = Obj(v.cls, node, v.open)
        out.slots.update(v.slots)
        out.slots.update(args.kw)
        out.loops = interp.around()
        out.made_in = interp.frame.number
        return out

    return union(one(m) for m in members(args.pos[0])) if args.pos else UNKNOWN


def _field(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    static = args.kw.get("static") == TRUE or args.kw.get("pytree_node") == FALSE
    metadata = args.kw.get("metadata")
    if isinstance(metadata, DictV) and (
        metadata.slots.get("static") == TRUE or metadata.slots.get("pytree_node") == FALSE
    ):
        static = True
    return calls.FieldV(args.kw.get("default"), args.kw.get("default_factory"), static)


def _register(name: str) -> Handler:
    """``register_pytree_node(Class, flatten, unflatten)`` and the like called as functions."""

    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        model = interp.knowledge.function(name)
        registers = model.registers if model is not None else None
        return register_class(interp, name, registers or "pytree", args, node)

    return handler


def register_class(interp: Interpreter, name: str, registers: str, args: Args, node: cst.CSTNode) -> Value:
    """The library function ``name``, which registers a class, called with the class or with options alone."""
    if args.pos and isinstance(args.pos[0], ClassV):
        classes.register(interp, name, registers, args.pos[0], dict(args.kw), tuple(args.pos[1:]))
        return args.pos[0]
    if not args.pos or isinstance(args.pos[0], Const):
        return Partial(LibV(name), (), dict(args.kw), node)
    if registers == "configured" and isinstance(args.pos[0], Func):
        args.pos[0].configured = True
    return args.pos[0]


def _compile_time_eval(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    return LibV("jax.ensure_compile_time_eval()")


def _disable_jit(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    return LibV("jax.disable_jit()") if not args.pos or args.pos[0] == TRUE else UNKNOWN


def _tree_leaves(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    found = [x for x in leaves(args.pos[0]) if x != NONE] if args.pos else []
    if args.pos and _known_structure(args.pos[0]):
        return ListV(Tup(tuple(found)), node)
    return ListV(Tup(None, join_all(found) if found else UNKNOWN), node)


def _known_structure(v: Value) -> bool:
    match v:
        case Tup(items=items):
            return items is not None and all(_known_structure(i) for i in items)
        case ListV():
            return _known_structure(v.content)
        case DictV():
            return v.rest is None and all(_known_structure(i) for i in v.slots.values())
        case Obj():
            return not v.open and all(_known_structure(i) for i in v.slots.values())
        case Array() | Const() | Host():
            return True
    return False


@record(frozen=True, slots=True)
class _TreeDef(Host):
    """A pytree's structure, as the tree that it was taken of."""

    tree: Value = UNKNOWN


def _tree_structure(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if not args.pos or not _known_structure(args.pos[0]):
        return Host("treedef", via="shape")
    return _TreeDef("treedef", via="shape", tree=transforms._mapped(args.pos[0], lambda v: v))


def _tree_flatten(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    return Tup((_tree_leaves(interp, args, node), _tree_structure(interp, args, node)))


def _tree_unflatten(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    structure, given = args.get(0, "treedef"), args.get(1, "leaves")
    if not isinstance(structure, _TreeDef) or given is None:
        return UNKNOWN
    content = operators.iterate(interp, given, node)
    items = iter(content.items or ())
    return transforms._mapped(structure.tree, lambda _: next(items, content.elem or UNKNOWN))


def _tree_reduce(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    tree = args.get(1, "tree")
    start = args.get(2, "initializer") or args.kw.get("identity")
    if not args.pos or tree is None:
        return UNKNOWN
    items = _tree_leaves(interp, Args([tree]), node)
    return _reduce(interp, Args([args.pos[0], items, *([start] if start is not None else [])]), node)


def _nnx_split(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    """The structure of a graph node, which changes with the states it is given together with, and those states."""
    if args.rest is not None:
        return UNKNOWN
    return Tup((Host("graphdef", via="shape"), *[UNKNOWN] * max(1, len(args.pos) - 1)))


def _clear_caches(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    now = interp.tick()
    for entry in interp.entries if not interp.forks else ():
        entry.cleared.append(now)
    return NONE


def _device_get(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    def leaf(v: Value) -> Value:
        return replace(v, level=Level.NUMPY) if isinstance(v, Array) and v.level is Level.HOST else v

    return transforms._mapped(args.pos[0], leaf) if args.pos else UNKNOWN


def _import(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    if args.pos and isinstance(args.pos[0], Const) and isinstance(args.pos[0].value, str):
        return interp.import_module(args.pos[0].value, 0)
    return UNKNOWN


def _named_tuple(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
    """``namedtuple("State", ["x", "y"])``: the class that a ``class`` statement would make."""
    name, given, defaults = args.get(0, "typename"), args.get(1, "field_names"), args.kw.get("defaults", Tup(()))
    fields = _field_names(given)
    values = defaults.content.items if isinstance(defaults, ListV) else getattr(defaults, "items", None)
    if not isinstance(name, Const) or fields is None or values is None or "rename" in args.kw:
        return UNKNOWN
    rows = [f"    {field}: object\n" for field in fields] or ["    pass\n"]
    statement = bare.parse(f"class {name.value}(NamedTuple):\n{''.join(rows)}")
    if not isinstance(statement, cst.ClassDef):
        return UNKNOWN
    frame = interp.frame
    cls = ClassV(str(name.value), str(name.value), statement, interp.unit, frame.env, (LibV("typing.NamedTuple"),))
    cls.made_in = frame.number if frame.func is not None else None
    cls.loops = interp.around()
    cls.slots.update(zip(fields[len(fields) - len(values) :], values, strict=False))
    classes.inherit(interp, cls, {})
    return cls


def _field_names(given: Value | None) -> list[str] | None:
    """The names of the fields, given as one text, as a list of texts, or as pairs with their types."""
    if isinstance(given, Const) and isinstance(given.value, str):
        return given.value.replace(",", " ").split()
    content = given.content if isinstance(given, ListV) else given
    if not isinstance(content, Tup) or content.items is None:
        return None
    firsts = [i.items[0] if isinstance(i, Tup) and i.items else i for i in content.items]
    names = [i.value for i in firsts if isinstance(i, Const) and isinstance(i.value, str)]
    return names if len(names) == len(firsts) else None


HANDLERS: dict[str, Handler] = {
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.int": _convert("int"),
    "builtins.float": _convert("float"),
    "builtins.complex": _convert("complex"),
    "builtins.bool": _bool,
    "builtins.isinstance": _isinstance,
    "builtins.min": _comparing("min"),
    "builtins.max": _comparing("max"),
    "builtins.sorted": _comparing("sorted"),
    "builtins.any": _any_all("any"),
    "builtins.all": _any_all("all"),
    "builtins.sum": _folded(cst.Add, 0),
    "math.prod": _folded(cst.Multiply, 1),
    "builtins.hasattr": _hasattr,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.object.__setattr__": _setattr,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.iter": _iter,
    "builtins.next": _next,
    "builtins.list": _sequence(lambda c, n: ListV(c, n)),
    "builtins.tuple": _sequence(lambda c, n: c),
    "builtins.set": _set,
    "builtins.frozenset": _frozenset,
    "collections.OrderedDict": lambda interp, args, node: _dict(interp, args, node, "OrderedDict"),
    "collections.defaultdict": lambda interp, args, node: DictV(rest=UNKNOWN, site=node, kind="defaultdict"),
    "collections.Counter": lambda interp, args, node: DictV(rest=Host("int"), site=node, kind="Counter"),
    "collections.deque": _deque,
    "collections.namedtuple": _named_tuple,
    "typing.NamedTuple": _named_tuple,
    "builtins.dict": _dict,
    "builtins.reversed": _reversed,
    "builtins.type": _type,
    "builtins.format": _format,
    "builtins.hash": _hash,
    "builtins.callable": _callable,
    "builtins.slice": _slice,
    "builtins.str": _str,
    "builtins.repr": _str,
    "builtins.object.__init__": _nothing,
    "builtins.staticmethod": _descriptor("static"),
    "builtins.classmethod": _descriptor("class"),
    "builtins.property": _descriptor("property"),
    "builtins.__import__": _import,
    "importlib.import_module": _import,
    "pytest.importorskip": _import,
    "functools.update_wrapper": _update_wrapper,
    "dataclasses.replace": _replace_fields,
    "copy.replace": _replace_fields,
    "dataclasses.field": _field,
    "flax.struct.field": _field,
    "equinox.field": _field,
    "equinox.static_field": lambda interp, args, node: calls.FieldV(args.kw.get("default"), None, True),
    "jax.ensure_compile_time_eval": _compile_time_eval,
    "jax.disable_jit": _disable_jit,
    "jax.tree.leaves": _tree_leaves,
    "jax.tree_util.tree_leaves": _tree_leaves,
    "jax.tree.flatten": _tree_flatten,
    "jax.tree_util.tree_flatten": _tree_flatten,
    "jax.tree.structure": _tree_structure,
    "jax.tree_util.tree_structure": _tree_structure,
    "jax.device_get": _device_get,
    **{
        f"jax.tree_util.{n}": _register(f"jax.tree_util.{n}")
        for n in (
            "register_pytree_node",
            "register_pytree_node_class",
            "register_dataclass",
            "register_pytree_with_keys",
            "register_pytree_with_keys_class",
            "register_static",
        )
    },
}


def _chex_variants(every: bool) -> Handler:
    """Chex's decorators of test methods, which run with ``self.variant`` as ``jit`` among others."""
    name = "chex.all_variants" if every else "chex.variants"

    def handler(interp: Interpreter, args: Args, node: cst.CSTNode) -> Value:
        if not args.pos or args.pos[0] == NONE:
            return Partial(LibV(name), (), dict(args.kw), node)
        cls = interp.frame.class_body
        if cls is not None:
            jits = args.kw.get("with_jit", TRUE if every else FALSE) == TRUE
            same = cls.slots.get("variant", LibV("jax.jit")) == LibV("jax.jit")
            interp.trail.write(cls, "variant", LibV("jax.jit") if jits and same else UNKNOWN)
        return args.pos[0]

    return handler


TRANSFORMS: dict[str, Handler] = {
    "chex_variants": _chex_variants(False),
    "chex_all_variants": _chex_variants(True),
    "partial": _partial,
    "wraps": _wraps,
    "cache": _cache,
    "cached_property": _cached_property,
    "reduce": _reduce,
    "clear_caches": _clear_caches,
    "nnx_split": _nnx_split,
    "tree_reduce": _tree_reduce,
    "tree_unflatten": _tree_unflatten,
}


# ------------------------------------------------------------------------------------------------ methods


def _list_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    assert isinstance(me, ListV)
    name = _receiver(node)
    first = args.pos[0] if args.pos else UNKNOWN
    match method:
        case "append" | "add":
            lifetime.keep(interp, first, "item")
            operators.extend(interp, me, Tup((first,)), node, name)
            return NONE
        case "extend":
            operators.extend(interp, me, operators.iterate(interp, first, node), node, name)
            return NONE
        case "insert" | "appendleft":
            value = first if method == "appendleft" else args.pos[1] if len(args.pos) > 1 else UNKNOWN
            lifetime.keep(interp, value, "item")
            operators.extend(interp, me, Tup((value,)), node, name)
            now = me.content.items
            first_place = method == "appendleft" or first == Const(0)
            moved = (now[-1], *now[:-1]) if now is not None and first_place and me.most is None else None
            interp.trail.write(me, "content", Tup(moved, None if moved is not None else me.content.any_item()))
            return NONE
        case "pop" | "popleft":
            content = me.content
            if traced_leaf(first) is not None:
                operators.needs_concrete(
                    interp, first, node, "list-index", "list.pop()", "TracerIntegerConversionError"
                )
            operators.outer_write(interp, me, "content", NONE, node, "method", name)
            if content.items and not interp.loops:
                at = shapes.as_int(first) if args.pos else (0 if method == "popleft" else -1)
                if at is not None and -len(content.items) <= at < len(content.items):
                    items = list(content.items)
                    out = items.pop(at)
                    interp.write(me, "content", Tup(tuple(items)), node)
                    return out
            return content.any_item()
        case "clear" | "reverse" | "sort" | "remove":
            operators.outer_write(interp, me, "content", NONE, node, "method", name)
            if method == "clear":
                interp.write(me, "content", Tup(()), node)
            elif method == "reverse" and me.content.items is not None:
                interp.write(me, "content", Tup(me.content.items[::-1]), node)
            elif method == "sort":
                _comparing("sorted")(interp, Args([me], dict(args.kw)), node)
                interp.write(me, "content", Tup(None, me.content.any_item()), node)
            elif method == "remove":
                operators._contains_one(interp, first, me, node, False)
                interp.write(me, "content", Tup(None, me.content.any_item()), node)
            return NONE
        case "index" | "count":
            operators._contains_one(interp, first, me, node, False)
            return Host("int")
        case "copy":
            return ListV(me.content, node)
    return UNKNOWN


def _receiver(node: cst.CSTNode) -> cst.BaseExpression | str:
    """What a method is called of."""
    return node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""


def _tuple_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    if method in ("index", "count"):
        if args.pos:
            operators._contains_one(interp, args.pos[0], me, node, False)
        return Host("int")
    return UNKNOWN


def _dict_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    assert isinstance(me, DictV)
    name = _receiver(node)
    first = args.pos[0] if args.pos else UNKNOWN
    match method:
        case "items":
            rows: list[Value] = [
                Tup((Const(k) if isinstance(k, str | int | float | bool) else UNKNOWN, v))
                for k, v in me.entries().items()
            ]
            return (
                Tup(tuple(rows), kind="tuple")
                if me.rest is None
                else Tup(None, join_all([*rows, Tup((UNKNOWN, me.rest))]))
            )
        case "keys":
            return operators.iterate(interp, me, node)
        case "values":
            values = tuple(me.entries().values())
            return Tup(values) if me.rest is None else Tup(None, me.any_value())
        case "get" | "setdefault" | "pop":
            operators.hashed(interp, first, args.node(0) or node, "a dict key")
            key = operators.dict_key(first)
            default = args.pos[1] if len(args.pos) > 1 else NONE
            if method == "pop":
                operators.outer_write(interp, me, key, NONE, node, "method", name)
            if method == "setdefault":
                operators.outer_write(interp, me, key, default, node, "method", name)
            if key is not None and key in me.slots:
                out = me.slots[key]
                if method == "pop":
                    interp.trail.delete(me, key)
                return out
            if method == "setdefault":
                interp.write(me, DictV.REST if key is None else key, default, node)
                return join(default, me.any_value()) if key is None and me.slots else default
            if me.rest is not None or key is None:
                return join(me.any_value() if key is None else me.rest or UNKNOWN, default)
            return default
        case "update":
            operators.outer_write(interp, me, DictV.REST, first if args.pos else NONE, node, "method", name)
            if args.pos:
                entries: dict[Any, Value] = first.slots if isinstance(first, DictV) else {DictV.REST: UNKNOWN}
                for k, v in me.updated(entries).items():
                    if me.slots.get(k) is not v:
                        interp.write(me, k, v, node)
            for kw, v in args.kw.items():
                interp.write(me, kw, v, node)
            return NONE
        case "copy":
            return DictV(me.entries(), me.rest, node, me.kind)
        case "clear" | "popitem":
            operators.outer_write(interp, me, DictV.REST, NONE, node, "method", name)
            return NONE
    return UNKNOWN


_SETS_KEEP = frozenset(
    {"add", "update", "copy", "union", "intersection", "difference", "symmetric_difference"}
    | {"issubset", "issuperset", "isdisjoint"}
)
"""Methods of sets that take no element away."""


def _set_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    assert isinstance(me, SetV)
    if method not in _SETS_KEEP:
        me.some = False
    if method in ("add", "discard", "remove", "update"):
        for v in args.pos:
            operators.hashed(interp, v, node, "an element")
            if traced_leaf(v) is not None:  # of static ones, a set holds the same however often they are added
                operators.outer_write(interp, me, "elem", v, node, "method", _receiver(node))
        if method == "add" and args.pos:
            old = me.slots.get("elem")
            interp.write(me, "elem", args.pos[0] if old is None else join(old, args.pos[0]), node)
        return NONE
    if method in ("copy", "union", "intersection", "difference"):
        return SetV(me.slots.get("elem"), node, some=me.some and method in ("copy", "union"))
    return UNKNOWN


def _str_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    if method == "format":
        text = me.value if isinstance(me, Const) else ""
        if isinstance(text, str) and "{:" in text:
            for i, v in enumerate(args.pos):
                operators.formatted(interp, v, args.node(i) or node, ".format()")
        return operators.text_of(*args.pos, *args.kw.values())
    if method in ("startswith", "endswith", "isdigit", "isalpha", "isupper", "islower"):
        if isinstance(me, Const) and all(isinstance(a, Const) for a in args.pos):
            try:
                return Const(getattr(me.value, method)(*(a.value for a in args.pos if isinstance(a, Const))))
            except Exception:
                return Host("bool")
        return Host("bool")
    if method in ("split", "rsplit", "splitlines"):
        loops = operators._loops(me)
        return ListV(Tup(None, Host("str", loops), length_loops=loops), node)
    if method in ("lower", "upper", "strip", "title"):
        if isinstance(me, Const) and not args.pos:
            return Const(getattr(me.value, method)(), me.loops)
        return Host("str", operators._loops(me))
    if method in ("find", "count", "index", "rfind"):
        return Host("int")
    if method == "join":
        return Host("str")
    return Host("str")


def _at_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    assert isinstance(me, operators.AtV)
    array = me.array if isinstance(me.array, Array) else operators.result_array(interp, [me.array])
    values = [
        array,
        *args.pos,
        *([me.index] if me.index is not None and not isinstance(me.index, operators.SliceV) else []),
    ]
    out = operators.result_array(interp, values, jax=True, node=node, what=f".at[].{method}()")
    weak = array.weak
    if method == "get":
        return replace(out, dtype=array.dtype, weak=weak)
    return replace(out, dtype=array.dtype, shape=array.shape, weak=weak)


def _jitted_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    assert isinstance(me, Jitted)
    if method in ("lower", "trace", "eval_shape"):
        transforms.call_jitted(interp, me, transforms.arrays_for_shapes(args), node)
    if method == "clear_cache" and not interp.forks:
        me.entry.cleared.append(interp.tick())
    return UNKNOWN


def _tree_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    assert isinstance(me, Tree)
    if method == "items":
        return Tup(None, Tup((UNKNOWN, me)))
    if method == "keys":
        return Tup(None, UNKNOWN)
    if method == "values":
        return Tup(None, me)
    if method in ("copy", "replace", "_replace", "get", "pop"):
        return me
    if method in ("index", "count"):
        return Host("int")
    return UNKNOWN


def _namedtuple_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    if method == "_replace":
        return _replace_fields(interp, Args([me], args.kw), node)
    if method == "_asdict" and isinstance(me, Obj):
        return DictV({k: v for k, v in me.slots.items() if isinstance(k, str)}, None, node)
    if method == "_make" and isinstance(me, ClassV) and args.pos:
        content = operators.iterate(interp, args.pos[0], node)
        if content.items is not None:
            return calls.instantiate(interp, me, Args(list(content.items)), node)
    return UNKNOWN


def _wrapped_method(interp: Interpreter, me: Value, method: str, args: Args, node: cst.CSTNode) -> Value:
    if method in ("defvjp", "defjvp") and isinstance(me, Wrapped):
        for i, rule in enumerate(args.pos):
            me.options[f"{method}:{i}"] = rule
    return args.pos[0] if args.pos and method.startswith("def") else NONE


METHODS: dict[str, MethodHandler] = {
    "list": _list_method,
    "tuple": _tuple_method,
    "dict": _dict_method,
    "set": _set_method,
    "str": _str_method,
    "at": _at_method,
    "jitted": _jitted_method,
    "tree": _tree_method,
    "namedtuple": _namedtuple_method,
    "wrapped": _wrapped_method,
    "linen": linen.method,
}
