"""Calls into libraries: what the knowledge data says of them, applied to abstract arguments."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.knowledge import FunctionModel, MethodModel, Term
from jitlint.semantics import (
    builtin,
    calls,
    conventions,
    donation,
    errors,
    leaks,
    operators,
    prng,
    shapes,
    timing,
    transforms,
    validity,
)
from jitlint.semantics.calls import Args
from jitlint.semantics.entry import CARRIES_OUT, STATIC_BY_ANNOTATION
from jitlint.semantics.events import TURNS, ArrayWanted, DynamicShape, GradientCut, LostUpdate, NeedsConcrete
from jitlint.semantics.records import replace
from jitlint.semantics.treemap import TreeMap
from jitlint.semantics.values import (
    FALSE,
    HELD,
    NO_LOOPS,
    NONE,
    TRUE,
    UNKNOWN,
    ZERO_D,
    Array,
    Bound,
    Const,
    DictV,
    DtypeOf,
    Host,
    Jitted,
    Level,
    LibV,
    ListV,
    Obj,
    Partial,
    Shape,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
    has_linear,
    is_declared,
    leaves,
    members,
    py_type,
    traced_leaf,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Loop

Given = dict[str, tuple[Value, "cst.CSTNode | None"]]


def decorates(interp: Interpreter, name: str) -> bool:
    """Is a library function, used as a decorator, more than a mark?"""
    model = interp.knowledge.function(name)
    return model is not None and (
        model.transform is not None or name in builtin.HANDLERS or model.registers is not None
    )


def call(interp: Interpreter, func: LibV, args: Args, node: cst.CSTNode) -> Value:
    """Call a function or class of a library."""
    name = func.name
    handler = builtin.HANDLERS.get(name)
    if handler is not None:
        return handler(interp, args, node)
    model = interp.knowledge.function(name)
    if interp.knowledge.constant(name) == "dtype":
        return _cast(interp, name, args, node)
    if model is None:
        made = interp.knowledge.class_(name)
        if made is not None:
            conventions.note(interp, made, args)
            if made.kind == "object":
                return Obj(LibV(made.name), node, open_=True)
            return HELD if made.kind == "pytree" else UNKNOWN
        calls.escape(interp, args)
        return UNKNOWN
    if model.registers is not None:
        return builtin.register_class(interp, name, model.registers, args, node)
    if model.transform is not None:
        result = _transform(interp, model, args, node)
        if result is not None:
            return result
    return apply(interp, model, args, node)


def _cast(interp: Interpreter, name: str, args: Args, node: cst.CSTNode) -> Value:
    """``jnp.float32(x)``, ``np.int32(x)``: a scalar type called as a function."""
    value = args.pos[0] if args.pos else Const(0)
    leaks.check(interp, [value], node)
    array = as_array(value)
    shape = array.shape if array is not None else None
    dtype = shapes.named(LibV(name))
    if is_jax(name):
        out = operators.result_array(interp, [value], jax=True, node=node, what=short(name))
        return replace(out, dtype=dtype, shape=shape, weak=False)
    if interp.traces:
        raised = operators.needs_concrete(
            interp, value, args.node(0) or node, "numpy", short(name), "TracerArrayConversionError"
        )
        if raised:
            return UNKNOWN
    out = operators.result_array(interp, [value])
    return replace(out, level=Level.NUMPY, dtype=dtype, shape=shape, weak=False) if not out.is_traced else UNKNOWN


def call_bound(interp: Interpreter, func: Bound, args: Args, node: cst.CSTNode) -> Value:
    """Call a method of a value: one of the project, or of a library."""
    method, me = func.func, func.self
    if not isinstance(method, LibV):
        return calls.call_value(interp, method, args.before(me), node)
    possible = isinstance(me, Array) and me.maybe
    interp.unsure += possible
    result = call_method(interp, method.name, me, args, node)
    interp.unsure -= possible
    return result


def call_method(interp: Interpreter, name: str, me: Value, args: Args, node: cst.CSTNode) -> Value:
    """Call a method of a built-in or library value; ``name`` is ``type.method``."""
    owner, _, method = name.rpartition(".")
    if owner == "jax.Array" and isinstance(me, Array):
        return _array_method(interp, me, method, args, node)
    handler = builtin.METHODS.get(owner)
    if handler is not None:
        return handler(interp, me, method, args, node)
    model = interp.knowledge.attribute(owner, method) if isinstance(me, Obj) else None
    return apply(interp, model.call, args, node, me) if isinstance(model, MethodModel) else UNKNOWN


# ------------------------------------------------------------------------------------------------ arrays' methods


def _array_method(interp: Interpreter, me: Array, method: str, args: Args, node: cst.CSTNode) -> Value:
    kind = "array" if me.level is not Level.NUMPY else "host_array"
    model = interp.knowledge.attribute(kind, method)
    if model is None:
        model = interp.knowledge.attribute("array", method)
    if not isinstance(model, MethodModel):
        return UNKNOWN
    if (
        me.level is Level.NUMPY
        and method in _IN_PLACE
        and isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
    ):
        operators.write_place(interp, node.func.value, node)
    if model.conversion or method == "block_until_ready":
        timing.waited(interp)
    error = "ConcretizationTypeError" if model.conversion else "UnexpectedTracerError"
    if method not in _OF_DELETED and leaks.check(interp, [me], node, error):
        return UNKNOWN
    if me.is_traced and model.raises is not None and kind == "array":
        need = "item" if model.conversion else "attribute"
        operators.needs_concrete(interp, me, node, need, f".{method}()", model.raises)
        return UNKNOWN
    if method == "tolist" and not me.is_traced and me.level is not Level.LINEAR:
        return _nested_list(me, len(me.shape) if me.shape is not None else None, node)
    if me.level is Level.LINEAR and model.conversion and method in ("item", "tolist"):
        interp.emit(GradientCut(node=node, unit=interp.unit, value=me, what=f".{method}()"))
        return Host("float")
    if me.level is not Level.TRACED and model.host is not None:
        if model.host.op == "static":
            return Host(model.host_type or "number", me.loops)
        if model.host.op == "unknown":
            return UNKNOWN
        given = {"self": (me, None), **bind(model.call, args)}
        return _shaped(interp, model.call, given, [me], node, model.host, me)
    return apply(interp, model.call, args, node, me)


def _nested_list(array: Array, rank: int | None, node: cst.CSTNode) -> Value:
    """What ``.tolist()`` of a concrete array gives: a number, or a list of lists as deep as its rank."""
    if rank is None:
        return UNKNOWN
    if rank == 0:
        kind = shapes.kind(array.dtype) or "number"
        return Host(kind if kind in operators.NUMBERS else "number", array.loops)
    return ListV(Tup(None, _nested_list(array, rank - 1, node)), node)


# ------------------------------------------------------------------------------------------------ applying a row


def _seeded(interp: Interpreter, model: FunctionModel, given: Given, me: Value | None) -> bool:
    """Random numbers of a generator that the traced function itself makes from a seed: the same each time anyway."""
    if model.effect != "random":
        return False
    if model.result.op == "instance":
        return any(isinstance(v, Const | Host) and v != NONE and _effect(v) is None for v, _ in given.values())
    trace = interp.trace
    return isinstance(me, Obj) and trace is not None and me.birth > trace.birth


def _effect(v: Const | Host) -> str | None:
    return v.via if v.via in ("clock", "random", "env") else None


def bind(model: FunctionModel, args: Args) -> Given:
    """Arguments by parameter name, with the node of each. Elements of ``*args`` are ``*0``, ``*1`` …"""
    given: Given = {}
    extra = 0
    for i, v in enumerate(args.pos):
        p = model.parameter(i)
        if p is None or p.kind == "args":
            given[f"*{extra}"] = (v, args.node(i))
            extra += 1
        else:
            given[p.name] = (v, args.node(i))
    for k, v in args.kw.items():
        given[k] = (v, args.kw_nodes.get(k))
    if args.rest is not None:
        given["*rest"] = (args.rest, None)
    return given


_ON_JAX = frozenset(
    {
        *("jax", "optax", "flax", "equinox", "haiku", "chex", "distrax", "numpyro", "rlax"),
        *("lineax", "diffrax", "optimistix"),
    }
)


@cache
def is_jax(name: str) -> bool:
    """Do results of this function come out of jax (tracers under a staging trace)?"""
    return name.partition(".")[0] in _ON_JAX


@cache
def short(name: str) -> str:
    """A dotted name as people write it."""
    for long, brief in (("jax.numpy.", "jnp."), ("numpy.", "np."), ("jax.lax.", "lax."), ("builtins.", "")):
        if name.startswith(long):
            return brief + name[len(long) :]
    return name


_NEEDS = {
    "numpy": "numpy",
    "math": "math",
    "itertools": "range",
    "operator": "convert",
    "builtins": "convert",
    "random": "convert",
    "statistics": "convert",
    "decimal": "convert",
    "fractions": "convert",
}


def apply(interp: Interpreter, model: FunctionModel, args: Args, node: cst.CSTNode, me: Value | None = None) -> Value:
    """Call what a row describes."""
    given = bind(model, args)
    if me is not None:
        given["self"] = (me, None)
    values = [v for v, _ in given.values()]
    name = model.name
    what = short(name) if me is None else f".{name.rpartition('.')[2]}()"
    if not interp.traces:
        _time(interp, model, values, node)
    if model.effect is not None and not _seeded(interp, model, given, me):
        interp.effect(model.effect, what, node, values)
    if model.name in _FILLS and given:
        target = next(iter(given.values()))[1]
        if isinstance(target, cst.BaseExpression):
            operators.write_place(interp, target, node)
    if model.name == "jax.debug.print":
        _check_format(interp, given, node)
    if model.key is not None:
        _key(interp, model, given, node)
    jax = is_jax(name) or isinstance(me, Array) and me.level is not Level.NUMPY
    if jax:
        works = me is not None and name.rpartition(".")[2] in _OF_DELETED
        if model.effect is None and not works and leaks.check(interp, values, node):
            return UNKNOWN
    elif model.effect == "print":
        donation.check(interp, values, node)
    elif (
        model.on_traced is not None
        and model.on_traced.op == "raises"
        and leaks.check(interp, values, node, model.on_traced.arg)
    ):
        return UNKNOWN
    if (model.arrays or model.sized) and _refuses(interp, model, given, node, what):
        return UNKNOWN
    _check_concrete(interp, model, given, node, what)
    _check_dynamic(interp, model, given, node, what, jax)
    if not jax and model.on_traced is not None:
        out = _host_on_traced(interp, model, given, node, what)
        if out is not None:
            return out
    result = _shaped(interp, model, given, values, node, model.result, me)
    for rate in _RATES & given.keys() if isinstance(result, Obj) else ():
        made = interp.knowledge.class_(model.result.arg)
        if made is not None and made.kind == "optimizer":
            conventions.note_schedule(interp, given[rate][0])
    for flag, less in model.fewer.items():
        name, _, setting = flag.partition("=")
        passed = given.get(name)
        if passed is None or passed[0] == TRUE or setting and isinstance(passed[0], Const) and passed[0].value != setting:
            continue
        if isinstance(result, Tup) and result.items is not None:
            kept = result.items[: len(result.items) - less]
            left = kept[0] if len(kept) == 1 else Tup(kept)
            result = left if isinstance(passed[0], Const) else union([left, result])
    for flag, extra in model.more.items():
        passed = given.get(flag)
        if passed is not None and passed[0] == TRUE:
            more = operators.result_array(interp, values, jax=jax, node=node, what=what)
            result = Tup(
                (
                    *(result.items if isinstance(result, Tup) and result.items is not None else (result,)),
                    *([more] * extra),
                )
            )
    return result


def _refuses(interp: Interpreter, model: FunctionModel, given: Given, node: cst.CSTNode, what: str) -> bool:
    """Is a list, a string or the like given for an array, which raises for certain?"""
    for name, (value, at) in given.items():
        error = "TypeError" if name in model.arrays else model.sized.get(name)
        kinds = [validity.no_array(m) for m in members(value)]
        if error is None or None in kinds or name in model.sized and kinds != ["an iterator"]:
            continue
        if any(catcher in guard.names for guard in interp.guards for catcher in errors.ancestry(error)):
            return True
        items = validity.sequence_items(value)
        inside = items if items is not None else (value.elem,) if isinstance(value, Tup) else ()
        shapes_of = {array.shape if array is not None else None for array in map(as_array, items or ())}
        shape = shapes_of.pop() if len(shapes_of) == 1 else None
        interp.emit(
            ArrayWanted(
                node=at or node,
                unit=interp.unit,
                value=value,
                found=kinds[0] or "",
                what=what,
                param=name,
                error=error,
                possible=is_declared(value),
                numbers=bool(inside) and all(i is not None and py_type(i) in ("int", "float") for i in inside),
                stacks=shape is not None and None not in shape,
            )
        )
        return True
    return False


def _check_concrete(interp: Interpreter, model: FunctionModel, given: Given, node: cst.CSTNode, what: str) -> None:
    if not interp.traces:
        return
    for name, (value, at) in given.items():
        error = model.must_be_concrete(name, given)
        inside = model.items.get(name)
        if error is None and inside is None:
            continue
        for m in members(value):
            if isinstance(m, Tup | ListV):
                error_here = inside if inside is not None else error
                if error_here == "works":
                    continue
            else:
                error_here = error
            if error_here is None:
                continue
            need = model.need.get(name)
            if need == "bins" and (isinstance(m, Tree) or isinstance(m, Array) and m.shape is None and m.python is None):
                break  # as likely the edges as their number
            if isinstance(m, Array) and m.shape and need in ("bins", "count", "size"):
                # a whole array of counts: what it asks for is the data, or (bin edges) nothing
                if name in model.lifted:
                    leaf = traced_leaf(m)
                    if leaf is not None:
                        interp.emit(
                            DynamicShape(
                                node=at or node,
                                unit=interp.unit,
                                value=value,
                                leaf=leaf,
                                what=what,
                                unless=model.lifted[name],
                                error=error_here,
                                possible=isinstance(value, Union) or leaf.maybe,
                            )
                        )
                break
            if isinstance(m, Array) and m.is_traced or isinstance(m, Tup | ListV | Tree):
                spoken = _spoken(model, given, name)
                operators.needs_concrete(interp, value, at or node, _category(model, name), what, error_here, spoken)
                break
    if not model.concrete:
        return
    star = next((p for p in model.params or () if p.kind == "args" and p.name in model.concrete), None)
    if star is not None:
        for name, (value, at) in given.items():
            if name.startswith("*"):
                operators.needs_concrete(
                    interp,
                    value,
                    at or node,
                    _category(model, star.name),
                    what,
                    model.concrete[star.name],
                    star.name,
                )


def _spoken(model: FunctionModel, given: Given, name: str) -> str:
    """The parameter as people think of it: a single argument of ``arange`` is where it stops."""
    counts = model.shape is not None and model.shape.op == "arange"
    return "stop" if counts and name == "start" and "stop" not in given else name


def _category(model: FunctionModel, name: str) -> str:
    if model.name.startswith("itertools."):
        return "range"
    need = model.need.get(name, "shape")
    if need == "bins":
        return "count"
    return need if need in ("shape", "axis", "size", "count", "index", "dtype", "flag") else "shape"


def _check_dynamic(
    interp: Interpreter, model: FunctionModel, given: Given, node: cst.CSTNode, what: str, jax: bool
) -> None:
    dynamic = model.dynamic
    if dynamic is None or any(u in given for u in dynamic.unless) or not interp.traces:
        return
    names = [n for n in (dynamic.of or given) if n in given]
    for n in names:
        value = given[n][0]
        for m in members(value):
            leaf = traced_leaf(m)
            if (
                leaf is None
                and jax
                and not dynamic.of
                and interp.staging
                and isinstance(m, Array | Const | Tup | ListV)
                and py_type(m) != "bool"  # an option
            ):
                leaf = operators.result_array(interp, [m], jax=True, node=node, what=what)
                if not leaf.is_traced:
                    leaf = None
            if leaf is None:
                continue
            possible = isinstance(value, Union) or leaf.maybe
            interp.emit(
                DynamicShape(
                    node=node,
                    unit=interp.unit,
                    value=value,
                    leaf=leaf,
                    what=what,
                    unless=dynamic.unless,
                    error=dynamic.error,
                    possible=possible,
                )
            )
            return


def _host_on_traced(
    interp: Interpreter, model: FunctionModel, given: Given, node: cst.CSTNode, what: str
) -> Value | None:
    """What a host function does with traced arguments; None when none is traced (or it does not matter)."""
    term = model.on_traced
    assert term is not None
    need = _NEEDS.get(model.name.split(".")[0], "numpy")
    for _, (value, at) in given.items():
        for m in members(value):
            inside = isinstance(m, Tup | ListV | DictV)
            rule = model.on_traced_items if inside and model.on_traced_items is not None else term
            leaf = traced_leaf(m)
            if leaf is not None and interp.traces:
                if rule.op == "raises":
                    operators.needs_concrete(interp, value, at or node, need, what, rule.arg)
                    return UNKNOWN
                if rule.op == "works" and not isinstance(value, Union):
                    return _shaped(interp, model, given, [v for v, _ in given.values()], node, Term("array"), None)
                if rule.op == "static":
                    return Host(model.type or "object")
                return UNKNOWN
            if leaf is None and not inside and has_linear(m) and rule.op == "raises" and interp.traces:
                leaf_l = next(x for x in leaves(m) if isinstance(x, Array) and x.level is Level.LINEAR)
                interp.emit(
                    NeedsConcrete(
                        node=at or node,
                        unit=interp.unit,
                        value=value,
                        leaf=leaf_l,
                        need=need,
                        what=what,
                        error=rule.arg,
                        possible=isinstance(value, Union),
                    )
                )
                return UNKNOWN
            if leaf is None and has_linear(m) and rule.op == "works":
                return _shaped(interp, model, given, [v for v, _ in given.values()], node, Term("array"), None)
    return None


# ------------------------------------------------------------------------------------------------ results


def _shaped(
    interp: Interpreter,
    model: FunctionModel,
    given: Given,
    values: list[Value],
    node: cst.CSTNode,
    result: Term,
    me: Value | None,
) -> Value:
    on_device = is_jax(model.name) and result.op != "host_array"
    jax = on_device or isinstance(me, Array) and me.level is not Level.NUMPY
    name = model.name

    def array(dtype: str | None = None, shape: Shape | None = None, weak: bool | None = None) -> Array:
        return operators.result_array(
            interp, values, dtype=dtype, shape=shape, weak=weak, jax=jax, node=node, what=short(name)
        )

    match result.op:
        case "kept" if (kept := _kept(model, given, result.arg)) is not None:
            return kept
        case "host_array" if name == "numpy.where" and len(given) == 1:
            return _places(array(), as_array(values[0]))
        case "array" | "host_array" | "key" | "kept":
            if result.op == "key":
                return replace(array("key"), via=prng.token(interp))
            out = array(_dtype(model, given, me), _shape(model, given, me), _weak(model, given, me))
            if result.op == "host_array" and any(
                isinstance(x, Array) and x.level is Level.HOST for v in values for x in leaves(v)
            ):
                out = replace(out, level=Level.NUMPY)
            if out.level is Level.NUMPY and not jax and model.effect == "random":
                out = replace(out, via="random", loops=out.loops.union(interp.loops))
            resized = out.shape_loops | operators.running(interp, _resized(model, given))
            if model.shape is not None and model.shape.op in _LONGER:
                resized = operators.summed(resized)
            if out.shape is None and model.shape is not None and model.shape.op == "reduce":
                resized = NO_LOOPS  # the axis that changes may be gone
            if resized != out.shape_loops:
                out = replace(out, shape_loops=resized)
            if name in _NUMPY_MADE and out.level is Level.NUMPY:
                if any(py_type(x) == "str" for x in leaves(values[0])):
                    return replace(out, dtype="str")
                return replace(out, via=ZERO_D) if out.shape == () else out
            return out
        case "static":
            if model.name in ("jax.numpy.shape", "numpy.shape") and given:
                v = next(iter(given.values()))[0]
                if isinstance(v, Array):
                    from jitlint.semantics import attributes

                    return attributes.array_attribute(interp, v, "shape", node)
            if model.name == "numpy.nonzero" and values:
                return _places(array(), as_array(values[0]))
            if model.type == "bool" or model.type == "int" or model.type == "float":
                return Host(model.type, operators._loops(*values), operators._via(*values) or _effect_via(model))
            if model.type == "tuple":
                return Tup(None, Host("int", via="shape") if "shape" in model.name else UNKNOWN)
            return Host(
                model.type or "object", operators._loops(*values), operators._via(*values) or _effect_via(model)
            )
        case "copy":
            found = given.get(result.arg)
            copied = transforms._mapped(found[0] if found is not None else UNKNOWN, lambda v: v)
            if isinstance(copied, DictV) and model.type is not None:
                copied.kind = model.type
            return copied
        case "subdtype":
            return _is_subdtype(*values)
        case "none":
            return NONE
        case "arg":
            found = given.get(result.arg)
            return found[0] if found is not None else UNKNOWN
        case "tuple":
            n = int(result.arg) if result.arg.isdigit() else 0
            if n:
                return Tup(tuple(array(_dtype(model, given, me)) for _ in range(n)))
            return Tup(None, array())
        case "list":
            if model.name.rpartition(".")[2] in ("split", "array_split", "hsplit", "vsplit", "dsplit"):
                count = given.get("indices_or_sections", (UNKNOWN, None))[0]
                pieces = shapes.as_int(count)
                if pieces is not None and pieces <= 16:
                    piece = array(_dtype(model, given, me))
                    whole = as_array(next(iter(given.values()))[0])
                    each = tuple(replace(piece, shape=s) for s in _pieces(whole, pieces, _argument(given, "axis")))
                    return ListV(Tup(each), node)
            if model.name.rpartition(".")[2] in ("meshgrid", "broadcast_arrays"):
                return ListV(Tup(tuple(array() for k in given if k.startswith("*"))), node)
            return ListV(Tup(None, array()), node)
        case "tree" | "summed":
            found = given.get(result.arg)
            base = found[0] if found is not None else UNKNOWN
            out = array()
            arrays_only = name.startswith("equinox.")

            def leaf(v: Value) -> Value:
                if isinstance(v, Array):
                    return replace(out, shape=v.shape, dtype=v.dtype)
                if result.op == "summed" and (kind := py_type(v)) in ("int", "float", "complex"):
                    return Host(kind)
                if isinstance(v, Const | Host):
                    return v if arrays_only else out
                return v if isinstance(v, Tree) else UNKNOWN  # what it holds is another question

            return transforms._mapped(base, leaf)
        case "each":
            several = [k for k in given if k.startswith("*")]
            if "*rest" in given:
                return UNKNOWN
            if len(several) == 1:
                return array(_dtype(model, given, me))
            return ListV(Tup(tuple(array() for _ in several)), node)
        case "instance":
            obj = Obj(LibV(result.arg), node, open_=True)
            obj.loops = interp.around()
            obj.moment = interp.moment()
            return obj
        case "instances":
            one = Obj(LibV(result.arg), node, open_=True)
            one.loops = interp.around()
            return ListV(Tup(None, one), node)
        case "operator":
            return _operator(interp, model, values, node)
        case "function":
            return UNKNOWN
    return UNKNOWN


def _is_subdtype(dtype: Value = UNKNOWN, of: Value = UNKNOWN, *_: Value) -> Value:
    """``issubdtype`` of a dtype, or of an array in its place, and an abstract scalar type."""
    if isinstance(dtype, Array):
        dtype = shapes.dtype_of(dtype)
    name = dtype.name if isinstance(dtype, DtypeOf) else shapes.named(dtype)
    known = shapes.is_subdtype(name, of.name.rpartition(".")[2].rstrip("_")) if name and isinstance(of, LibV) else None
    return Host("bool") if known is None else Const(known)


def _places(found: Array, of: Array | None) -> Tup:
    """The indices, axis by axis, at which ``of`` is not zero."""
    each = replace(found, level=Level.NUMPY, dtype="int64", shape=(None,), weak=False, shape_loops=found.loops)
    rank = None if of is None or of.shape is None else len(of.shape)
    return Tup(None, each) if rank is None else Tup((each,) * max(1, rank))


def _kept(model: FunctionModel, given: Given, name: str) -> Array | None:
    """The concrete jax array ``name`` itself, where no other dtype (and no copy) is asked for."""
    value = _argument(given, name)
    if not isinstance(value, Array) or value.level is not Level.HOST or "copy" in given:
        return None
    return (
        value if "dtype" not in given or value.dtype is not None and _dtype(model, given, None) == value.dtype else None
    )


def _effect_via(model: FunctionModel) -> str | None:
    return model.effect if model.effect in ("clock", "random", "env") else None


_RATES = frozenset({"learning_rate", "step_size_fn"})
"""Parameters of what makes optimizers that take a schedule, too."""
_OPERATORS: dict[str, type[cst.CSTNode]] = {
    "add": cst.Add,
    "sub": cst.Subtract,
    "mul": cst.Multiply,
    "truediv": cst.Divide,
    "floordiv": cst.FloorDivide,
    "mod": cst.Modulo,
    "pow": cst.Power,
    "matmul": cst.MatrixMultiply,
    "and_": cst.BitAnd,
    "or_": cst.BitOr,
    "xor": cst.BitXor,
}


def _operator(interp: Interpreter, model: FunctionModel, values: list[Value], node: cst.CSTNode) -> Value:
    tail = model.name.rpartition(".")[2]
    op = _OPERATORS.get(tail)
    if op is not None and len(values) >= 2:
        return operators.binary(interp, op, values[0], values[1], node)
    if tail == "round" and len(values) == 1 and isinstance(values[0], Array) and values[0].level is Level.NUMPY:
        return Host("int", values[0].loops)  # only scalars of NumPy can be rounded so
    if any(isinstance(m, Array | Tree) for v in values for m in members(v)):
        return operators.result_array(interp, values, node=node, what=tail)
    kinds = {py_type(v) for v in values}
    if kinds <= operators.NUMBERS:
        folded = builtin.fold_call(tail, values)
        return folded if folded is not None else Host("number", operators._loops(*values), operators._via(*values))
    return UNKNOWN


def _argument(given: Given, name: str) -> Value | None:
    found = given.get(name)
    return found[0] if found is not None else None


def as_array(v: Value | None) -> Array | None:
    """An array-like argument (array, number, nested list or tuple of them) as an array; None when not known."""
    if v is None:
        return None
    if isinstance(v, Array):
        return v
    one = operators.number(v)
    if one is not None:
        return one
    content = v.content if isinstance(v, ListV) else v
    if isinstance(content, Tup) and content.items:
        first = as_array(content.items[0])
        if first is None:
            return None
        out = first
        for i in content.items[1:]:
            other = as_array(i)
            if other is None:
                return None
            dtype, weak = shapes.promote(out, other)
            shape = shapes.join_like(out.shape, other.shape)
            if (dtype, weak, shape) != (out.dtype, out.weak, out.shape):
                out = replace(out, dtype=dtype, weak=weak, shape=shape)
        return replace(out, shape=None if out.shape is None else (len(content.items), *out.shape))
    if isinstance(content, Tup) and content.items is None and content.elem is not None:
        first = as_array(content.elem)
        return None if first is None else replace(first, shape=None if first.shape is None else (None, *first.shape))
    return None


_NO_OPERANDS = frozenset(
    {"dtype", "out", "where", "axis", "size", "fill_value", "precision", "preferred_element_type"}
)


def _arrays(model: FunctionModel, given: Given, term: Term) -> list[Array | None]:
    """The operands of an element-wise function: the parameters that the term names, or all that may be arrays."""
    if not term.args:
        return [as_array(v) for k, (v, _) in given.items() if k not in _NO_OPERANDS]
    star = any(p.kind == "args" and p.name in term.args for p in model.params or ())
    return [as_array(v) for k, (v, _) in given.items() if k in term.args or star and k.startswith("*")]


def _shape(model: FunctionModel, given: Given, me: Value | None) -> Shape | None:
    term = model.shape
    if term is None:
        return None
    first = as_array(_argument(given, term.arg)) if term.arg else None
    shape: Shape | None
    match term.op:
        case "arg":
            value = _argument(given, term.arg)
            if value is None or value == NONE:
                if len(term.args) > 2 and term.args[1] == "like":
                    like = as_array(_argument(given, term.args[2]))
                    return like.shape if like is not None else None
                return () if term.arg in ("size", "shape") else None
            return shapes.as_shape(value)
        case "like":
            shape = first.shape if first is not None else None
            least = _argument(given, term.args[1]) if len(term.args) > 1 else None
            if least is None or shape is None:
                return shape
            rank = shapes.as_int(least)
            return (*(1,) * (rank - len(shape)), *shape) if rank is not None else None
        case "shuffled":
            count = _argument(given, term.arg)
            number = isinstance(count, Const | Host) or first is not None and first.shape == ()
            return (
                (shapes.as_length(count),)
                if number and count is not None
                else first.shape
                if first is not None
                else None
            )
        case "broadcast":
            parts = _arrays(model, given, term)
            shape = ()
            for p in parts:
                shape = shapes.broadcast(shape, p.shape if p is not None else None)
            return shape
        case "reduce":
            keep = _argument(given, "keepdims")
            flag = False if keep is None else keep.value if isinstance(keep, Const) else None
            return shapes.reduced(first.shape if first is not None else None, _argument(given, "axis"), flag)
        case "scalar":
            return ()
        case "rank":
            return (None,) * int(term.arg)
        case "arange":
            return (_arange(given),)
        case "pad":
            return _padded(first, _argument(given, term.args[1]))
        case "linspace":
            ends = [as_array(_argument(given, n)) for n in ("start", "stop")]
            if all(e is not None and e.shape == () for e in ends):
                num = _argument(given, "num")
                return (shapes.as_int(num) if num is not None else 50,)
            return None
        case "concat" | "vstack" | "hstack":
            return _concat(given, term)
        case "append":
            return _appended(first, as_array(_argument(given, term.args[1])), _argument(given, "axis"))
        case "stack":
            content = _argument(given, term.arg)
            inner = content.content if isinstance(content, ListV) else content
            if isinstance(inner, Tup) and (inner.items or inner.elem is not None):
                one = as_array(inner.items[0] if inner.items else inner.elem)
                axis = shapes.as_int(_argument(given, "axis") or Const(0))
                if one is not None and one.shape is not None and axis is not None:
                    at = axis if axis >= 0 else len(one.shape) + 1 + axis
                    return (*one.shape[:at], len(inner.items) if inner.items else inner.count, *one.shape[at:])
            return None
        case "matmul" | "dot":
            second = as_array(_argument(given, term.args[1]))
            return shapes.matmul(first.shape, second.shape) if first is not None and second is not None else None
        case "matrix":
            n = _argument(given, term.args[0])
            m = _argument(given, term.args[1]) if len(term.args) > 1 else n
            return (
                shapes.as_int(n) if n is not None else None,
                shapes.as_int(m if m is not None and m != NONE else n or UNKNOWN),
            )
        case "transpose":
            if (
                first is not None
                and first.shape is not None
                and (len(term.args) < 2 or _argument(given, term.args[1]) in (None, NONE))
                and "*0" not in given
            ):
                return tuple(reversed(first.shape))
            return None if first is None or first.shape is None else (None,) * len(first.shape)
        case "swap":
            return None if first is None or first.shape is None else (None,) * len(first.shape)
        case "squeeze":
            axis_v = _argument(given, "axis")
            if first is not None and first.shape is not None and axis_v is not None:
                axes = shapes.as_axes(axis_v, len(first.shape))
                if axes is not None and axis_v != NONE:
                    return tuple(d for i, d in enumerate(first.shape) if i not in axes)
            if first is not None and first.shape is not None and None not in first.shape:
                return tuple(d for d in first.shape if d != 1)
            return None
        case "expand":
            axis_n = shapes.as_int(_argument(given, "axis") or UNKNOWN)
            if first is not None and first.shape is not None and axis_n is not None:
                at = axis_n if axis_n >= 0 else len(first.shape) + 1 + axis_n
                return (*first.shape[:at], 1, *first.shape[at:])
            return None
        case "args":
            parts_v = [v for k, (v, _) in given.items() if k.startswith("*")]
            if len(parts_v) == 1:
                return (
                    shapes.as_shape(parts_v[0])
                    if not isinstance(parts_v[0], Const)
                    else (shapes.as_length(parts_v[0]),)
                )
            return tuple(shapes.as_length(v) for v in parts_v) if parts_v and "*rest" not in given else None
    return None


def _resized(model: FunctionModel, given: Given) -> frozenset[Loop]:
    """The loops over which an argument that gives the shape, or the length of a list of arrays, changes."""
    op, of = (model.shape.op, model.shape.arg) if model.shape is not None else ("", "")
    if op == "arange":
        return operators.distance(*_bounds(given))
    sized_by_data = model.name.rpartition(".")[2] in _SIZED_BY_DATA
    out: frozenset[Loop] = NO_LOOPS
    for name, (value, _) in given.items():
        content = value.content if isinstance(value, ListV) else value
        if isinstance(content, Tup) and content.items is None and not (op in _LONGER and _may_fill(content.any_item())):
            out |= content.length_loops
        if op == "arg" and of == name or model.need.get(name) in ("shape", "size", "count"):
            sizes = content.items or () if isinstance(content, Tup) else (content,)
            out = out.union(*(v.loops for v in sizes if isinstance(v, Host) or isinstance(v, Array) and v.shape))
        elif op == "pad" and model.shape is not None and name == model.shape.args[1]:
            out = out.union(*(v.loops for v in leaves(value) if isinstance(v, Host)))
        elif sized_by_data:
            out |= operators.varying(value)
    return out


def _may_fill(piece: Value) -> bool:
    """Is so little known of the pieces of a list that padding, which makes them one length together, may be among them?"""
    return isinstance(piece, Unknown)


_LONGER = frozenset({"append", "concat", "hstack", "pad", "vstack"})
"""What a result's shape follows, where lengths are added up."""
_SIZED_BY_DATA = frozenset(
    {"argwhere", "compress", "extract", "flatnonzero", "intersect1d", "nonzero", "setdiff1d", "union1d", "unique"}
)


