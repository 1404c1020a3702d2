"""What jax's transforms and control-flow primitives do to their functions: how they call them, with which arguments traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics import cachekey, calls, demands, donation, leaks, operators, prng, shapes, timing
from jitlint.semantics.calls import Args, Binding
from jitlint.semantics.entry import STATIC_BY_ANNOTATION, Call, Entry, Param, Root
from jitlint.semantics.events import (
    BadArgument,
    BadResult,
    BadSite,
    ControlFlow,
    EntryCall,
    Misuse,
    Site,
    StaticArgument,
)
from jitlint.semantics.rebuilt import rebuild
from jitlint.semantics.records import replace
from jitlint.semantics.running import Trace
from jitlint.semantics.source import scope_of
from jitlint.semantics.state import Box
from jitlint.semantics.tracekey import trace_key
from jitlint.semantics.validity import arrays_in_metadata, data_fields, invalid_leaves, is_pytree, unhashable
from jitlint.semantics.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    Func,
    Given,
    Host,
    Jitted,
    Level,
    LibV,
    ListV,
    Obj,
    Origin,
    Partial,
    SetV,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
    has_linear,
    is_data,
    is_declared,
    is_plain,
    join,
    join_all,
    leaves,
    members,
    only_fields,
    py_type,
    traced_leaf,
    union,
)
from jitlint.semantics.variation import only_lowered

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

GRADS = {"grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "jvp", "vjp", "linearize", "jacobian"}

_decorating: list[cst.CSTNode] = []


@contextmanager
def decorating(interp: Interpreter, node: cst.CSTNode) -> Iterator[None]:
    """While a decorator is applied: the site is that expression."""
    _decorating.append(node)
    try:
        yield
    finally:
        _decorating.pop()


# ------------------------------------------------------------------------------------------------ abstraction


def abstract(
    interp: Interpreter,
    value: Value,
    root: Root | None,
    origin: Origin,
    *,
    keep_python: bool = True,
    leaf: str = "",
    maybe: bool = False,
    depth: int = 0,
    arrays_only: bool = False,
) -> Value:
    """The value with its leaves traced, as an argument of a traced function. Containers are copied, as JAX does;
    what is no valid argument stays as it is (see :mod:`~jitlint.semantics.validity`).

    ``arrays_only``: so does what is no array, as in modules of nnx, however deep it is.
    """

    def go(v: Value, path: str = "", nnx: bool = False) -> Value:
        return abstract(
            interp,
            v,
            root,
            origin,
            keep_python=keep_python and not path,
            leaf=leaf + path,
            maybe=maybe,
            depth=depth + 1,
            arrays_only=arrays_only or nnx,
        )

    if depth > 8:
        return UNKNOWN
    if arrays_only and is_plain(value):
        return value
    roots = frozenset((root,)) if root is not None else frozenset()
    via = _kept_via(value, root)
    match value:
        case Const(value=None) | Unknown():
            return Tree(roots, origin, maybe, isinstance(value, Given)) if isinstance(value, Unknown) else value
        case Const() | Host() | Obj() if (kind := py_type(value)) in operators.NUMBERS:
            python = kind if keep_python and not leaf else None
            dtype = None if kind == "number" else kind
            return Array(Level.TRACED, dtype, (), kind != "bool", python, roots, maybe, origin, value.loops, via)
        case Const() | Host():
            kind = py_type(value)
            return value if kind in ("str", "bytes", "dtype") or isinstance(value, Const) else UNKNOWN
        case Array():
            if value.is_traced:
                python = value.python if keep_python else None
                return replace(value, roots=value.roots | roots, python=python, via=via)
            return Array(
                Level.TRACED, value.dtype, value.shape, value.weak, None, roots, maybe, origin, value.loops, via
            )
        case Tree():
            return replace(value, roots=value.roots | roots)
        case Tup(items=items, elem=elem):
            return replace(
                value,
                items=None if items is None else tuple(go(i, f"[{n}]") for n, i in enumerate(items)),
                elem=None if elem is None else go(elem, "[]"),
            )
        case ListV():
            content = go(value.content, "")
            assert isinstance(content, Tup)
            if leaf == "":
                content = Tup(
                    None if content.items is None else tuple(_dropped(i) for i in content.items),
                    None if content.elem is None else _dropped(content.elem),
                    content.kind,
                    content.length_loops,
                )
            return ListV(content, value.site, value.kind)
        case DictV():
            return DictV(
                {k: go(v, f"[{k!r}]") for k, v in value.entries().items()},
                None if value.rest is None else go(value.rest, "[]"),
                value.site,
                value.kind,
            )
        case SetV():
            return UNKNOWN
        case Obj():
            return _abstract_object(value, go)
        case Union(members=ms):
            return union(
                abstract(
                    interp,
                    m,
                    root,
                    origin,
                    keep_python=keep_python,
                    leaf=leaf,
                    maybe=maybe,
                    depth=depth + 1,
                    arrays_only=arrays_only,
                )
                for m in ms
            )
    return value


def _holds_jax_array(v: Value) -> bool:
    return any(isinstance(x, Array) and x.level is not Level.NUMPY for x in leaves(v))


def _dropped(v: Value) -> Value:
    return replace(v, python=None) if isinstance(v, Array) else v


def _abstract_object(value: Obj, go: Callable[[Value, str, bool], Value]) -> Value:
    cls = value.project_class
    if cls is None:
        return UNKNOWN
    if not is_pytree(value):
        return value
    out = Obj(cls, value.site, value.open)
    out.loops = value.loops
    out.made_in = value.made_in
    data = dict(data_fields(value))
    lenient = cls.facts.module == "equinox" or cls.facts.custom_flatten
    for k, v in value.slots.items():
        if isinstance(k, str) and k not in cls.facts.fields and only_fields(cls):
            continue  # a cached property is computed anew
        if k not in data or lenient and isinstance(v, Func | Bound | Partial | Jitted | Wrapped | LibV):
            out.slots[k] = v
        elif cls.facts.custom_flatten and k not in cls.facts.flattened and not _holds_jax_array(v):
            out.slots[k] = UNKNOWN
        else:
            out.slots[k] = go(v, f".{k}", cls.facts.module == "nnx")
    return out


def concretize(
    interp: Interpreter,
    value: Value,
    roots_of: list[Value],
    node: cst.CSTNode,
    depth: int = 0,
    arrays_only: bool = False,
) -> Value:
    """A traced result as the caller sees it: concrete on the host, a tracer under an outer trace.

    ``arrays_only``: what is no array comes out as it is.
    """
    if depth > 8:
        return UNKNOWN

    def go(v: Value) -> Value:
        return concretize(interp, v, roots_of, node, depth + 1, arrays_only)

    if arrays_only and isinstance(value, Const | Host | Func | Partial | Wrapped | Bound | LibV):
        return value

    match value:
        case Array():
            out = operators.result_array(interp, roots_of, jax=True, node=node, what="the jitted call")
            return replace(out, dtype=value.dtype, shape=value.shape, weak=value.weak, loops=value.loops)
        case Const() | Host():
            kind = py_type(value)
            if kind in operators.NUMBERS:
                out = operators.result_array(interp, roots_of, jax=True, node=node, what="the jitted call")
                return replace(out, dtype=None if kind == "number" else kind, shape=(), weak=kind != "bool")
            return value if value == NONE else UNKNOWN
        case Tree():
            if interp.traces:
                out = operators.result_array(interp, roots_of, jax=True)
                return Tree(out.roots, out.origin, value.maybe) if out.is_traced else UNKNOWN
            return UNKNOWN
        case Tup(items=items, elem=elem):
            return replace(
                value,
                items=None if items is None else tuple(go(i) for i in items),
                elem=None if elem is None else go(elem),
            )
        case ListV():
            content = go(value.content)
            assert isinstance(content, Tup)
            return ListV(content, node)
        case DictV():
            return DictV(
                {k: go(v) for k, v in value.entries().items()}, None if value.rest is None else go(value.rest), node
            )
        case Obj():
            cls = value.project_class
            if cls is None or not (cls.facts.pytree or cls.facts.namedtuple):
                return UNKNOWN
            obj = Obj(cls, node, value.open)
            for k, v in value.slots.items():
                obj.slots[k] = go(v) if is_data(value, k, v) else v
            return obj
        case Union(members=ms):
            return union(go(m) for m in ms)
        case Func() | Partial() | Wrapped() | Bound():
            return UNKNOWN
    return value


def _kept_via(value: Value, root: Root | None) -> str | None:
    """A key that is passed to a jitted function is the same key; what a ``lax`` loop passes is another in each turn."""
    via = value.via if isinstance(value, Array | Const | Host) else None
    return None if root is None and prng.is_token(via) else via


def host_call(
    interp: Interpreter,
    kind: str,
    entry: Entry | None,
    node: cst.CSTNode,
    staging: bool,
    run: Callable[[], Value],
    arguments: frozenset[int] = frozenset(),
    signature: int | None = None,
) -> Value:
    """Run something under a new trace."""
    interp.traces.append(
        Trace(
            kind,
            entry,
            node,
            interp.unit,
            staging,
            Box.clock,
            interp.tick(),
            len(interp.guards),
            len(interp.frames),
            arguments,
            signature,
            forks=interp.forks,
            tests=interp.forks if interp.root is not None else 0,
        )
    )
    saved = interp.compile_time
    interp.compile_time = 0
    try:
        return run()
    finally:
        interp.traces.pop()
        interp.compile_time = saved
        if not interp.traces and (interp.leaking or interp.leaking_memo):
            leaks.trace_ended(interp)


def _call_rebuilt(interp: Interpreter, func: Value, args: Args, traced: Iterable[Value], node: cst.CSTNode) -> Value:
    """Call a function that is traced, when JAX has made the objects anew among its arguments."""
    rebuild(interp, traced, node)
    return calls.call_value(interp, func, args, node)


# ------------------------------------------------------------------------------------------------ jit


def make_jitted(
    interp: Interpreter,
    kind: str,
    func: Value,
    options: dict[str, Value],
    option_nodes: dict[str, cst.CSTNode],
    node: cst.CSTNode,
    alternative: bool = False,
) -> Value:
    """``jax.jit(func, **options)`` and its kin; ``alternative`` where ``func`` is one of several."""
    if isinstance(func, Unknown | Tree) or func == Host("function"):
        demands.note(func, "call")
        return UNKNOWN
    form = "call"
    if _decorating and (node is _decorating[-1] or isinstance(_decorating[-1], cst.Call) and node is _decorating[-1]):
        form = "decorator"
    entry = Entry(kind, func, node, interp.unit, form, alternative=alternative)
    entry.options, entry.option_nodes = options, option_nodes
    entry.target = calls.underlying(func)
    entry.name = callable_name(func)
    entry.params = calls.signature(interp, func)
    entry.loops = tuple(interp.loops)
    entry.frame = interp.frame
    entry.traced = interp.tracing
    entry.moment = interp.moment()
    entry.made_under = interp.root
    entry.time = interp.tick()
    _read_options(interp, entry)
    if isinstance(func, Host):
        return UNKNOWN  # an annotation that does not mean it
    if isinstance(func, Array | Const | Tup | ListV | DictV | SetV):
        kinds = {Array: "an array", ListV: "a list", Tup: "a tuple", DictV: "a dict", SetV: "a set"}
        what = kinds.get(type(func), "a value")
        interp.emit(BadSite(node=node, unit=interp.unit, entry=entry, problem="not-callable", detail=what))
        return UNKNOWN
    jitted = Jitted(entry)
    if not interp.quiet:
        interp.entries.append(entry)
        interp.made.append(entry)
        _check_site(interp, entry, func)
        interp.emit(Site(node=node, unit=interp.unit, entry=entry, fresh=fresh(interp, func)))
    if isinstance(func, Func):
        jitted.attrs["__wrapped__"] = func
    return jitted


def callable_name(func: Value) -> str:
    """A name for messages."""
    match func:
        case Func(name=name):
            return name
        case Bound(func=f) | Partial(func=f):
            return callable_name(f)
        case Wrapped(kind=kind, func=f):
            return f"{kind}({callable_name(f)})"
        case Jitted(entry=e):
            return e.name
        case Obj() | ClassV():
            return func.cls.name if isinstance(func, Obj) else func.name
        case LibV(name=name):
            return name
    return "?"


def fresh(interp: Interpreter, func: Value) -> str:
    """Why a callable is a new object each time this is evaluated; empty for one that stays the same."""
    match func:
        case Func():
            if not _made_here(interp, func):
                return ""
            return "lambda" if isinstance(func.lazy, cst.Lambda) else "local function"
        case Partial():
            return "partial" if _made_here(interp, func) else ""
        case Wrapped(kind=kind):
            return f"`{kind}` result" if _made_here(interp, func) else ""
        case Bound(func=f):
            if isinstance(f, Func) and f.flavour == "static":
                return ""
            return "bound method"
        case Obj():
            return "instance" if _made_here(interp, func) else ""
        case Jitted():
            return ""
    return ""


def _made_here(interp: Interpreter, func: Func | Partial | Wrapped | Obj) -> bool:
    """Is it made in a loop, or in code that is running?"""
    return bool(func.loops) or func.made_in is not None and any(f.number == func.made_in for f in interp.frames)


def _ints(v: Value | None) -> tuple[int, ...] | None:
    if v is None or v == NONE:
        return None
    content = v.content if isinstance(v, ListV) else v
    if isinstance(content, Const) and isinstance(content.value, int):
        return (content.value,)
    if (
        isinstance(content, Tup)
        and content.items is not None
        and all(isinstance(i, Const) and isinstance(i.value, int) for i in content.items)
    ):
        return tuple(i.value for i in content.items if isinstance(i, Const))
    return None


def _strs(v: Value | None) -> tuple[str, ...] | None:
    if v is None or v == NONE:
        return None
    content = v.content if isinstance(v, ListV) else v
    if isinstance(content, Const) and isinstance(content.value, str):
        return (content.value,)
    if (
        isinstance(content, Tup)
        and content.items is not None
        and all(isinstance(i, Const) and isinstance(i.value, str) for i in content.items)
    ):
        return tuple(i.value for i in content.items if isinstance(i, Const))
    return None


def _read_options(interp: Interpreter, entry: Entry) -> None:
    o = entry.options
    nums_key = "static_broadcasted_argnums" if entry.kind == "pmap" else "static_argnums"
    entry.static_nums = _ints(o.get(nums_key))
    entry.static_names = _strs(o.get("static_argnames"))
    entry.donate_nums = _ints(o.get("donate_argnums")) or ()
    entry.donate_names = _strs(o.get("donate_argnames")) or ()
    if STATIC_BY_ANNOTATION in o:
        entry.static_names = tuple(p.name for p in entry.params or () if _says_static(interp, entry, p)) or None
    for key, read in ((nums_key, entry.static_nums), ("static_argnames", entry.static_names)):
        value = o.get(key)
        if value is not None and value != NONE and read is None:
            entry.opaque = True
    if "**" in o:
        entry.opaque = True
    entry.statics = frozenset(_static_names(entry, passed=None))


def _says_static(interp: Interpreter, entry: Entry, param: Param) -> bool:
    """Is the annotation of a parameter one that means that it is static?"""
    annotation = param.annotation
    target = annotation.value if isinstance(annotation, cst.Subscript) else annotation
    if entry.target is None or not isinstance(target, cst.Name | cst.Attribute):
        return False
    kind = demands.meaning(interp, entry.target, target)
    model = interp.knowledge.class_(kind.name) if isinstance(kind, LibV) else None
    return model is not None and model.kind == "static"


def _static_names(entry: Entry, passed: dict[str, str] | None) -> Iterator[str]:
    """Names of the static parameters; with both options given, those that the spelling of the call selects."""
    positional = [p for p in entry.params or () if p.kind in ("pos", "posonly")]
    by_num: set[str] = set()
    for n in entry.static_nums or ():
        if -len(positional) <= n < len(positional):
            by_num.add(positional[n].name)
    # A misspelt name raises by itself; what it is meant for counts as static, so that nothing else is said of it.
    known = [p.name for p in entry.params or ()]
    spelt = [part.strip() for name in entry.static_names or () for part in name.split(",")]
    by_name = {*spelt, *(m for n in spelt if n not in known for m in get_close_matches(n, known, n=1))}
    if any(p.kind == "args" for p in entry.params or ()):
        by_num |= {positional_name(entry.params, n) for n in entry.static_nums or () if n >= len(positional)}
    if entry.both_given and passed is not None:
        yield from (n for n in by_num if passed.get(n, "pos") == "pos")
        yield from (n for n in by_name if passed.get(n, "kw") == "kw")
        return
    yield from by_num | by_name


def _check_site(interp: Interpreter, entry: Entry, func: Value) -> None:
    params = entry.params

    def bad(problem: str, detail: str, raises: bool = True, node: cst.CSTNode | None = None) -> None:
        interp.emit(
            BadSite(
                node=node or entry.node, unit=interp.unit, entry=entry, problem=problem, detail=detail, raises=raises
            )
        )

    if isinstance(func, Func) and func.flavour in _DESCRIPTORS:
        in_body = interp.frame.class_body is not None and interp.frame.class_body is func.owner
        if in_body or func.flavour in ("property", "cached_property"):
            bad("descriptor", _DESCRIPTORS[func.flavour])
            return
    if (
        isinstance(func, Func)
        and isinstance(func.lazy, cst.FunctionDef)
        and scope_of(func.lazy, func.unit.statement.text).generator
    ):
        bad("generator", func.name)
        return
    for option, problem in (
        ("static_argnums", "not-int"),
        ("donate_argnums", "not-int"),
        ("static_argnames", "not-str"),
    ):
        wrong = next((i for i in _items(entry.options.get(option)) if not _is_option(i, problem)), None)
        if wrong is not None:
            bad(problem, f"{option}:{wrong.value!r}", node=entry.option_nodes.get(option))
            return
    if params is None or entry.kind not in ("jit", "pjit") or entry.alternative:
        return  # options that do not fit one of several functions may be meant for another
    positional = [p for p in params if p.kind in ("pos", "posonly")]
    varargs = any(p.kind == "args" for p in params)
    varkw = any(p.kind == "kwargs" for p in params)
    for option, given in (("static_argnames", entry.static_names), ("donate_argnames", entry.donate_names)):
        for name in given or ():
            at = entry.option_nodes.get(option)
            p = entry.param(name)
            if p is not None and p.kind == "args":
                bad("varargs", f"{option}:{name}", node=at)
            elif p is not None and p.kind == "posonly":
                bad("posonly", f"{option}:{name}", node=at)
            elif p is None and not varkw:
                bad("comma" if "," in name else "unknown-name", f"{option}:{name}", node=at)
    for option, given_n in (("static_argnums", entry.static_nums), ("donate_argnums", entry.donate_nums)):
        for n in given_n or ():
            if not -len(positional) <= n < len(positional) and not varargs:
                bad("out-of-range", f"{option}:{n}", node=entry.option_nodes.get(option))
                entry.opaque = True  # it raises here: nothing is to be said of what it would trace
    donated = {positional[n].name for n in entry.donate_nums if -len(positional) <= n < len(positional)} | set(
        entry.donate_names
    )
    for name in sorted(donated & entry.statics):
        bad("overlap", name)
    if entry.static_nums is not None and entry.static_names is not None and entry.static_nums and entry.static_names:
        by_num = {positional[n].name for n in entry.static_nums if -len(positional) <= n < len(positional)}
        if by_num != set(entry.static_names):
            bad("both", "", raises=False)


def unknown_option(interp: Interpreter, entry: Entry, option: str, known: list[str]) -> None:
    """An option was given to jit that it does not have: a spelling mistake, most likely. Where one of several transforms
    is called, it is for another one."""
    if interp.unsure:
        return
    close = " ".join(get_close_matches(option, known, n=2, cutoff=0.7))
    node = entry.option_nodes.get(option) or entry.node
    interp.emit(BadSite(node=node, unit=interp.unit, entry=entry, problem="option", detail=f"{option}:{close}"))


_DESCRIPTORS = {
    "static": "staticmethod",
    "class": "classmethod",
    "property": "property",
    "cached_property": "cached_property",
}


def _items(v: Value | None) -> list[Const]:
    """The constants that an option spells out."""
    content = v.content if isinstance(v, ListV) else v
    spelt = content.items if isinstance(content, Tup) and content.items is not None else (content,)
    return [i for i in spelt if isinstance(i, Const)] if v is not None and v != NONE else []


def _is_option(value: Const, problem: str) -> bool:
    return isinstance(value.value, int if problem == "not-int" else str)


def call_jitted(interp: Interpreter, jitted: Jitted, args: Args, node: cst.CSTNode) -> Value:
    """Call a jitted function."""
    entry = jitted.entry
    if interp.jit_off:
        entry.probed = True
        return calls.call_value(interp, entry.func, args, node)
    params = entry.params
    if entry.params is None and isinstance(entry.func, LibV | Unknown):
        return UNKNOWN
    if interp.observed:
        from jitlint.semantics import replay

        args = replay.completed(interp, entry, args, node)
    binding = calls.bind(params, args) if params is not None else Binding(extra=list(args.pos), extra_kw=dict(args.kw))
    statics = frozenset(_static_names(entry, binding.spelling))
    call = Call(
        node,
        interp.unit,
        dict(binding.values),
        dict(binding.nodes),
        tuple(sorted(binding.spelling.items())),
        interp.tick(),
        tuple(interp.loops),
        interp.tracing,
        interp.frame,
        interp.moment(),
        any(f is entry.frame for f in interp.frames),
    )
    for i, v in enumerate(binding.extra):
        call.bound[f"*{i}"] = v
    call.bound.update({f"**{k}": v for k, v in binding.extra_kw.items()})
    if not interp.quiet:
        interp.frame.calls_jitted = True
        call.key = cachekey.key_of(entry, call)
        call.jitted = any(t.entry is not None for t in interp.traces)
        entry.calls.append(call)
        interp.emit(EntryCall(node=node, unit=interp.unit, entry=entry, call=call))
    statics = _count_again(interp, entry, binding, statics, node)
    where = f"at {interp.recorded_at} in the recorded run" if interp.recorded_at else "here"
    here = interp.origin(f"`{entry.name}` is called {where}", node)
    runs = not interp.traces and not only_lowered(node)
    donated = donation.donated_parameters(entry, binding.spelling) if runs else set()
    if not interp.traces and donation.before_call(interp, entry, call.bound, donated, node):
        return UNKNOWN
    if not binding.loose and args.rest is None and args.more is None:
        for p in params or ():
            required = p.kind in ("pos", "posonly", "kwonly") and not p.has_default
            if required and p.name in statics and p.name not in binding.values:
                interp.emit(
                    StaticArgument(
                        node=node,
                        unit=interp.unit,
                        entry=entry,
                        param=p.name,
                        value=UNKNOWN,
                        problem="missing",
                        what="nothing",
                    )
                )
    inner = Args(kw_nodes=args.kw_nodes)
    copies: list[Value] = []

    def traced_argument(name: str, value: Value, at: cst.CSTNode | None) -> Value:
        if name in statics:
            return UNKNOWN if _check_static(interp, entry, name, value, at or node) else value
        if entry.opaque and _settingish(value):
            return value
        root = entry.root(name)
        root.passed.append((value, at))
        where = Origin(f"`{name}` is traced: an argument of `{entry.name}`, jitted here", entry.node, entry.unit, here)

        report_invalid(interp, entry, name, value, at, node)
        parameter = entry.param(name) if isinstance(value, Unknown) else None
        said = None
        if parameter is not None and entry.target is not None:
            said = demands.expected(interp, entry.target, parameter)
        out = abstract(interp, value if said is None else said, root, where, maybe=said is not None)
        if entry.kind == "pmap":
            out = _mapped(out, lambda v: _each_device(v, entry))
        copies.append(out)
        return out

    def keep(name: str, value: Value, at: cst.CSTNode | None) -> Value:
        if entry.kind == "filter_jit":
            return filtered(interp, entry, name, value, at or node, here)
        return traced_argument(name, value, at)

    for i, v in enumerate(args.pos):
        name = positional_name(params, i)
        inner.pos.append(keep(name, v, args.node(i)))
        inner.pos_nodes.append(args.node(i))
    for k, v in args.kw.items():
        inner.kw[k] = keep(k, v, args.kw_nodes.get(k))
    inner.rest = None if args.rest is None else Tree(frozenset(), here, True)
    inner.more = None if args.more is None else UNKNOWN
    if args.more is not None and entry.kind != "filter_jit" and not entry.opaque and entry.static_names is None:
        inner.more = Tree(frozenset(), here, True)
    if (args.rest is not None or args.more is not None) and entry.kind != "filter_jit":
        for p in _unspelt(params or (), args, calls.gives_more(entry.func)):
            value = traced_argument(p.name, UNKNOWN, None)
            value = replace(value, maybe=True) if isinstance(value, Array | Tree) else value
            inner.kw[p.name] = value if p.default is None else union([p.default, value])
        if not any(p.kind == "args" for p in params or ()):
            inner.rest = None
    arguments = box_ids(copies)
    key_parts = [calls.fingerprint(v) for v in inner.values()]
    key = None if None in key_parts else (tuple(key_parts), tuple(inner.kw), interp.tracing)
    same = None if args.rest is not None or args.more is not None else trace_key(inner.pos, inner.kw.items())
    call.signature = None if same is None else entry.signatures.setdefault(same, len(entry.signatures))
    if key is not None and key in entry.cache:
        result = entry.cache[key]
    elif call.signature is not None and call.signature in entry.results and any(isinstance(v, Obj) for v in inner.pos):
        # an object whose attributes changed since: JAX knows it by its identity, and runs nothing again
        result = entry.results[call.signature]
    else:
        if len(entry.calls) > 64 and key is not None and len(entry.cache) > 32:
            return UNKNOWN
        result = host_call(
            interp,
            entry.kind,
            entry,
            node,
            True,
            lambda: _call_rebuilt(interp, entry.func, inner, copies, node),
            arguments,
            call.signature,
        )
        entry.returned.update((id(b), b) for b in _boxes(result))
        entry.returns_unknown |= any(isinstance(x, Unknown) for x in leaves(result))
        if key is not None:
            entry.cache[key] = result
        if call.signature is not None:
            entry.results[call.signature] = result
        if entry.kind != "filter_jit":
            _check_result(interp, f"`{entry.name}`", result, node)
    out = concretize(interp, result, args.values(), node, arrays_only=entry.kind == "filter_jit")
    if entry.kind == "pmap":
        out = _mapped(out, lambda v: replace(v, shape=None) if isinstance(v, Array) else v)
    if not interp.traces:
        timing.called(interp, entry, call)
    if donated:
        donation.after_call(interp, entry, call.bound, call.nodes, donated, result, node)
    return out


def _each_device(v: Value, entry: Entry) -> Value:
    """What one device gets of an argument of ``pmap``."""
    if not isinstance(v, Array) or v.shape is None:
        return v
    return replace(v, shape=None if "in_axes" in entry.options else v.shape[1:])


def _unspelt(params: tuple[Param, ...], args: Args, more: bool) -> list[Param]:
    """Parameters that only an unknown ``*args`` or ``**kwargs`` of the call can give; ``more``: or a ``partial``."""
    places = [p for p in params if p.kind in ("pos", "posonly")][len(args.pos) :]
    by_name = [p for p in params if p.kind == "kwonly"] if args.more is not None and not more else []
    return [p for p in (*places, *by_name) if p.kind != "posonly" and p.name not in args.kw]


def _settingish(v: Value) -> bool:
    """Under options that could not be read, a Python setting may well be static; what would raise then is not."""
    return not isinstance(v, Array) and unhashable(v) is None and traced_leaf(v) is None


def filtered(interp: Interpreter, entry: Entry, name: str, value: Value, at: cst.CSTNode, here: Origin) -> Value:
    """Equinox's rule: arrays are traced, the rest is static."""
    where = Origin(f"`{name}` holds arrays, which `filter_jit` traces", entry.node, entry.unit, here)
    return _filtered(value, entry.root(name), where)


