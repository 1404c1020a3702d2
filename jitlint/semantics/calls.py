"""Calls: binding arguments, running the project's functions, making functions, classes and instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics import chosen, demands, lifetime, operators, prng, restored, skipped, timing
from jitlint.semantics.bare import last_name
from jitlint.semantics.entry import Param
from jitlint.semantics.running import Frame
from jitlint.semantics.source import all_params, remembered, scope_of
from jitlint.semantics.state import Box, Changes
from jitlint.semantics.values import (
    DECLARED,
    NO_LOOPS,
    NONE,
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    Env,
    Func,
    Host,
    Jitted,
    Level,
    LibV,
    ListV,
    ModuleV,
    Narrowed,
    Obj,
    Partial,
    SetV,
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
    traced_leaf,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

MAX_CALL_DEPTH = 40
MAX_MEMO_LEAVES = 64
MAX_YIELDS = 32
"""The elements of a generator that are told apart."""


@dataclass(slots=True)
class Args:
    """The arguments of a call. ``rest`` is any further positional argument (``*unknown``), ``more`` any keyword."""

    pos: list[Value] = field(default_factory=list)
    kw: dict[str, Value] = field(default_factory=dict)
    rest: Value | None = None
    more: Value | None = None
    pos_nodes: list[cst.CSTNode | None] = field(default_factory=list)
    kw_nodes: dict[str, cst.CSTNode] = field(default_factory=dict)

    def node(self, where: int | str) -> cst.CSTNode | None:
        """The expression given at a position or for a keyword."""
        if isinstance(where, str):
            return self.kw_nodes.get(where)
        return self.pos_nodes[where] if 0 <= where < len(self.pos_nodes) else None

    def values(self) -> list[Value]:
        """Every value passed."""
        return [*self.pos, *self.kw.values(), *(v for v in (self.rest, self.more) if v is not None)]

    def get(self, position: int, name: str) -> Value | None:
        """The argument at a position or by keyword."""
        if position < len(self.pos):
            return self.pos[position]
        return self.kw.get(name)

    def before(self, *values: Value) -> Args:
        """The same with more positional arguments in front."""
        return Args(
            [*values, *self.pos],
            dict(self.kw),
            self.rest,
            self.more,
            [*([None] * len(values)), *self.pos_nodes],
            dict(self.kw_nodes),
        )


def call_node(interp: Interpreter, node: cst.Call) -> Value:
    """A call expression."""
    if (
        type(node.func) is cst.Name
        and node.func.value == "super"
        and interp.lookup("super", None) == LibV("builtins.super")
    ):
        return _super(interp, node)
    return chosen.call(interp, node, lambda: _call(interp, node)) if interp.frames[-1].chosen else _call(interp, node)


def _call(interp: Interpreter, node: cst.Call) -> Value:
    func = interp.eval(node.func)
    enough = _READ_UP_TO.get(func.name) if type(func) is LibV else None
    pos: list[Value] = []
    pos_nodes: list[cst.CSTNode | None] = []
    args = Args(pos, {}, None, None, pos_nodes, {})
    for a in node.args:
        given = a.value
        if enough is not None and isinstance(given, cst.GeneratorExp):
            value: Value = interp.generator(given, enough)
        else:
            value = interp.eval(given)
        if a.star:
            _unpack(interp, args, value, a)
        elif a.keyword is not None:
            args.kw[a.keyword.value] = value
            args.kw_nodes[a.keyword.value] = given
        elif args.rest is not None:  # nobody knows at which position
            args.rest = join(args.rest, value)
        else:
            pos.append(value)
            pos_nodes.append(given)
    return call_value(interp, func, args, node)


_READ_UP_TO: dict[str, Callable[[Value], bool]] = {
    "builtins.next": lambda v: True,
    "builtins.any": lambda v: operators.known_truth(v) is True,
    "builtins.all": lambda v: operators.known_truth(v) is False,
}
"""Builtins that read an iterator no further than to an element of which this is true."""


def _unpack(interp: Interpreter, args: Args, value: Value, given: cst.Arg) -> None:
    """Add what an argument with stars holds."""
    demands.note_unpacked(value, given.value)
    if given.star == "**":
        _keywords(args, value, given.value)
        return
    content = operators.iterate(interp, value, given.value)
    if content.items is not None and args.rest is None:
        args.pos.extend(content.items)
        args.pos_nodes.extend([given.value] * len(content.items))
    else:
        args.rest = content.any_item() if args.rest is None else join(args.rest, content.any_item())


def _keywords(args: Args, value: Value, node: cst.CSTNode) -> None:
    if isinstance(value, DictV):
        for k, v in value.entries().items():
            if isinstance(k, str):
                args.kw[k] = v
                args.kw_nodes[k] = node
        if value.rest is not None:
            args.more = value.rest
    else:
        args.more = UNKNOWN


def _super(interp: Interpreter, node: cst.Call) -> Value:
    frame: Frame | None = interp.frame
    while frame is not None and (frame.func is None or frame.func.owner is None):
        frame = frame.caller if frame.func is not None and isinstance(frame.func.lazy, cst.Lambda) else None
    if frame is None or frame.args_self is None or frame.func is None:
        return UNKNOWN
    return SuperV(frame.args_self, frame.func.owner)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class SuperV(Value):
    """``super()`` in a method."""

    self: Value
    owner: ClassV


def call_value(interp: Interpreter, func: Value, args: Args, node: cst.CSTNode) -> Value:
    """Call anything. Unknown callees give Unknown."""
    caller = interp.callers.get(type(func))
    if caller is not None:
        return caller(interp, func, args, node)
    if isinstance(func, Tree):
        demands.note(func, "call")
    escape(interp, args)
    timing.waited(interp)
    return UNKNOWN


def call_partial(interp: Interpreter, func: Partial, args: Args, node: cst.CSTNode) -> Value:
    """Call what ``functools.partial`` made."""
    known = func.rest is None  # else it is not known where those of the call come
    merged = Args(
        [*func.args, *(args.pos if known else ())],
        {**func.kwargs, **args.kw},
        args.rest if known else func.rest,
        args.more if func.more is None else func.more,
        [*([None] * len(func.args)), *(args.pos_nodes if known else ())],
        dict(args.kw_nodes),
    )
    return call_value(interp, func.func, merged, node)


def call_instance(interp: Interpreter, func: Obj, args: Args, node: cst.CSTNode) -> Value:
    """Call an instance of a class."""
    from jitlint.semantics import linen

    cls = func.project_class
    method = cls.lookup("__call__") if cls is not None else None
    if cls is not None and cls.facts.module == "linen" and isinstance(method, Func):
        return linen.run(interp, func, method, args, node)
    return UNKNOWN if method is None else call_value(interp, Bound(method, func), args, node)


def call_either(interp: Interpreter, func: Union, args: Args, node: cst.CSTNode) -> Value:
    """Call one of several alternatives, nobody knows which."""
    results: list[Value] = []
    callables = [m for m in func.members if m != NONE]
    if any(isinstance(m, LibV) and m.name.startswith("jax.numpy.") for m in callables) and any(
        traced_leaf(v) is not None for v in args.values()
    ):
        # code for both takes numpy for what is no jax array
        callables = [m for m in callables if not (isinstance(m, LibV) and m.name.startswith("numpy."))]

    def arm(m: Value) -> Callable[[], bool]:
        def run() -> bool:
            with interp.perhaps(len(callables) > 1):
                results.append(call_value(interp, m, args, node))
            return True

        return run

    if not callables:
        return UNKNOWN
    interp.fork([arm(m) for m in callables])
    return union(results)


def escape(interp: Interpreter, args: Args) -> None:
    """Values handed to code that cannot be seen: lists and dicts among them may change there."""
    for v in args.values():
        lifetime.keep(interp, v, "argument")
        if isinstance(v, ListV) and v.content.items is not None and not v.content.items:
            interp.trail.write(v, "content", Tup(None, UNKNOWN))


# ------------------------------------------------------------------------------------------------ signatures


def parameters(node: cst.FunctionDef | cst.Lambda) -> list[Param]:
    """The parameters of a function, without default values."""
    return [Param(p.name, p.kind, p.has_default, p.annotation) for p in _declared(node)]


@remembered
def _declared(node: cst.FunctionDef | cst.Lambda) -> tuple[Param, ...]:
    """The parameters of a function, not to be changed."""
    p = node.params
    out: list[Param] = []

    def add(x: cst.Param, kind: str) -> None:
        annotation = x.annotation.annotation if x.annotation is not None else None
        out.append(Param(x.name.value, kind, x.default is not None, annotation))

    for x in p.posonly_params:
        add(x, "posonly")
    for x in p.params:
        add(x, "pos")
    if isinstance(p.star_arg, cst.Param):
        add(p.star_arg, "args")
    for x in p.kwonly_params:
        add(x, "kwonly")
    if p.star_kwarg is not None:
        add(p.star_kwarg, "kwargs")
    return tuple(out)


def signature(interp: Interpreter, func: Value, depth: int = 0) -> tuple[Param, ...] | None:
    """The parameters that a caller of ``func`` sees, as ``inspect.signature`` gives them; None when not known."""
    if depth > 8:
        return None
    match func:
        case Func():
            wrapped = func.attrs.get("__wrapped__")
            if wrapped is not None:
                return signature(interp, wrapped, depth + 1)
            out = parameters(func.node)
            for p in out:
                p.default = func.defaults.get(p.name)
            return tuple(out)
        case Bound(func=LibV(name=name)) if name.startswith("linen."):
            from jitlint.semantics import linen

            return linen.signature(name.removeprefix("linen."))
        case Bound(func=inner):
            params = signature(interp, inner, depth + 1)
            return params[1:] if params and params[0].kind in ("pos", "posonly") else params
        case Partial():
            params = signature(interp, func.func, depth + 1)
            if params is None or func.rest is not None:
                return None
            left: list[Param] = []
            skip = len(func.args)
            after_keyword = False
            for p in params:
                if p.kind in ("pos", "posonly") and skip > 0:
                    skip -= 1
                    continue
                if p.name in func.kwargs:
                    after_keyword = True
                    left.append(Param(p.name, "kwonly", True, p.annotation, func.kwargs[p.name]))
                elif after_keyword and p.kind == "pos":
                    left.append(Param(p.name, "kwonly", p.has_default, p.annotation, p.default))
                else:
                    left.append(p)
            return tuple(left)
        case Wrapped():
            return signature(interp, func.func, depth + 1)
        case Jitted(entry=entry):
            return entry.params
        case ClassV():
            init = func.lookup("__init__")
            return signature(interp, Bound(init, NONE), depth + 1) if init is not None else None
        case Obj():
            cls = func.project_class
            call = cls.lookup("__call__") if cls is not None else None
            return signature(interp, Bound(call, func), depth + 1) if call is not None else None
    return None


def given_by_name(func: Value) -> set[str]:
    """The parameters that ``partial`` gives by keyword: what callers see as defaults."""
    names: set[str] = set()
    while isinstance(func, Partial | Wrapped):
        if isinstance(func, Partial):
            names |= func.kwargs.keys()
        func = func.func
    return names


def gives_more(func: Value) -> bool:
    """Does ``partial`` give keywords of which it is not known which they are?"""
    while isinstance(func, Partial | Wrapped):
        if isinstance(func, Partial) and func.more is not None:
            return True
        func = func.func
    return False


def underlying(func: Value, depth: int = 0) -> Func | None:
    """The function of the project that runs in the end when ``func`` is called."""
    if depth > 8:
        return None
    match func:
        case Func():
            return func
        case Bound(func=inner) | Wrapped(func=inner) | Partial(func=inner):
            return underlying(inner, depth + 1)
        case Jitted(entry=entry):
            return entry.target
        case Obj():
            cls = func.project_class
            call = cls.lookup("__call__") if cls is not None else None
            return underlying(call, depth + 1) if call is not None else None
    return None


@dataclass(slots=True)
class Binding:
    """Arguments by parameter. ``spelling`` says how each was passed: ``pos`` or ``kw``."""

    values: dict[str, Value] = field(default_factory=dict)
    nodes: dict[str, cst.CSTNode] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    extra: list[Value] = field(default_factory=list)
    """Elements of ``*args``."""
    extra_kw: dict[str, Value] = field(default_factory=dict)
    loose: bool = False
    """Unknown ``*rest`` or ``**more`` took part: parameters without a value may still be passed."""
    surplus: bool = False
    """There are more arguments than parameters."""


def bind(params: tuple[Param, ...] | list[Param], args: Args) -> Binding:
    """Match arguments to parameters as Python does, leniently."""
    out = Binding(loose=args.rest is not None or args.more is not None)
    positional: list[Param] = []
    star = False
    by_name: set[str] = set()
    for p in params:
        kind = p.kind
        if kind == "pos":
            positional.append(p)
            by_name.add(p.name)
        elif kind == "kwonly":
            by_name.add(p.name)
        elif kind == "posonly":
            positional.append(p)
        elif kind == "args":
            star = True
    for i, v in enumerate(args.pos):
        if i < len(positional):
            name = positional[i].name
            out.values[name] = v
            out.spelling[name] = "pos"
            out.positions[name] = i
            node = args.node(i)
            if node is not None:
                out.nodes[name] = node
        elif star:
            out.extra.append(v)
        else:
            out.surplus = True
    for k, v in args.kw.items():
        if k in by_name:
            if k not in out.values:
                out.values[k] = v
                out.spelling[k] = "kw"
            if k in args.kw_nodes:
                out.nodes[k] = args.kw_nodes[k]
        else:
            out.extra_kw[k] = v
    if args.rest is not None:
        for p in positional[len(args.pos) :]:
            if p.name not in out.values and not p.has_default:
                out.values[p.name] = args.rest
                out.spelling[p.name] = "pos"
    return out


# ------------------------------------------------------------------------------------------------ running functions


def make_function(interp: Interpreter, node: cst.FunctionDef | cst.Lambda) -> Func:
    """The function object that a ``def`` or ``lambda`` makes."""
    frame = interp.frame
    name = node.name.value if isinstance(node, cst.FunctionDef) else "<lambda>"
    owner = frame.class_body
    prefix = owner.qualname if owner is not None else frame.qualname
    func = Func(name, f"{prefix}.{name}" if prefix else name, frame.closure(), interp.unit, node, owner=owner)
    func.loops = interp.around()
    func.frame = frame if frame.func is not None else None
    scope: Env | None = frame.env
    while scope is not None and not scope.captured:
        scope.captured = True
        scope = scope.parent
    func.moment = interp.moment()
    func.birth = interp.tick()
    for p in [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]:
        if p.default is not None:
            func.defaults[p.name.value] = interp.eval(p.default)
    if not interp.quiet:
        interp.functions.append(func)
    return func


def decorate(interp: Interpreter, decorator: cst.Decorator, value: Value, node: cst.FunctionDef) -> Value:
    """Apply one decorator of a ``def``."""
    from jitlint.semantics import library, transforms

    expr = decorator.decorator
    dec = interp.eval(expr)
    if isinstance(dec, LibV):
        flavour = _FLAVOURS.get(dec.name)
        if flavour is not None:
            if isinstance(value, Func):
                value.flavour = flavour
                return value
            if isinstance(value, Jitted):
                value.attrs["flavour"] = Const(flavour)
                return value
            return value
        if interp.knowledge.function(dec.name) is None or not library.decorates(interp, dec.name):
            return UNKNOWN if dec.name.split(".")[0] in _FOREIGN_COMPILERS else _rewrapped(value)
    if (
        isinstance(dec, Bound)
        and isinstance(dec.func, Func | Jitted) is False
        and isinstance(expr, cst.Attribute)
        and expr.attr.value in ("setter", "deleter", "register")
    ):
        if isinstance(dec.self, Func) and isinstance(value, Func) and expr.attr.value == "setter":
            dec.self.attrs["fset"] = value
        return dec.self if isinstance(dec.self, Func) and expr.attr.value != "register" else value
    if isinstance(dec, Unknown):
        made_by = interp.eval(expr.func) if isinstance(expr, cst.Call) else dec
        foreign = any(isinstance(m, LibV) and m.name.split(".")[0] in _FOREIGN_COMPILERS for m in members(made_by))
        return UNKNOWN if foreign else _rewrapped(value)
    with transforms.decorating(interp, expr):
        out = call_value(interp, dec, Args([value], pos_nodes=[node]), expr)
    if isinstance(out, Unknown) and isinstance(dec, LibV | Partial | Bound):
        made: Value = dec
        while isinstance(made, Partial):
            made = made.func
        model = interp.knowledge.function(made.name) if isinstance(made, LibV) else None
        # a transform that is not followed passes other arguments on than it gets
        return _rewrapped(value) if model is None or model.transform is None else UNKNOWN
    return out


def _rewrapped(value: Value) -> Value:
    """What is taken for the result of a decorator that is not followed: the function itself."""
    if isinstance(value, Func):
        value.rewrapped = True
    return value


def is_dispatched(node: cst.FunctionDef) -> bool:
    """Is it one of several functions of that name, told apart by the types of arguments (plum, multipledispatch …)?"""
    for decorator in node.decorators:
        named = decorator.decorator
        if isinstance(named, cst.Call):
            named = named.func
        if last_name(named) in ("dispatch", "multimethod"):
            return True
    return False


_FLAVOURS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "cached_property",
    "abc.abstractmethod": "abstract",
    "typing.overload": "overload",
    "contextlib.contextmanager": "contextmanager",
    "abc.abstractproperty": "property",
    "functools.lru_cache": "lru_cache",
    "functools.cache": "lru_cache",
}
_FOREIGN_COMPILERS = {"numba", "triton", "cutlass", "torch", "tensorflow", "pennylane", "warp"}


def call_function(interp: Interpreter, func: Func, args: Args, node: cst.CSTNode | None) -> Value:
    """Run a function of the project with these arguments."""
    if interp.steps > interp.budget:
        interp.missed.rest(interp)
        skipped.note(interp)
        return UNKNOWN
    lazy = func.lazy
    if len(interp.frames) > MAX_CALL_DEPTH or interp.running.get(id(lazy), 0) >= 2:
        return _left_out(interp, func, args, node)
    key = id(lazy)
    interp.called[key] = interp.called.get(key, 0) + 1
    if interp.staging:
        interp.called_in_traces.add(key)
    if interp.effort.leaves_out(interp, key):
        return _left_out(interp, func, args, node)
    params = _declared(lazy)
    binding = bind(params, args)
    if (interp.forks or interp.unsure) and _misfit(func, params, binding):
        return UNKNOWN  # of several functions or branches, it is not this one that Python comes to
    if binding.surplus and func.rewrapped:
        return UNKNOWN  # a decorator that is not followed has made another function of it
    env = Env(func.env, func.name)
    for p in params:
        env.slots[p.name] = _argument(interp, func, p, binding, args, node)
    if func.rewrapped:
        env.slots.update({k: UNKNOWN for k, v in env.slots.items() if isinstance(v, Array) and v.level is Level.NUMPY})
    interp.unsure += func.rewrapped
    try:
        return _run(interp, func, env, binding, args, node)
    finally:
        interp.unsure -= func.rewrapped


def _run(interp: Interpreter, func: Func, env: Env, binding: Binding, args: Args, node: cst.CSTNode | None) -> Value:
    if func.flavour == "lru_cache":
        return _call_cached(interp, func, env, binding, node)
    memo_key = _memo_key(interp, func, env)
    if memo_key is not None:
        known = interp.memo.get(memo_key)  # hashing it takes long
        if known is not None:
            return known
    key = id(func.lazy)
    begun = interp.effort.begin(interp, key)
    try:
        return _run_memoised(interp, func, env, node, args, memo_key)
    finally:
        interp.effort.end(interp, key, begun)


def _left_out(interp: Interpreter, func: Func, args: Args, node: cst.CSTNode | None) -> Value:
    """A call that is not run."""
    values = {str(i): v for i, v in enumerate(args.pos)} | args.kw | bind(_declared(func.lazy), args).values
    receiver = args.pos[0] if func.owner is not None and args.pos else None
    return skipped.skip(interp, func, values, receiver, node)


def _misfit(func: Func, params: Sequence[Param], binding: Binding) -> bool:
    """Would Python refuse the call, as one with too many arguments, or too few?"""
    if binding.loose or func.flavour or not isinstance(func.lazy, cst.FunctionDef) or func.lazy.decorators:
        return False
    kinds = {p.kind for p in params}
    missing = any(
        p.kind in ("pos", "posonly", "kwonly") and p.name not in binding.values and not p.has_default for p in params
    )
    return missing or bool(binding.extra_kw) and "kwargs" not in kinds or binding.surplus


def _run_memoised(
    interp: Interpreter, func: Func, env: Env, node: cst.CSTNode | None, args: Args, memo_key: Any | None
) -> Value:
    if memo_key is None:
        return run_body(interp, func, env, node, args.pos[0] if args.pos else None)
    mark, activity, birth, begun = interp.trail.mark(), interp.activity, Box.clock, interp.time
    result = run_body(interp, func, env, node, args.pos[0] if args.pos else None)
    # on the host every event counts (a call of a jitted function, a site), and a function that is made is a new one
    # each time; under a trace the same inputs give the same
    if (
        (interp.traces or interp.activity == activity and not _function_since(result, begun))
        and _plain(result)
        and interp.steps <= interp.budget
        and all(box is env or box.birth > birth for box, _, _ in interp.trail.changes(mark).values())
    ):
        interp.memo[memo_key] = result
    return result


def _call_cached(interp: Interpreter, func: Func, env: Env, binding: Binding, node: cst.CSTNode | None) -> Value:
    from jitlint.semantics.events import OuterWrite

    refused = False
    for name, v in binding.values.items():
        at = binding.nodes.get(name) or node
        if at is not None and interp.traces:
            what = f"the cache of `{func.name}`"
            refused |= operators.needs_concrete(interp, v, at, "hash", what, "TypeError", name)
    if refused:
        return run_body(interp, func, env, node, None)
    key = ("lru", func, tuple(fingerprint(v) for v in env.slots.values()))
    known = interp.memo.get(key)
    if known is not None:
        return known
    outer = interp.loops
    changing = _loops_of(env)
    interp.loops = [loop for loop in outer if loop in changing]
    try:
        result = run_body(interp, func, env, node, None)
    finally:
        interp.loops = outer
    lifetime.keep(interp, result, "cache")
    leaf = traced_leaf(result)
    if leaf is not None and interp.staging and node is not None:
        interp.emit(OuterWrite(node=node, unit=interp.unit, kind="cache", name=func.name, leaf=leaf))
        interp.leaking_memo.append((key, node, interp.unit))
    interp.memo[key] = result
    return result


def _loops_of(env: Env) -> frozenset[Any]:
    """The loops over which some variable of a scope changes."""
    return frozenset().union(*(getattr(leaf, "loops", NO_LOOPS) for v in env.slots.values() for leaf in leaves(v)))


def _argument(
    interp: Interpreter, func: Func, p: Param, binding: Binding, args: Args, node: cst.CSTNode | None
) -> Value:
    if p.kind == "args":
        if args.rest is not None:
            return Tup(None, join_all([*binding.extra, args.rest]))
        return Tup(tuple(binding.extra))
    if p.kind == "kwargs":
        return DictV(binding.extra_kw, args.more)
    value = binding.values.get(p.name)
    if value is None:
        if binding.loose and p.name not in func.defaults:
            return args.more if args.more is not None else UNKNOWN
        default = func.defaults.get(p.name)
        if default is None:
            return UNKNOWN
        if func.configured or p.name != "self" and func.owner is not None and func.owner.facts.configured:
            return elsewhere(default)
        return join(default, args.more) if args.more is not None and p.kind in ("pos", "kwonly") else default
    if (
        node is not None
        and interp.traces
        and isinstance(value, Array)
        and value.is_traced
        and value.origin is not None
        and func.name != "<lambda>"
        and interp.traces[-1].frame_at < len(interp.frames)
    ):
        at = binding.nodes.get(p.name, node)
        return replace(value, origin=interp.origin(f"passed to `{func.name}` as `{p.name}`", at, value.origin))
    return value


def _memo_key(interp: Interpreter, func: Func, env: Env) -> Any | None:
    """A key under which the result can be reused: everything it depends on, as far as that can change."""
    prints: list[Any] = []
    for v in env.slots.values():
        f = fingerprint(v)
        if f is None:
            return None
        prints.append(f)
    traces = tuple([(t.kind, t.entry) for t in interp.traces])
    guards = tuple(interp.guards) if interp.traces else None
    unsure = interp.unsure > 0
    outer = func.env.parent if isinstance(func.env, Narrowed) and func.env.parent is not None else func.env
    return (func, outer.version, interp.epoch, interp.compile_time, unsure, traces, guards, tuple(prints))


def fingerprint(v: Value, depth: int = 0) -> Any | None:
    """A hashable image of a value; None where it has mutable or unbounded parts."""
    if depth > 4:
        return None
    match v:
        case Unknown() | LibV():
            return v
        case Const() | Host():
            return (v, v.loops) if v.loops else v
        case Array():
            # a function that gives back the key it was given gives back that one
            return (v, v.loops, v.shape_loops, v.via if prng.is_token(v.via) else None)
        case Tree():
            return v
        case Tup(items=items, elem=elem):
            parts = tuple(
                fingerprint(i, depth + 1) for i in (items if items is not None else (elem,) if elem is not None else ())
            )
            return None if None in parts or len(parts) > MAX_MEMO_LEAVES else ("tup", items is None, parts)
        case Func() | Jitted() | ClassV() | Wrapped() | Partial() | ModuleV():
            return ("id", v)  # itself: another one could come to have its id
        case ListV():
            content = fingerprint(v.content, depth + 1)
            return None if content is None else ("list", v.kind, content)
        case DictV() if len(v.slots) <= 16:
            entries = tuple((k, fingerprint(x, depth + 1)) for k, x in v.slots.items())
            return None if any(x is None for _, x in entries) else ("dict", entries)
        case Obj():
            inner = tuple(x.version for x in v.slots.values() if isinstance(x, Box))
            return ("obj", v, v.version, inner)
        case Bound(func=f, self=s):
            a, b = fingerprint(f, depth + 1), fingerprint(s, depth + 1)
            return None if a is None or b is None else ("bound", a, b)
        case Union(members=ms):
            parts = tuple(fingerprint(m, depth + 1) for m in ms)
            return None if None in parts else ("union", parts)
    return None


def _plain(v: Value) -> bool:
    """Can the result be handed out again? Not when it holds something mutable, which each caller must have anew."""
    match v:
        case Tup(items=items, elem=elem):
            return all(_plain(i) for i in (items if items is not None else (elem,) if elem is not None else ()))
        case Union(members=ms):
            return all(_plain(m) for m in ms)
        case Bound(self=s):
            return _plain(s)
    return not isinstance(v, Box) or isinstance(v, ClassV | ModuleV)


def _function_since(v: Value, begun: int) -> bool:
    """Does it hold a function object that may have been made after that time?"""
    match v:
        case Func(birth=birth):
            return birth > begun
        case Partial() | Wrapped():
            return True
        case Tup(items=items):
            return any(_function_since(i, begun) for i in items or ())
        case Union(members=ms):
            return any(_function_since(m, begun) for m in ms)
    return False


def run_body(interp: Interpreter, func: Func, env: Env, node: cst.CSTNode | None, self_value: Value | None) -> Value:
    """Run a function's body in a scope whose parameters are bound."""
    frame = Frame(
        env,
        func.unit,
        module_of(interp, func),
        func.qualname,
        func,
        call=node,
        caller=interp.frames[-1] if interp.frames else None,
    )
    frame.args_self = self_value
    key, running = id(func.lazy), interp.running
    running[key] = running.get(key, 0) + 1
    interp.frames.append(frame)
    if type(func.lazy) is cst.Lambda:
        try:
            value = interp.eval(func.lazy.body)
            lifetime.keep(interp, value, "returned")
            return value
        finally:
            interp.frames.pop()
            running[key] -= 1
    frame.scope = scope_of(func.lazy, func.unit.statement.text)
    frame.mark = interp.trail.mark()
    frame.forks = interp.forks
    if interp.watch is not None:
        for p in all_params(func.lazy.params):
            interp.watch(frame, p, env.slots[p.name.value])
    loops, interp_guards = len(interp.loops), len(interp.guards)
    try:
        falls = interp.block(func.lazy.body)
    finally:
        interp.frames.pop()
        running[key] -= 1
        interp.concrete -= frame.concrete
        del interp.loops[loops:]
        del interp.guards[interp_guards:]
    exits = frame.exits
    result: Value
    if exits:
        alternatives: list[Changes] = [c for _, c in exits]
        values = [v for v, _ in exits]
        if falls or frame.straight is not None:
            alternatives.append(interp.trail.changes(frame.mark))
            values.append(NONE if frame.straight is None else frame.straight)
        interp.trail.undo(frame.mark)
        interp.trail.merge(alternatives, join)
        result = values[0] if len(values) == 1 else operators.decided_by(union(values), frame.decided)
    elif frame.straight is not None:
        result = frame.straight
    else:
        result = NONE if falls and not _is_stub(func) else UNKNOWN
    if not env.captured:
        interp.trail.forget(frame.mark, env)
        if not frame.calls_jitted:
            interp.forget_writes(env)
    yields = frame.yields
    frame.end()
    if frame.scope is not None and frame.scope.generator:
        if func.flavour == "contextmanager":
            return ContextV(union(yields) if yields else UNKNOWN, restored.names_put_back(func.lazy))
        if frame.yields_all and len(yields) <= MAX_YIELDS and not exits:
            return Tup(tuple(yields), kind="iterator")
        return Tup(None, union(yields) if yields else UNKNOWN, kind="iterator")
    if isinstance(func.lazy, cst.FunctionDef) and func.lazy.asynchronous is not None:
        return Host("coroutine")
    if isinstance(result, Array) and result.level is Level.HOST and result.maybe:
        return _as_declared(interp, func, result)
    return result