def _bounds(given: Given) -> tuple[Value, Value]:
    """Where ``arange`` starts and stops."""
    start, stop = (_argument(given, n) for n in ("start", "stop"))
    start = start if start is not None else _argument(given, "start_or_stop")
    if stop is None or stop == NONE:
        start, stop = Const(0), start
    return start if start is not None else UNKNOWN, stop if stop is not None else UNKNOWN


def _arange(given: Given) -> int | None:
    start, stop = _bounds(given)
    step = _argument(given, "step")
    nums = [
        n.value if isinstance(n, Const) and isinstance(n.value, int | float) else None
        for n in (start, stop, step or Const(1))
        if n is not None
    ]
    if len(nums) == 3 and None not in nums and nums[2]:
        import math

        return max(0, math.ceil((nums[1] - nums[0]) / nums[2]))  # type: ignore[operator]
    return None


def _appended(first: Array | None, second: Array | None, axis: Value | None) -> Shape | None:
    """``append(first, second)``: both flat, one after the other."""
    if first is None or second is None or axis not in (None, NONE):
        return None
    a, b = shapes.size(first.shape), shapes.size(second.shape)
    return None if a is None or b is None else (a + b,)


def _concat(given: Given, term: Term) -> Shape | None:
    content = _argument(given, term.arg)
    inner = content.content if isinstance(content, ListV) else content
    axis = shapes.as_int(_argument(given, "axis") or Const(0))
    if not isinstance(inner, Tup) or not inner.items or axis is None:
        return None
    parts = [as_array(i) for i in inner.items]
    if term.op == "vstack":
        parts = [p if p is None or p.shape is None or len(p.shape) > 1 else _row(p) for p in parts]
    elif term.op == "hstack":
        axis = 0 if any(p is not None and p.shape is not None and len(p.shape) < 2 for p in parts) else 1
    out: list[int | None] | None = None
    for p in parts:
        if p is None or p.shape is None or not p.shape:
            return None
        if out is None:
            out = list(p.shape)
        else:
            if len(out) != len(p.shape):
                return None
            a, b = out[axis], p.shape[axis]
            out[axis] = a + b if a is not None and b is not None else None
    return tuple(out) if out is not None else None