def _filtered(v: Value, root: Root, where: Origin, depth: int = 0) -> Value:
    if depth > 6:
        return v
    match v:
        case Array(level=level) if level is not Level.TRACED:
            return Array(Level.TRACED, v.dtype, v.shape, v.weak, None, frozenset((root,)), False, where, v.loops)
        case Tup(items=items, elem=elem):
            return replace(
                v,
                items=None if items is None else tuple(_filtered(i, root, where, depth + 1) for i in items),
                elem=None if elem is None else _filtered(elem, root, where, depth + 1),
            )
        case ListV():
            content = _filtered(v.content, root, where, depth + 1)
            assert isinstance(content, Tup)
            return ListV(content, v.site)
        case DictV():
            return DictV(
                {k: _filtered(x, root, where, depth + 1) for k, x in v.entries().items()},
                None if v.rest is None else _filtered(v.rest, root, where, depth + 1),
                v.site,
            )
        case Obj() if v.project_class is not None and v.project_class.facts.pytree:
            out = Obj(v.cls, v.site, v.open)
            out.slots.update({k: x if not is_data(v, k, x) else _filtered(x, root, where, depth + 1) for k, x in v.slots.items()})
            return out
        case Union(members=ms):
            return union(_filtered(m, root, where, depth + 1) for m in ms)
    return v