def _as_declared(interp: Interpreter, func: Func, result: Array) -> Value:
    """What a function gives that makes it of what is an array only as far as a class declares: a number, where it says
    so itself."""
    returns = func.lazy.returns if isinstance(func.lazy, cst.FunctionDef) else None
    said = from_annotation(interp, returns.annotation) if returns is not None else None
    return said if isinstance(said, Host) and said.type in operators.NUMBERS else result


def _is_stub(func: Func) -> bool:
    """Is it a method without a body, which stands for those of the classes below?"""
    if func.owner is None or not isinstance(func.lazy, cst.FunctionDef):
        return False
    body = func.lazy.body.body
    lines = [s for line in body for s in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,))]
    return all(
        isinstance(s, cst.Pass)
        or isinstance(s, cst.Expr)
        and isinstance(s.value, cst.Ellipsis | cst.SimpleString | cst.ConcatenatedString)
        for s in lines
    )


@dataclass(frozen=True, slots=True)
class ContextV(Value):
    """A context manager made by a generator; entering gives ``value``."""

    value: Value
    puts_back: frozenset[str]
    """What it puts back at its end, see :func:`restored.names_put_back`."""


def module_of(interp: Interpreter, func: Func) -> ModuleV:
    found = interp.modules.get(func.unit.module.display)
    assert found is not None
    return found