def _pieces(whole: Array | None, count: int, axis: Value | None) -> list[Shape | None]:
    """The shapes of ``array_split(whole, count)``: the first ones are longer where it does not come out even."""
    at = 0 if axis is None else shapes.as_int(axis)
    shape = None if whole is None else whole.shape
    length = shape[at] if shape is not None and at is not None and -len(shape) <= at < len(shape) else None
    if shape is None or at is None or length is None or count < 1:
        return [None] * count
    at %= len(shape)
    each, longer = divmod(length, count)
    return [(*shape[:at], each + (i < longer), *shape[at + 1 :]) for i in range(count)]


def _padded(array: Array | None, width: Value | None) -> Shape | None:
    """The shape after padding by ``n``, ``(before, after)`` or one such pair for each axis."""
    if array is None or array.shape is None or width is None:
        return None
    rank = len(array.shape)
    number = shapes.as_int(width)
    pairs = [_pair(width)] * rank if number is None else [(number, number)] * rank
    content = width.content if isinstance(width, ListV) else width
    if number is None and pairs[:1] == [None] and isinstance(content, Tup) and content.items is not None:
        pairs = [_pair(i) for i in content.items]
    if len(pairs) != rank or None in pairs:
        return None
    return tuple(None if n is None else n + sum(p or ()) for n, p in zip(array.shape, pairs, strict=True))