def box_ids(values: Iterable[Value]) -> frozenset[int]:
    """What a traced function gets as its own copies."""
    return frozenset(id(b) for v in values for b in _boxes(v))


def _boxes(v: Value, depth: int = 0) -> Iterator[Box]:
    if depth > 4:
        return
    if isinstance(v, Box):
        yield v
        for x in list(v.slots.values()):
            yield from _boxes(x, depth + 1)
    elif isinstance(v, Tup):
        for x in v.items or ((v.elem,) if v.elem is not None else ()):
            yield from _boxes(x, depth + 1)


def positional_name(params: tuple[Param, ...] | None, i: int) -> str:
    """The name under which a positional argument is known: of its parameter, else by its number in ``*args``."""
    positional = [p for p in params or () if p.kind in ("pos", "posonly")]
    if i < len(positional):
        return positional[i].name
    star = next((p for p in params or () if p.kind == "args"), None)
    return f"*{star.name if star else 'args'}[{i}]"


def _check_static(interp: Interpreter, entry: Entry, name: str, value: Value, at: cst.CSTNode) -> bool:
    def report(problem: str, what: str, possible: bool = False) -> None:
        interp.emit(
            StaticArgument(
                node=at,
                unit=interp.unit,
                entry=entry,
                param=name,
                value=value,
                problem=problem,
                what=what,
                possible=possible,
            )
        )

    leaf = traced_leaf(value)
    if leaf is not None and isinstance(leaf, Array) and not isinstance(value, Union):
        demands.note(value, "static")
        if not leaf.maybe or leaf.python is not None:
            report("traced", "a traced value", leaf.maybe)
        return True
    if isinstance(leaf, Tree) and leaf.roots and not isinstance(value, Union):
        demands.note(value, "static")
        report("traced", "a traced value", True)
        return True
    if has_linear(value) and not isinstance(value, Union):
        report("traced", "a value that is differentiated")
        return True
    what = unhashable(value)
    if what is not None:
        report("unhashable", what, is_declared(value) or isinstance(value, Array) and value.maybe)
    elif isinstance(value, Union):
        whats = [unhashable(m) for m in value.members if m != NONE]
        if whats and None not in whats:
            report("unhashable", str(whats[0]), True)
    return False