def enter_context(interp: Interpreter, value: Value, node: cst.CSTNode) -> Value:
    """What ``with value as x`` binds to x."""
    match value:
        case ContextV(value=v):
            return v
        case Obj():
            cls = value.project_class
            enter = cls.lookup("__enter__") if cls is not None else None
            if enter is not None:
                return call_value(interp, Bound(enter, value), Args(), node)
    return UNKNOWN


# ------------------------------------------------------------------------------------------------ classes


def make_class(interp: Interpreter, node: cst.ClassDef) -> ClassV:
    """The class object that a ``class`` statement makes."""
    from jitlint.semantics import classes

    outer = interp.frame
    bases = tuple(interp.eval(b.value) for b in node.bases if b.star == "")
    prefix = outer.class_body.qualname if outer.class_body is not None else outer.qualname
    cls = ClassV(
        node.name.value,
        f"{prefix}.{node.name.value}" if prefix else node.name.value,
        node,
        interp.unit,
        outer.env,
        bases,
    )
    cls.made_in = outer.number if outer.func is not None else None
    cls.loops = interp.around()
    keywords = {k.keyword.value: interp.eval(k.value) for k in node.keywords if k.keyword is not None}
    frame = Frame(outer.env, interp.unit, outer.module, cls.qualname, outer.func, caller=outer, class_body=cls)
    interp.frames.append(frame)
    try:
        interp.block(node.body)
    finally:
        interp.frames.pop()
    if not interp.quiet:
        interp.classes.append(cls)
    classes.inherit(interp, cls, keywords)
    for name, value in list(cls.slots.items()):
        hook = value.project_class.lookup("__set_name__") if isinstance(value, Obj) and value.project_class else None
        if isinstance(hook, Func) and isinstance(name, str):
            call_value(interp, Bound(hook, value), Args([cls, Const(name)]), node)
    return cls