def _pair(value: Value) -> tuple[int, int] | None:
    content = value.content if isinstance(value, ListV) else value
    numbers = (
        [shapes.as_int(i) for i in content.items] if isinstance(content, Tup) and content.items is not None else []
    )
    return None if len(numbers) != 2 or numbers[0] is None or numbers[1] is None else (numbers[0], numbers[1])


def _row(array: Array) -> Array:
    """A vector or number as a matrix of one row."""
    return replace(array, shape=(1, *(array.shape or (1,))))


def _dtype(model: FunctionModel, given: Given, me: Value | None) -> str | None:
    return _dtype_term(model, model.dtype, given, me)


def _dtype_term(model: FunctionModel, term: Term | None, given: Given, me: Value | None) -> str | None:
    if term is None:
        return None
    match term.op:
        case "arg":
            value = _argument(given, term.arg)
            if value is not None and value != NONE:
                return shapes.named(value)
            if len(term.args) > 1:
                return _dtype_term(model, Term(term.args[1], term.args[2:]), given, me)
            return None
        case "like":
            a = as_array(_argument(given, term.arg))
            return a.dtype if a is not None else None
        case "real" | "total":
            a = as_array(_argument(given, term.arg))
            kind = a.dtype if a is not None else None
            if term.op == "real":
                return "float" if shapes.kind(kind) == "complex" else kind
            return "int" if shapes.kind(kind) == "bool" else kind
        case "promote" | "inexact":
            parts = _arrays(model, given, term)
            out: Array | None = None
            for p in parts:
                if p is None:
                    return None
                if out is None:
                    out = p
                else:
                    dtype, weak = shapes.promote(out, p)
                    out = replace(out, dtype=dtype, weak=weak)
            if out is None:
                return None
            return shapes.inexact(out.dtype) if term.op == "inexact" else out.dtype
    return term.op