def _count_again(
    interp: Interpreter, entry: Entry, binding: Binding, statics: frozenset[str], node: cst.CSTNode
) -> frozenset[str]:
    """The static parameters that are meant, where ``static_argnums`` has an array and a setting stands beside it."""
    positional = [p.name for p in entry.params or () if p.kind in ("pos", "posonly")]
    for wrong in entry.static_nums or ():
        name = positional[wrong] if 0 <= wrong < len(positional) else ""
        value = binding.values.get(name)
        if not isinstance(value, Array) or value.is_traced or unhashable(value) is None:
            continue
        for right in (wrong + 1, wrong - 1):
            meant = positional[right] if 0 <= right < len(positional) else ""
            if meant not in statics and py_type(binding.values.get(meant, UNKNOWN)) in ("bool", "int", "str"):
                interp.emit(
                    StaticArgument(
                        node=binding.nodes.get(name) or node,
                        unit=interp.unit,
                        entry=entry,
                        param=name,
                        value=value,
                        problem="index-off",
                        what=f"{wrong}:{right}:{meant}",
                    )
                )
                statics = statics - {name} | {meant}
                break
    return statics


def report_invalid(
    interp: Interpreter, entry: Entry, name: str, value: Value, at: cst.CSTNode | None, node: cst.CSTNode
) -> None:
    """Tell the rules what of an argument JAX does not take."""
    first = entry.params[0].name if entry.params else None
    receiver = at is None and name == first and isinstance(entry.func, Func) and entry.func.owner is not None
    for bad in invalid_leaves(interp, value):
        if bad.value == demands.SOME_FUNCTION and demands.is_ignored(entry, name) and NONE in members(value):
            return  # nothing uses the function that callers may give, and may leave out
        interp.emit(
            BadArgument(
                node=at or node,
                unit=interp.unit,
                entry=entry,
                param=name,
                value=bad.value,
                what=bad.what,
                callee=entry.name,
                error=bad.error,
                possible=bad.possible,
                receiver=receiver,
            )
        )
        return
    for cls, field, array in arrays_in_metadata(value):
        before = entry.metadata.setdefault(field, [])
        compared = bool(before) and all(array is not other for other in before)
        before.append(array)
        if not compared:
            continue
        interp.emit(
            StaticArgument(
                node=at or node,
                unit=interp.unit,
                entry=entry,
                param=field,
                value=array,
                problem="metadata",
                what=cls,
            )
        )