def decorate_class(interp: Interpreter, decorator: cst.Decorator, value: Value) -> Value:
    """Apply one decorator of a class."""
    from jitlint.semantics import classes, transforms

    dec = interp.eval(decorator.decorator)
    if isinstance(value, ClassV) and classes.apply_decorator(interp, dec, value):
        return value
    if isinstance(dec, Func | Bound) or classes.is_jax_jit(dec):
        with transforms.decorating(interp, decorator.decorator):
            out = call_value(interp, dec, Args([value]), decorator.decorator)
        if not isinstance(out, Unknown):
            return out
    if isinstance(value, ClassV) and not classes.is_mark(dec):
        value.facts.opaque = True
    return value


def instantiate(interp: Interpreter, cls: ClassV, args: Args, node: cst.CSTNode) -> Value:
    """An instance of a class of the project."""
    from jitlint.semantics import conventions

    facts = cls.facts
    model = conventions.model_of(interp, cls) if facts.namedtuple or facts.dataclass else None
    if model is not None:
        conventions.note(interp, model, args)
    if facts.enum:
        return Obj(cls, node)
    obj = Obj(cls, node, open_=cls.opaque() and not facts.dataclass)
    obj.loops = interp.around()
    obj.made_in = interp.frame.number
    obj.moment = interp.moment()
    init = cls.lookup("__init__")
    # what a decorator puts around the constructor of a dataclass calls that, as a rule
    around = isinstance(init, Func) and init.owner is None
    if facts.fields and (init is None or around and facts.dataclass):
        params = [Param(f, "pos", f in cls.slots) for f in facts.fields]
        binding = bind(params, args)
        for f in facts.fields:
            value = binding.values.get(f)
            if value is None:
                value = field_default(interp, cls, f) if not binding.loose else UNKNOWN
            obj.slots[f] = value
        post = cls.lookup("__post_init__")
        if post is not None:
            call_value(interp, Bound(post, obj), Args(), node)
    if init is not None:
        call_value(interp, Bound(init, obj), args, node)
    return obj