def _weak(model: FunctionModel, given: Given, me: Value | None) -> bool | None:
    term = model.weak
    if term is None:
        return None
    dtype = _argument(given, "dtype")
    if dtype is not None and dtype != NONE:
        return False
    match term.op:
        case "never":
            return False
        case "always":
            return True
        case "like" | "value" | "drawn":
            value = _argument(given, term.arg)
            if term.op == "drawn" and isinstance(value, Const | Host):
                return False
            a = as_array(value)
            if isinstance(value, ListV | Tup):
                return False if a is None or a.level is Level.NUMPY and a.python else a.weak
            if a is not None and a.level is Level.NUMPY and a.python is None:
                return False
            return a.weak if a is not None else None
        case "promote":
            parts = _arrays(model, given, term)
            flags = [None if p is None else p.weak if p.level is not Level.NUMPY or p.python else False for p in parts]
            if flags and all(f is True for f in flags):
                return True
            return None if None in flags else False if flags else None
    return None


# ------------------------------------------------------------------------------------------------ transforms, keys


_IN_PLACE = {"fill", "sort", "put", "resize", "partition", "itemset"}
"""Methods that change a numpy array."""
_FILLS = {"numpy.copyto", "numpy.put", "numpy.place", "numpy.putmask", "numpy.fill_diagonal", "numpy.random.shuffle"}
"""Functions that change the numpy array given first."""
_OF_DELETED = {"is_deleted", "delete"}
"""Methods that work on an array whose buffer is gone."""
_WAIT = {"jax.block_until_ready", "jax.device_get", "jax.effects_barrier"}