def _check_result(interp: Interpreter, function: str, result: Value, node: cst.CSTNode) -> None:
    for bad in invalid_leaves(interp, result):
        waits = isinstance(bad.value, Partial) or bad.possible and isinstance(bad.value, Func)
        if interp.root is not None and waits:
            continue  # a decorator that waits for its function, or got it, where nobody says what is given
        if bad.error == "TypeError":
            interp.emit(
                BadResult(
                    node=node,
                    unit=interp.unit,
                    returned_by=function,
                    value=bad.value,
                    what=bad.what,
                    possible=bad.possible,
                )
            )
            return


# ------------------------------------------------------------------------------------------------ the other transforms


def wrap(interp: Interpreter, kind: str, func: Value, options: dict[str, Value], node: cst.CSTNode) -> Value:
    """The callable that a transform returns."""
    if isinstance(func, Unknown):
        return UNKNOWN
    return Wrapped(
        kind,
        func,
        options,
        node,
        interp.around(),
        interp.frame.number if interp.frame.func is not None else None,
        interp.tick(),
        interp.moment(),
    )


def call_wrapped(interp: Interpreter, wrapped: Wrapped, args: Args, node: cst.CSTNode) -> Value:
    """Call what a transform returned."""
    kind = wrapped.kind
    if kind in GRADS:
        return _call_grad(interp, wrapped, args, node)
    if kind in ("vmap", "vectorize", "filter_vmap"):
        return _call_vmap(interp, wrapped, args, node)
    if kind in ("checkpoint", "shard_map", "xmap", "traced", "linear_transpose"):
        return _call_staged(interp, wrapped, args, node)
    if kind in ("eval_shape", "make_jaxpr"):
        _call_staged(interp, wrapped, args, node)
        return UNKNOWN
    if kind == "custom":
        return _call_custom(interp, wrapped, args, node)
    if kind == "custom_gradient":
        both = operators.iterate(interp, calls.call_value(interp, wrapped.func, args, node), node, count=2)
        return both.items[0] if both.items else UNKNOWN
    if kind in ("tree_partial", "plain", "named_call"):
        return calls.call_value(interp, wrapped.func, args, node)
    return UNKNOWN


def _call_custom(interp: Interpreter, wrapped: Wrapped, args: Args, node: cst.CSTNode) -> Value:
    """A ``custom_vjp`` or ``custom_jvp`` function; its rules run too where it is differentiated under a trace."""
    linear = any(has_linear(v) for v in args.values())
    primals = _each(args, lambda _, v: _mapped(v, _primal)) if linear else args
    result = calls.call_value(interp, wrapped.func, primals, node)
    if linear:
        origin = tracing_origin(interp, "grad", node)
        result = _mapped(result, lambda v: _differentiated(v, origin))
    given = wrapped.options.get("nondiff_argnums", NONE)
    apart = () if given == NONE else _ints(given)
    resolved = _resolved(wrapped.func, args) if "nondiff_argnames" not in wrapped.options else None
    if interp.staging and apart is not None and resolved is not None and any(t.kind == "grad" for t in interp.traces):
        cotangent = operators.result_array(interp, args.values(), jax=True, node=node, what="the cotangent")
        fwd, bwd, jvp = (wrapped.options.get(k) for k in ("defvjp:0", "defvjp:1", "defjvp:0"))
        first = [v for i, v in enumerate(resolved) if i in apart]  # rules are given what is not differentiated first
        if fwd is not None and bwd is not None:
            made = calls.call_value(interp, fwd, Args(resolved), node)
            out = operators.iterate(interp, made, node, count=2)
            residuals = out.items[1] if out.items is not None and len(out.items) == 2 else UNKNOWN
            calls.call_value(interp, bwd, Args([*first, residuals, cotangent]), node)
        elif jvp is not None:
            rest = tuple(v for i, v in enumerate(resolved) if i not in apart)
            tangents = Tup((cotangent,) * len(rest))
            calls.call_value(interp, jvp, Args([*first, Tup(rest), tangents]), node)
    return result


def _primal(v: Value) -> Value:
    """What a function with rules of its own is run with: ``grad`` and ``jvp`` ask the rules for the rest."""
    return replace(v, level=Level.HOST, origin=None) if isinstance(v, Array) and v.level is Level.LINEAR else v


def _differentiated(v: Value, origin: Origin) -> Value:
    return replace(v, level=Level.LINEAR, origin=origin) if isinstance(v, Array) and v.level is Level.HOST else v


def _resolved(func: Value, args: Args) -> list[Value] | None:
    """All arguments by place, with the defaults of those that are not given; None where not all are known."""
    if not isinstance(func, Func):
        return list(args.pos) if not args.kw and args.rest is None and args.more is None else None
    params = calls.parameters(func.node)
    binding = calls.bind(params, args)
    if binding.loose or binding.surplus or binding.extra or any(p.kind not in ("pos", "posonly") for p in params):
        return None
    values = [binding.values.get(p.name) or func.defaults.get(p.name) for p in params]
    return [v for v in values if v is not None] if None not in values else None


def tracing_origin(interp: Interpreter, kind: str, node: cst.CSTNode) -> Origin:
    return interp.origin(f"traced by `{kind}` here", node)


def _each(args: Args, f: Callable[[int | str, Value], Value]) -> Args:
    out = Args(
        [f(i, v) for i, v in enumerate(args.pos)],
        {k: f(k, v) for k, v in args.kw.items()},
        None,
        None,
        list(args.pos_nodes),
        dict(args.kw_nodes),
    )
    out.rest = None if args.rest is None else f(-1, args.rest)
    out.more = args.more
    return out


_SHAPES = (LibV("jax.ShapeDtypeStruct"), LibV("jax.core.ShapedArray"))