def field_default(interp: Interpreter, cls: ClassV, name: str) -> Value:
    """The default of a dataclass field (``field(default=…)`` taken apart)."""
    value = cls.lookup(name)
    if cls.facts.configured:
        default = value.default if isinstance(value, FieldV) else value
        return elsewhere(default) if default is not None else UNKNOWN
    if isinstance(value, FieldV):
        if value.default is not None:
            return value.default
        if value.factory is not None:
            return call_value(interp, value.factory, Args(), cls.node)
        return UNKNOWN
    return value if value is not None else UNKNOWN


def elsewhere(default: Value) -> Value:
    """What a setting may be whose default a configuration replaces: of the same type, where it has one."""
    kind = py_type(default)
    return Host(kind) if kind in (*operators.NUMBERS, "str") else UNKNOWN


JAX_ARRAY = {
    "jax.Array",
    "jax.numpy.ndarray",
    "jax.interpreters.xla.DeviceArray",
    "jax.typing.ArrayLike",
    "chex.Array",
    "jaxtyping.Array",
}


@dataclass(frozen=True, slots=True)
class FieldV(Value):
    """``dataclasses.field(…)`` and the like."""

    default: Value | None
    factory: Value | None
    static: bool


def is_callable(v: Value) -> bool | None:
    """``callable(v)`` where known."""
    match v:
        case Func() | Bound() | Partial() | Wrapped() | Jitted() | ClassV():
            return True
        case Host(type="function"):
            return True
        case Const() | Host() | Array() | Tup() | ListV() | DictV() | SetV() | Tree():
            return False
        case Obj():
            cls = v.project_class
            if cls is None or cls.opaque():
                return None
            return cls.lookup("__call__") is not None
    return None