def _time(interp: Interpreter, model: FunctionModel, values: list[Value], node: cst.CSTNode) -> None:
    """Tell the stopwatch of clocks and of what waits for results: host functions that get a jax array do."""
    if model.effect == "clock":
        timing.clock_read(interp, node)
    elif (
        model.name in _WAIT
        or not is_jax(model.name)
        and any(isinstance(x, Array) and x.level is Level.HOST for v in values for x in leaves(v))
    ):
        timing.waited(interp)


def _check_format(interp: Interpreter, given: Given, node: cst.CSTNode) -> None:
    """The format of ``jax.debug.print`` must not be filled in while tracing, and must have a place for each value."""
    fmt = given["fmt"][0] if "fmt" in given else UNKNOWN
    values = [v for name, (v, _) in given.items() if name.startswith("*")]
    if isinstance(fmt, Host) and fmt.via == "tracer":
        interp.effect("format", "jax.debug.print", node, [fmt])
    elif isinstance(fmt, Const) and isinstance(fmt.value, str) and values and "{" not in fmt.value:
        interp.effect("no-placeholder", "jax.debug.print", node, values)


def _key(interp: Interpreter, model: FunctionModel, given: Given, node: cst.CSTNode) -> None:
    """A key is consumed, or split: what ``fold_in`` and ``clone`` derive leaves the key usable."""
    if model.key == "consumes" or model.name == "jax.random.split":
        found = given.get("key") or next(iter(given.values()), None)
        if found is not None:
            prng.consume(interp, found[0], found[1], node, short(model.name))