def arrays_for_shapes(args: Args) -> Args:
    """The arguments with an array for each description of one."""
    return _each(args, lambda _, v: _mapped(v, _described))


def _described(v: Value) -> Value:
    """An array for what describes one: any object with a shape and a dtype, as those of libraries may be."""
    if not isinstance(v, Obj):
        return v
    if v.cls in _SHAPES:
        return Array(Level.HOST)
    cls = v.project_class
    if cls is None:
        return UNKNOWN
    has = all(name in v.slots or cls.lookup(name) is not None for name in ("shape", "dtype"))
    return Array(Level.HOST) if has else v


def _report_leaves(interp: Interpreter, kind: str, value: Value, at: cst.CSTNode) -> None:
    """Tell the rules what of an argument of a transformed function JAX does not take."""
    for bad in invalid_leaves(interp, value):
        interp.emit(
            BadArgument(
                node=at,
                unit=interp.unit,
                entry=None,
                param="",
                value=bad.value,
                what=bad.what,
                callee=kind,
                error=bad.error,
                possible=bad.possible,
            )
        )
        break


def _call_staged(interp: Interpreter, wrapped: Wrapped, args: Args, node: cst.CSTNode) -> Value:
    static = _ints(wrapped.options.get("static_argnums")) or ()
    specs = wrapped.options.get("in_specs") if wrapped.kind == "shard_map" else None
    origin = tracing_origin(interp, wrapped.kind, node)

    def one(i: int | str, v: Value) -> Value:
        if i in static:
            return v
        if specs is not None and isinstance(i, int):
            spec = _axis(specs, i)
            if spec == NONE:
                return v  # what has no spec is passed through
            return abstract(interp, v, None, origin, keep_python=False, maybe=isinstance(spec, Unknown))
        if wrapped.options.get("filter") == TRUE:
            return _mapped(v, lambda leaf: abstract(interp, leaf, None, origin) if isinstance(leaf, Array) else leaf)
        if wrapped.kind in ("eval_shape", "make_jaxpr", "linear_transpose"):
            v = _mapped(v, _described)
        if wrapped.kind in ("checkpoint", "eval_shape", "linear_transpose"):
            _report_leaves(interp, wrapped.kind, v, args.node(i) or node)
        return abstract(interp, v, None, origin, keep_python=False)

    inner = _each(args, one)
    result = host_call(
        interp,
        wrapped.kind,
        None,
        node,
        True,
        lambda: _call_rebuilt(interp, wrapped.func, inner, inner.values(), node),
        box_ids(inner.values()),
    )
    if wrapped.kind in ("checkpoint", "eval_shape", "make_jaxpr") and "filter" not in wrapped.options:
        _check_result(interp, f"`{callable_name(wrapped.func)}` under {wrapped.kind}", result, node)
    return concretize(interp, result, args.values(), node)


def _linear(interp: Interpreter, v: Value, node: cst.CSTNode, depth: int = 0, arrays_only: bool = False) -> Value:
    """An argument of plain grad: concrete, but a tracer. Equinox differentiates the inexact arrays only."""

    def go(inner: Value) -> Value:
        return _linear(interp, inner, node, depth + 1, arrays_only)

    if depth > 6:
        return v
    if arrays_only and (
        isinstance(v, Const | Host) or isinstance(v, Array) and shapes.kind(v.dtype) in ("int", "bool")
    ):
        return v
    match v:
        case Array(level=level) if level is not Level.TRACED:
            return Array(
                Level.LINEAR, v.dtype, v.shape, v.weak, origin=tracing_origin(interp, "grad", node), loops=v.loops
            )
        case Const(value=float() | int() | complex()) if not isinstance(v.value, bool):
            return Array(Level.LINEAR, py_type(v), (), True, origin=tracing_origin(interp, "grad", node), loops=v.loops)
        case Host() if v.type in ("float", "complex", "number", "int"):
            return Array(
                Level.LINEAR,
                None if v.type == "number" else v.type,
                (),
                True,
                origin=tracing_origin(interp, "grad", node),
                loops=v.loops,
            )
        case Tup(items=items, elem=elem):
            return replace(
                v,
                items=None if items is None else tuple(go(i) for i in items),
                elem=None if elem is None else go(elem),
            )
        case ListV():
            content = go(v.content)
            assert isinstance(content, Tup)
            return ListV(content, v.site)
        case DictV():
            return DictV(
                {k: go(x) for k, x in v.entries().items()},
                None if v.rest is None else go(v.rest),
                v.site,
            )
        case Obj() if v.project_class is not None and (
            v.project_class.facts.pytree or v.project_class.facts.namedtuple
        ):
            out = Obj(v.cls, v.site, v.open)
            out.slots.update({k: x if not is_data(v, k, x) else go(x) for k, x in v.slots.items()})
            return out
    return v


def _call_grad(interp: Interpreter, wrapped: Wrapped, args: Args, node: cst.CSTNode) -> Value:
    kind = wrapped.kind
    filters = wrapped.options.get("filter") == TRUE
    if kind in ("jvp", "linearize", "vjp"):
        primals = args
    else:
        argnums = _ints(wrapped.options.get("argnums"))
        chosen = (
            argnums
            if argnums is not None
            else (0,)
            if "argnums" not in wrapped.options or wrapped.options["argnums"] == NONE
            else None
        )

        def one(i: int | str, v: Value) -> Value:
            return _linear(interp, v, node, arrays_only=filters) if chosen is None or i in chosen else v

        primals = _each(args, one)
        _check_differentiable(
            interp, kind, wrapped, [v for i, v in enumerate(args.pos) if chosen is None or i in chosen], node
        )
    arguments = box_ids(primals.values())
    result = host_call(
        interp, "grad", None, node, False, lambda: calls.call_value(interp, wrapped.func, primals, node), arguments
    )
    aux = wrapped.options.get("has_aux") == TRUE
    if kind in ("grad", "value_and_grad"):
        _check_scalar(interp, kind, _first(result) if aux else result, node)
    everything = primals.values()
    if kind in ("jacfwd", "jacrev", "hessian", "jacobian"):
        target = primals.pos[0] if primals.pos else UNKNOWN
        jac = operators.result_array(interp, args.values(), jax=True, node=node, what="the Jacobian")
        out: Value = jac if isinstance(target, Array) else _mapped(target, lambda _: jac)
        return out if not aux else Tup((out, _aux(result)))
    argnums_value = wrapped.options.get("argnums")
    many = isinstance(argnums_value, Tup | ListV)
    indices = _ints(argnums_value) or (0,)
    grads: list[Value] = []
    for i in indices:
        v = primals.pos[i] if -len(primals.pos) <= i < len(primals.pos) else UNKNOWN
        grads.append(_delinearize(interp, v, everything, node))
    grad: Value = Tup(tuple(grads)) if many else grads[0]
    if kind == "grad":
        return grad if not aux else Tup((grad, _delinearize(interp, _aux(result), everything, node, aux=True)))
    if kind == "value_and_grad":
        value = _delinearize(interp, _first(result) if aux else result, everything, node)
        if aux:
            value = Tup((value, _delinearize(interp, _aux(result), everything, node, aux=True)))
        return Tup((value, grad))
    return UNKNOWN


def _check_differentiable(
    interp: Interpreter, kind: str, wrapped: Wrapped, inputs: list[Value], node: cst.CSTNode
) -> None:
    """The inputs of a gradient must be real or complex, unless ``allow_int`` is given."""
    if not {"allow_int", "filter"}.isdisjoint(wrapped.options) or kind not in ("grad", "value_and_grad"):
        return
    for v in inputs:
        for leaf in leaves(v):
            dtype = leaf.dtype if isinstance(leaf, Array) else py_type(leaf)
            if shapes.kind(dtype) in ("int", "bool") and not isinstance(v, Union):
                interp.emit(Misuse(node=node, unit=interp.unit, what=kind, problem="grad-of-int", detail=str(dtype)))
                return