# ------------------------------------------------------------------------------------------------ annotations


def from_annotation(interp: Interpreter, node: cst.BaseExpression, depth: int = 0) -> Value | None:
    """A host value of the type that an annotation names; None where it says nothing."""
    if depth > 4:
        return None
    if type(node) is cst.SimpleString:
        try:
            parsed = cst.parse_expression(str(node.evaluated_value))
        except cst.ParserSyntaxError:
            return None
        return from_annotation(interp, parsed, depth + 1)
    if type(node) is cst.BinaryOperation and type(node.operator) is cst.BitOr:
        parts = [from_annotation(interp, node.left, depth + 1), from_annotation(interp, node.right, depth + 1)]
        return union(p for p in parts if p is not None) if None not in parts else None
    if type(node) is cst.Name and node.value == "None":
        return NONE
    inner: list[cst.BaseExpression] = []
    target = node
    if type(node) is cst.Subscript:
        target = node.value
        inner = [e.slice.value for e in node.slice if type(e.slice) is cst.Index]
    if type(target) is not cst.Name and type(target) is not cst.Attribute:
        return None
    interp.quiet += 1
    try:
        kind = interp.eval(target)
    finally:
        interp.quiet -= 1
    if isinstance(kind, ClassV):
        return instance_of(interp, kind, depth)
    if not isinstance(kind, LibV):
        return None
    name = kind.name
    scalars = {
        "builtins.int": "int",
        "builtins.float": "float",
        "builtins.bool": "bool",
        "builtins.str": "str",
        "builtins.complex": "complex",
    }
    if name in scalars:
        return Host(scalars[name])
    if name == "typing.Optional" and inner:
        one = from_annotation(interp, inner[0], depth + 1)
        return union([one, NONE]) if one is not None else None
    if name == "typing.Union":
        parts = [from_annotation(interp, i, depth + 1) for i in inner]
        return union(p for p in parts if p is not None) if None not in parts else None
    if name in ("typing.Literal", "typing_extensions.Literal") and inner:
        return join_all(interp.eval(i) for i in inner)
    if name in ("typing.Annotated", "typing.Final", "typing.ClassVar") and inner:
        return from_annotation(interp, inner[0], depth + 1)
    if name in ("numpy.ndarray", "numpy.typing.NDArray"):
        return Array(Level.NUMPY)
    model = interp.knowledge.class_(name)
    if name in JAX_ARRAY or model is not None and model.kind in ("array", "key"):
        if _writes_kernels(interp):
            return None  # kernels call their references arrays, too
        if model is not None and model.kind == "key":
            return Array(Level.HOST, "key")
        if inner:
            return _of_dtype(from_annotation(interp, inner[0], depth + 1))  # whose arrays comes first
        return union([Array(Level.HOST), Array(Level.NUMPY)]) if name == "jax.typing.ArrayLike" else Array(Level.HOST)
    if name in ("typing.Callable", "collections.abc.Callable"):
        return Host("function")
    if name in _CONTAINERS:
        return _container(interp, _CONTAINERS[name], inner, depth)
    if model is not None and model.kind in ("object", "optimizer", "linen", "haiku"):
        return Obj(LibV(name), node, open_=True)
    return None