_JITS = {"jit", "pjit", "pmap", "filter_jit", "filter_pmap"}
_KIND = {
    "annotated_jit": "jit",
    "nnx_jit": "jit",
    "nnx_pmap": "pmap",
    "remat": "checkpoint",
    "jacobian": "jacrev",
    "xla_computation": "traced",
    "filter_grad": "grad",
    "filter_value_and_grad": "value_and_grad",
    "filter_checkpoint": "checkpoint",
    "filter_eval_shape": "eval_shape",
    "filter_make_jaxpr": "make_jaxpr",
    "filter_closure_convert": "plain",
    "linear_transpose": "linear_transpose",
    "closure_convert": "traced",
}
_FILTERS = {"filter_checkpoint", "filter_grad", "filter_value_and_grad"}
"""Transforms of equinox that leave alone what is no array."""
_WRAPPERS = {
    "grad",
    "value_and_grad",
    "jacfwd",
    "jacrev",
    "hessian",
    "vmap",
    "checkpoint",
    "vectorize",
    "shard_map",
    "xmap",
    "named_call",
    "make_jaxpr",
    "traced",
    "filter_vmap",
}
_NUMPY_MADE = {"numpy.array", "numpy.asarray", "numpy.asanyarray"}
"""What gives an array and no scalar, whatever it is given."""
_OTHER_OPTIONS = {
    "**",
    "abstracted_axes",
    "device",
    "backend",
    "in_axis_resources",
    "out_axis_resources",
    "ignore_argnums",
}
"""Options of ``jax.jit`` in other versions, what stands for a ``**`` in the call, and what chex's ``variant``, which is
``jit`` among others, takes besides."""
_FLOW = TURNS | {"cond", "switch"}