def _check_scalar(interp: Interpreter, kind: str, result: Value, node: cst.CSTNode) -> None:
    """What a gradient is taken of must be a scalar."""
    if isinstance(result, Array) and result.shape is not None and result.shape != () and None not in result.shape:
        interp.emit(Misuse(node=node, unit=interp.unit, what=kind, problem="grad-of-vector", detail=str(result.shape)))


def _first(result: Value) -> Value:
    return result.items[0] if isinstance(result, Tup) and result.items else UNKNOWN


def _aux(result: Value) -> Value:
    return (
        result.items[1] if isinstance(result, Tup) and result.items is not None and len(result.items) == 2 else UNKNOWN
    )


def _mapped(v: Value, f: Callable[[Value], Value], depth: int = 0) -> Value:
    """The value with ``f`` applied to its leaves."""
    if depth > 6:
        return UNKNOWN
    match v:
        case Tup(items=items, elem=elem):
            return replace(
                v,
                items=None if items is None else tuple(_mapped(i, f, depth + 1) for i in items),
                elem=None if elem is None else _mapped(elem, f, depth + 1),
                kind="tuple",
            )
        case ListV():
            content = _mapped(v.content, f, depth + 1)
            return ListV(content, v.site, v.kind) if isinstance(content, Tup) else UNKNOWN
        case DictV():
            return DictV(
                {k: _mapped(x, f, depth + 1) for k, x in v.entries().items()},
                None if v.rest is None else _mapped(v.rest, f, depth + 1),
                v.site,
            )
        case Obj() if v.project_class is not None and (
            v.project_class.facts.pytree or v.project_class.facts.namedtuple
        ):
            out = Obj(v.cls, v.site, v.open)
            out.slots.update({k: x if not is_data(v, k, x) else _mapped(x, f, depth + 1) for k, x in v.slots.items()})
            return out
        case Const(value=None):
            return v
        case Union(members=ms):
            return union(_mapped(m, f, depth + 1) for m in ms)
    return f(v)


def _delinearize(
    interp: Interpreter, value: Value, everything: list[Value], node: cst.CSTNode, aux: bool = False
) -> Value:
    """A result of plain grad as the caller sees it: concrete arrays on the host, tracers under a trace.

    What is auxiliary stays a Python number where it is one.
    """

    def leaf(v: Value) -> Value:
        if isinstance(v, Array):
            if v.is_traced:
                return replace(v, python=None)
            out = operators.result_array(
                interp, [x for x in everything if traced_leaf(x) is not None], jax=True, node=node, what="the gradient"
            )
            return replace(out, dtype=v.dtype, shape=v.shape, weak=v.weak)
        if isinstance(v, Const | Host) and py_type(v) in operators.NUMBERS and not aux:
            return operators.result_array(
                interp, [], jax=True, node=node, what="the gradient", shape=(), dtype=py_type(v), weak=True
            )
        return v

    return _mapped(value, leaf)


def _axis(v: Value | None, i: int) -> Value:
    """``in_axes`` for the argument at ``i``."""
    if v is None:
        return Const(0)
    content = v.content if isinstance(v, ListV) else v
    if isinstance(content, Tup):
        if content.items is not None:
            return content.items[i] if i < len(content.items) else UNKNOWN
        return UNKNOWN
    return content


def _known_axis(axis: Value) -> bool:
    """Whether each leaf of the axis is a constant."""
    return all(isinstance(x, Const) for x in leaves(axis))


def _element(interp: Interpreter, v: Value, axis: Value, origin: Origin, depth: int = 0) -> Value:
    """One element along the mapped axis."""
    if axis == NONE or depth > 6:
        return v
    match v:
        case Array():
            n = shapes.as_int(axis)
            shape = v.shape
            if shape is not None and n is not None and shape and -len(shape) <= n < len(shape):
                n %= len(shape)
                shape = shape[:n] + shape[n + 1 :]
            elif shape is not None:
                shape = None
            if v.is_traced:
                return replace(v, shape=shape, python=None)
            return Array(Level.TRACED, v.dtype, shape, v.weak, origin=origin, loops=v.loops)
        case Tup(items=items, elem=elem):
            sub = axis.items if isinstance(axis, Tup) else None
            new = (
                None
                if items is None
                else tuple(
                    _element(interp, i, sub[n] if sub is not None and n < len(sub) else axis, origin, depth + 1)
                    for n, i in enumerate(items)
                )
            )
            return replace(v, items=new, elem=None if elem is None else _element(interp, elem, axis, origin, depth + 1))
        case ListV():
            content = _element(interp, v.content, axis, origin, depth + 1)
            assert isinstance(content, Tup)
            return ListV(content, v.site)
        case DictV():
            out: dict[Any, Value] = {}
            for k, x in v.entries().items():
                a = axis.slots.get(k, Const(0)) if isinstance(axis, DictV) else axis
                out[k] = _element(interp, x, a, origin, depth + 1)
            return DictV(out, None if v.rest is None else _element(interp, v.rest, axis, origin, depth + 1), v.site)
        case Obj() if v.project_class is not None and (
            v.project_class.facts.pytree or v.project_class.facts.namedtuple
        ):
            obj = Obj(v.cls, v.site, v.open)
            for k, x in v.slots.items():
                a = axis.slots.get(k, Const(0)) if isinstance(axis, Obj) else axis
                obj.slots[k] = x if not is_data(v, k, x) else _element(interp, x, a, origin, depth + 1)
            return obj
        case Union(members=ms):
            return union(_element(interp, m, axis, origin, depth + 1) for m in ms)
        case Unknown():
            return Tree(frozenset(), origin, True)
        case Tree():
            return v
    return v


def _constants(value: Value | None) -> set[Any] | None:
    """The constants in a set, list or tuple; None where they are not known."""
    if value is None:
        return set()
    content = value.content if isinstance(value, ListV) else value
    items: tuple[Value, ...] | None = None
    if isinstance(content, SetV):
        only = content.slots.get("elem")
        items = () if only is None else members(only)
    elif isinstance(content, Tup):
        items = content.items
    if items is None or not all(isinstance(i, Const) for i in items):
        return None
    return {i.value for i in items if isinstance(i, Const)}


def _call_vmap(interp: Interpreter, wrapped: Wrapped, args: Args, node: cst.CSTNode) -> Value:
    origin = tracing_origin(interp, wrapped.kind, node)
    in_axes = wrapped.options.get("in_axes")
    if wrapped.kind == "vectorize":
        excluded = _constants(wrapped.options.get("excluded"))

        def one(i: int | str, v: Value) -> Value:
            if i in excluded if excluded is not None else isinstance(i, str):
                return v  # names are given for what is excluded
            out = abstract(interp, v, None, origin, keep_python=False)
            out = replace(out, shape=None) if isinstance(out, Array) else out
            return out if excluded is not None else union([v, out])
    else:

        def one(i: int | str, v: Value) -> Value:
            axis = _axis(in_axes, i) if isinstance(i, int) else Const(0)
            if wrapped.kind == "vmap" and isinstance(axis, Const) and axis != NONE:
                _report_leaves(interp, wrapped.kind, v, args.node(i) or node)
            mapped = _element(interp, v, axis, origin)
            # an axis that is not known may be None, which leaves the argument as it is
            return mapped if _known_axis(axis) else union([v, mapped])

    inner = _each(args, one)
    result = host_call(
        interp,
        "vmap",
        None,
        node,
        wrapped.kind == "vectorize" and False,
        lambda: _call_rebuilt(interp, wrapped.func, inner, inner.values(), node),
        box_ids(inner.values()),
    )
    if wrapped.kind == "vmap":
        _check_result(interp, f"`{callable_name(wrapped.func)}` under vmap", result, node)

    def leaf(v: Value) -> Value:
        if isinstance(v, Array | Const | Host) and (isinstance(v, Array) or py_type(v) in operators.NUMBERS):
            out = operators.result_array(interp, _unmapped(args), jax=True, node=node, what="the mapped call")
            shape = v.shape if isinstance(v, Array) else ()
            return replace(
                out,
                dtype=v.dtype if isinstance(v, Array) else py_type(v),
                shape=None if shape is None else (None, *shape),
            )
        return v

    return _mapped(result, leaf)