_CONTAINERS = {
    **{f"builtins.{kind}": kind for kind in ("dict", "list", "tuple")},
    **{f"typing.{kind.title()}": kind for kind in ("dict", "list", "tuple")},
    # a sequence is often an array all the same, a mapping never is
    **{
        f"{module}.{name}": "mapping"
        for module in ("collections.abc", "typing")
        for name in ("Mapping", "MutableMapping")
    },
}


def _of_dtype(whose: Value | None) -> Value | None:
    """What ``Float[np.ndarray, "n"]`` and the like say, by what their first part says: None unless these are arrays."""
    return whose if whose is not None and any(isinstance(m, Array) for m in members(whose)) else None


def _container(interp: Interpreter, kind: str, inner: list[cst.BaseExpression], depth: int) -> Value | None:
    """A list, tuple or dict of the annotated elements; None where the annotation does not say of what."""
    if not inner:
        return None
    parts = [from_annotation(interp, i, depth + 1) or UNKNOWN for i in inner]
    if kind in ("dict", "mapping"):
        return DictV(rest=parts[-1], site=DECLARED, kind=kind)
    if kind == "list":
        return ListV(Tup(None, parts[0]), DECLARED)
    if isinstance(inner[-1], cst.Ellipsis):
        return Tup(None, parts[0])
    return Tup(tuple(parts))