def _transform(interp: Interpreter, model: FunctionModel, args: Args, node: cst.CSTNode) -> Value | None:
    """Call a transform; None when it is not one that the engine knows."""
    kind = model.transform or ""
    given = bind(model, args)
    kind = _KIND.get(kind, kind)

    def get(name: str) -> Value | None:
        found = given.get(name)
        return found[0] if found is not None else None

    handler = builtin.TRANSFORMS.get(kind)
    if handler is not None:
        return handler(interp, args, node)
    first = model.parameter(0)
    if kind in _JITS or kind in _WRAPPERS:
        func = get(first.name) if first is not None else (args.pos[0] if args.pos else None)
        options = {k: v for k, (v, _) in given.items() if k != "*rest" and (first is None or k != first.name)}
        nodes = {k: n for k, (_, n) in given.items() if n is not None}
        if args.more is not None:
            options["**"] = args.more
        if func is None or func == NONE:
            return Partial(LibV(model.name), (), {k: v for k, v in options.items() if k != "**"}, node)
        if model.transform in _FILTERS:
            options["filter"] = TRUE
        if model.transform == "annotated_jit":
            options[STATIC_BY_ANNOTATION] = TRUE
        if model.transform in ("nnx_jit", "nnx_pmap"):
            options[CARRIES_OUT] = TRUE
        given_functions = [m for m in members(func) if m != NONE]
        functions = [m for m in given_functions if not isinstance(m, Const | Host | Array)]
        several = len(functions or given_functions) > 1
        results = [_wrap_one(interp, kind, m, options, nodes, node, several) for m in functions or given_functions]
        if model.name == "jax.jit":
            names = [p.name for p in model.params or ()]
            for unknown in (k for k in options if k not in names and k not in _OTHER_OPTIONS):
                for jitted in (r for r in results if isinstance(r, Jitted)):
                    transforms.unknown_option(interp, jitted.entry, unknown, names)
        return union(results)
    if kind == "apply_along_axis":
        func, array = args.pos[0] if args.pos else UNKNOWN, get("arr")
        mapped = Wrapped("vmap", func, {}, node)
        return transforms.call_wrapped(interp, mapped, Args([array if array is not None else UNKNOWN]), node)
    if kind in _FLOW:
        _check_concrete(interp, model, given, node, short(model.name))
        return transforms.control_flow(interp, kind, get, args, node)
    if kind in ("jvp", "vjp", "linearize"):
        inner = args.pos[0] if args.pos else UNKNOWN
        primals = args.pos[1:]
        if kind == "jvp" and primals:
            primals = list(operators.iterate(interp, primals[0], node).items or (UNKNOWN,))
        linear = [transforms._linear(interp, p, node) for p in primals]
        result = transforms.host_call(
            interp, "grad", None, node, False, lambda: calls.call_value(interp, inner, Args(linear), node)
        )
        aux: tuple[Value, ...] = ()
        if args.kw.get("has_aux", FALSE) != FALSE:
            aux = (transforms._delinearize(interp, transforms._aux(result), linear, node, aux=True),)
            result = transforms._first(result)
        out = transforms._delinearize(interp, result, linear, node)
        # What vjp and linearize give is a function that is a pytree.
        return Tup((out, out if kind == "jvp" else Wrapped("tree_partial", UNKNOWN, {}, node), *aux))
    if kind in ("eval_shape", "linear_transpose"):
        func = args.pos[0] if args.pos else UNKNOWN
        filters: dict[str, Value] = {"filter": TRUE} if model.transform == "filter_eval_shape" else {}
        wrapped = Wrapped(kind, func, filters, node)
        if func == UNKNOWN and not filters:
            _traced_shapes(interp, args, node)
        transforms.call_wrapped(interp, wrapped, Args(args.pos[1:], dict(args.kw)), node)
        return UNKNOWN
    if kind == "custom_gradient":
        return transforms.wrap(interp, kind, args.pos[0] if args.pos else UNKNOWN, {}, node)
    if kind in ("custom_jvp", "custom_vjp", "custom_vmap", "custom"):
        func = args.pos[0] if args.pos else None
        return (
            transforms.wrap(interp, "custom", func, {k: v for k, (v, _) in given.items()}, node)
            if func is not None
            else Partial(LibV(model.name), (), dict(args.kw), node)
        )
    if kind in ("tree_map", "tree_map_with_path"):
        func = args.pos[0] if args.pos else UNKNOWN
        return TreeMap(interp, func, node, "path" in kind, get("is_leaf")).over(args.pos[1:])
    if kind in ("callback", "pure_callback", "io_callback", "debug_callback"):
        func = args.pos[0] if args.pos else None
        transforms.callback(interp, func, args.pos[1:], node)
        if kind == "pure_callback" and isinstance(interp.current, cst.Expr) and interp.current.value is node:
            interp.emit(LostUpdate(node=node, unit=interp.unit, method="pure_callback", name=""))
        if kind in ("debug_callback",) or "debug" in model.name:
            return NONE
        result = get("result_shape_dtypes") or UNKNOWN
        out = operators.result_array(interp, args.pos[2:], jax=True, node=node, what="the callback")
        return transforms._mapped(result, lambda _: out)
    if kind == "tree_partial":
        func = args.pos[0] if args.pos else UNKNOWN
        return transforms.wrap(
            interp, "tree_partial", Partial(func, tuple(args.pos[1:]), dict(args.kw), node), {}, node
        )
    return None


def _traced_shapes(interp: Interpreter, args: Args, node: cst.CSTNode) -> None:
    """Record what is passed by the name of a shape to a function that cannot be seen: ``eval_shape`` traces it."""
    for name, value in args.kw.items():
        if (name == "shape" or name.endswith("_shape")) and not any(isinstance(x, Array) for x in leaves(value)):
            leaf = Array(Level.TRACED, maybe=True, origin=interp.origin("traced by `eval_shape` here", node))
            interp.emit(
                NeedsConcrete(
                    node=args.kw_nodes.get(name, node),
                    unit=interp.unit,
                    value=leaf,
                    leaf=leaf,
                    need="shape",
                    what="the function",
                    param=name,
                    error="TypeError",
                    possible=True,
                )
            )


def _wrap_one(
    interp: Interpreter,
    kind: str,
    func: Value,
    options: dict[str, Value],
    nodes: dict[str, cst.CSTNode],
    node: cst.CSTNode,
    alternative: bool,
) -> Value:
    if kind in _JITS:
        return transforms.make_jitted(interp, kind, func, options, nodes, node, alternative)
    return transforms.wrap(interp, kind, func, options, node)