def _unmapped(args: Args) -> list[Value]:
    return [v for v in args.values() if traced_leaf(v) is not None]


# ------------------------------------------------------------------------------------------------ control flow


def control_flow(
    interp: Interpreter, kind: str, get: Callable[[str], Value | None], args: Args, node: cst.CSTNode
) -> Value:
    """``lax.scan`` and its kin; ``get`` gives an argument by parameter name."""
    origin = tracing_origin(interp, f"lax.{kind}", node)
    eager = interp.lax_off and not interp.traces

    def traced(v: Value | None) -> Value:
        if v is None or eager:
            return UNKNOWN if v is None else v
        return abstract(interp, v, None, origin, keep_python=False)

    def each(xs: Value) -> Value:
        if eager:
            return _mapped(xs, lambda leaf: operators.iterate(interp, leaf, node).any_item())
        return _element(interp, traced(xs), Const(0), origin)

    def given(*names: str) -> list[Value]:
        return [v for name in names if (v := get(name)) is not None]

    def run(f: Value | None, *values: Value) -> Value:
        if f is None:
            return UNKNOWN
        args = Args(list(values))
        if eager:
            return calls.call_value(interp, f, args, node)
        arguments = box_ids(args.values())
        out = host_call(interp, kind, None, node, True, lambda: calls.call_value(interp, f, args, node), arguments)
        _check_result(interp, f"what `lax.{kind}` runs", out, node)
        return out

    bodies = [
        v
        for name in ("f", "body_fun", "cond_fun", "true_fun", "false_fun", "fun", "fn", "branches")
        if (v := get(name)) is not None
    ]
    if not interp.tracing and not interp.quiet and not interp.jit_off:
        why = next((w for b in bodies for m in _functions(b) if (w := fresh(interp, m))), "")
        if kind == "map" and not why:
            why = "map"
        functions = tuple(m for b in bodies for m in _functions(b))
        interp.emit(
            ControlFlow(node=node, unit=interp.unit, kind=kind, fresh=why, bodies=functions, moment=interp.moment())
        )

    operands: list[Value]
    match kind:
        case "scan":
            carry = traced(get("init"))
            xs = get("xs")
            x = NONE if xs is None or xs == NONE else each(xs)
            out = run(get("f"), carry, x)
            pair = operators.iterate(interp, out, node, count=2) if not isinstance(out, Unknown) else Tup(None, UNKNOWN)
            new = pair.items[0] if pair.items is not None and len(pair.items) == 2 else carry
            ys = pair.items[1] if pair.items is not None and len(pair.items) == 2 else UNKNOWN
            final = _same_structure(carry, new)
            stacked = _mapped(ys, lambda v: _stacked(interp, v, _length(xs)))
            everything = given("init", "xs")
            return Tup((concretize(interp, final, everything, node), concretize(interp, stacked, everything, node)))
        case "while_loop":
            init = traced(get("init_val"))
            test = run(get("cond_fun"), init)
            del test
            out = run(get("body_fun"), init)
            return concretize(interp, _same_structure(init, out), given("init_val"), node)
        case "fori_loop":
            init = traced(get("init_val"))
            i = Host("int") if eager else Array(Level.TRACED, "int32", (), False, origin=origin)
            out = run(get("body_fun"), i, init)
            return concretize(
                interp,
                _same_structure(init, out),
                given("init_val", "lower", "upper"),
                node,
            )
        case "cond":
            if _gives_operands_apart(args):
                operands = [args.pos[1], args.pos[3]]
                pairs = ((args.pos[2], traced(operands[0])), (args.pos[4], traced(operands[1])))
                results = prng.apart(interp, [partial(run, f, v) for f, v in pairs])
            else:
                _check_cond(interp, get, node)
                operands = _operands(get, args, 3)
                values = [traced(v) for v in operands]
                both = (get("true_fun"), get("false_fun"))
                results = prng.apart(interp, [partial(run, f, *values) for f in both])
            return concretize(
                interp,
                join(results[0], results[1]),
                [*operands, *given("pred")],
                node,
            )
        case "switch":
            operands = _operands(get, args, 2)
            values = [traced(v) for v in operands]
            branches = get("branches")
            listed = operators.iterate(interp, branches, node) if branches is not None else Tup(None, UNKNOWN)
            functions = listed.items if listed.items is not None else (listed.any_item(),)
            results = prng.apart(interp, [partial(run, f, *values) for f in functions])
            return concretize(interp, join_all(results), [*operands, *given("index")], node)
        case "map":
            xs = get("xs")
            x = UNKNOWN if xs is None else each(xs)
            out = run(get("f"), x)
            return concretize(interp, _mapped(out, lambda v: _stacked(interp, v, _length(xs))), given("xs"), node)
        case "associative_scan":
            elems = get("elems") or UNKNOWN
            fn = get("fn")
            if fn is not None:
                calls.call_value(interp, fn, Args([elems, elems]), node)
            return elems
    return UNKNOWN


def _gives_operands_apart(args: Args) -> bool:
    """``cond(pred, true_operand, true_fun, false_operand, false_fun)``, which JAX still takes."""
    if len(args.pos) != 5:
        return False
    return calls.is_callable(args.pos[1]) is not True and all(
        calls.is_callable(args.pos[i]) is not False for i in (2, 4)
    )


def _check_cond(interp: Interpreter, get: Callable[[str], Value | None], node: cst.CSTNode) -> None:
    pred = get("pred")
    if isinstance(pred, Array) and pred.shape is not None and pred.shape != ():
        interp.emit(
            Misuse(node=node, unit=interp.unit, what="lax.cond", problem="predicate", detail=f"of shape {pred.shape}")
        )
    for name in ("true_fun", "false_fun"):
        branch = get(name)
        if isinstance(branch, Array | Const | Tup | ListV | DictV) and branch != NONE:
            interp.emit(Misuse(node=node, unit=interp.unit, what="lax.cond", problem="no-function", detail=name))
            return


def _functions(v: Value) -> list[Value]:
    content = v.content if isinstance(v, ListV) else v
    if isinstance(content, Tup):
        return [m for i in content.items or () for m in members(i)]
    return list(members(content))


def _operands(get: Callable[[str], Value | None], args: Args, skip: int) -> list[Value]:
    operand = get("operand")
    if operand is not None and len(args.pos) <= skip:
        return [operand]
    rest = args.pos[skip:]
    return [*rest, *([args.rest] if args.rest is not None else [])]


def _length(xs: Value | None) -> int | None:
    for leaf in leaves(xs) if xs is not None else ():
        if isinstance(leaf, Array) and leaf.shape:
            return leaf.shape[0]
    return None


def _stacked(interp: Interpreter, v: Value, length: int | None) -> Value:
    if isinstance(v, Array):
        return replace(v, shape=None if v.shape is None else (length, *v.shape), python=None)
    if isinstance(v, Const | Host) and py_type(v) in operators.NUMBERS:
        return Array(Level.TRACED, py_type(v), (length,), py_type(v) != "bool")
    return v


def _same_structure(a: Value, b: Value) -> Value:
    """The carry: what it started with, or the body's result where that is better known."""
    if isinstance(a, Unknown | Tree) or a == NONE:
        return b if not isinstance(b, Unknown) else a
    return a


def callback(interp: Interpreter, func: Value | None, args: list[Value], node: cst.CSTNode) -> None:
    """Run a callback's body: ordinary Python with numpy arrays."""
    if func is None:
        return
    saved = (interp.traces, interp.guards, interp.compile_time)
    interp.traces, interp.guards, interp.compile_time = [], [], 0

    def host(v: Value) -> Value:
        if isinstance(v, Array | Tree):
            return Array(
                Level.NUMPY, v.dtype if isinstance(v, Array) else None, v.shape if isinstance(v, Array) else None
            )
        return v

    try:
        calls.call_value(interp, func, Args([_mapped(a, host) for a in args]), node)
    finally:
        interp.traces, interp.guards, interp.compile_time = saved