def _writes_kernels(interp: Interpreter) -> bool:
    """Does the module of the running code import Pallas?"""
    pallas = "jax.experimental.pallas"
    imports = interp.unit.module.index.imports
    if any(name.startswith(pallas) for name in imports):
        return True
    bound = interp.frame.module.env.slots.values() if "jax.experimental" in imports else ()
    return any(isinstance(v, LibV) and v.name.startswith(pallas) for v in bound)


def instance_of(interp: Interpreter, cls: ClassV, depth: int = 0) -> Obj:
    """An instance about which only the class is known: attributes by annotation, else open."""
    obj = Obj(cls, cls.node, open_=True)
    seen: set[str] = set()
    for c in cls.mro():
        if not isinstance(c, ClassV):
            continue
        for s in c.node.body.body:
            for small in s.body if isinstance(s, cst.SimpleStatementLine) else ():
                if (
                    isinstance(small, cst.AnnAssign)
                    and isinstance(small.target, cst.Name)
                    and small.target.value not in seen
                ):
                    name = small.target.value
                    seen.add(name)  # the most derived class has the word, also where it cannot be read
                    value = from_annotation(interp, small.annotation.annotation, depth + 1)
                    kind = py_type(c.slots.get(name, NONE))
                    if kind in ("int", "float") and (value is None or isinstance(value, Unknown | Union)):
                        value = Host(kind)  # one of several types, and this is what most leave it at
                    if isinstance(value, Array) and value.level is Level.HOST:
                        value = replace(value, maybe=True)  # nothing holds classes to what they declare
                    if value is not None:
                        obj.slots[name] = value
        seen.update(name for name in c.slots if isinstance(name, str))
    return obj


def star_import(interp: Interpreter, name: str, node: cst.CSTNode) -> None:
    """``from library import *``: nothing is bound; names are looked up as unknown."""


def subscripted_library(interp: Interpreter, base: LibV, index: Value) -> Value:
    """``typing.X[...]`` stays itself; anything else of a library is unknown."""
    root = base.name.split(".")[0]
    return (
        base
        if root in ("typing", "collections", "builtins", "jaxtyping", "typing_extensions", "chex")
        or base.name in JAX_ARRAY
        else UNKNOWN
    )
