"""What Python's operators, subscripts, iteration and truth tests do to abstract values, and what they ask of tracers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Set
from dataclasses import field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import libcst as cst

from jitlint.semantics import calls, captured, demands, leaks, lifetime, prng, restored, shapes, timing, transient
from jitlint.semantics.entry import CARRIES_OUT, Entry
from jitlint.semantics.events import (
    BlindTest,
    DynamicShape,
    ItemAssignment,
    LostUpdate,
    NeedsConcrete,
    OuterWrite,
    TruthTest,
)
from jitlint.semantics.records import record, replace
from jitlint.semantics.source import descendants, fills_once
from jitlint.semantics.state import Box, Read
from jitlint.semantics.values import (
    DECLARED,
    GONE,
    HOLDERS,
    NO_LOOPS,
    NONE,
    UNKNOWN,
    ZERO_D,
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    DtypeOf,
    Falsy,
    Func,
    Given,
    Gone,
    Host,
    Jitted,
    Level,
    LibV,
    ListV,
    ModuleV,
    Obj,
    Partial,
    SetV,
    Shape,
    Steps,
    TracerType,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
    is_data,
    join,
    join_all,
    leaves,
    members,
    merge_tups,
    py_type,
    stepwise,
    traced_leaf,
    union,
)
from jitlint.semantics.variation import is_test

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.running import Loop


@record(frozen=True, slots=True)
class SliceV(Value):
    """A slice between brackets."""

    lower: Value
    upper: Value
    step: Value
    node: cst.CSTNode | None = field(default=None, compare=False)

    @property
    def bounds(self) -> tuple[Value, Value, Value]:
        return (self.lower, self.upper, self.step)


@record(frozen=True, slots=True)
class AtV(Value):
    """``x.at`` or ``x.at[index]``."""

    array: Value
    index: Value | None = None


NUMBERS = {"bool", "int", "float", "complex", "number"}

# ------------------------------------------------------------------------------------------------ arrays


def number(v: Value) -> Array | None:
    """A static Python number as an array-like operand (weak unless bool), or the array itself; None for the rest."""
    if isinstance(v, Array):
        return v
    kind = py_type(v)
    if kind not in NUMBERS:
        return None
    loops, via = (v.loops, v.via) if isinstance(v, Const | Host) else (NO_LOOPS, None)
    return Array(Level.NUMPY, None if kind == "number" else kind, (), kind != "bool", python=kind, loops=loops, via=via)


_NUMPY, _HOST, _LINEAR, _TRACED = Level
"""The levels, for who looks at each operand: it takes time to get them from the class."""


def result_array(
    interp: Interpreter,
    operands: Iterable[Value],
    *,
    dtype: str | None = None,
    shape: Shape | None = None,
    weak: bool | None = None,
    python: str | None = None,
    jax: bool = False,
    node: cst.CSTNode | None = None,
    what: str = "",
) -> Array:
    """The array that an operation on ``operands`` gives: traced when one is, or when jax operations are staged here.

    ``jax`` says that the operation is jax's own (its result is a tracer under a staging trace, whatever it is given).
    """
    level = _HOST if jax else _NUMPY
    roots: frozenset[Any] = frozenset()
    origin = None
    loops = resized = NO_LOOPS
    definite = False
    maybe = False
    via = None
    staging = interp.staging
    for operand in operands:
        for v in leaves(operand) if type(operand) in HOLDERS else (operand,):
            if isinstance(v, Array):
                own = v.level
                if own > level:
                    level = own
                if v.loops:
                    loops |= v.loops
                if v.shape_loops:
                    resized |= running(interp, v.shape_loops)
                if v.via is not None:
                    via = via or _carried(v.via)
                if own is _TRACED:
                    roots |= v.roots
                    origin = origin or v.origin
                elif staging and v.shape and own is not _LINEAR:
                    captured.computed_with(interp, v)
                if own is not _NUMPY:
                    definite |= not v.maybe
                    maybe |= v.maybe
            elif isinstance(v, Tree):
                level = _TRACED
                roots |= v.roots
                origin = origin or v.origin
                definite |= not v.maybe
                maybe |= v.maybe
            elif isinstance(v, (Const, Host)):
                if v.loops:
                    loops |= v.loops
                if v.via is not None:
                    via = via or _carried(v.via)
    definite |= jax and (staging or level is not _TRACED)
    if staging and level in (_HOST, _LINEAR):
        level = _TRACED
        if node is not None:
            trace = next(t for t in reversed(interp.traces) if t.staging)
            name = trace.entry.name if trace.entry is not None else trace.kind
            origin = interp.origin(
                f"{what or 'a jax operation'} gives a tracer here: it runs while `{name}` is traced", node
            )
    if level is _TRACED and interp.loops and interp.loops[-1].traced:
        interp.loops[-1].operations += 1
    return Array(level, dtype, shape, weak, python, roots, maybe and not definite, origin, loops, via, resized)


def staged(interp: Interpreter, value: Value, node: cst.CSTNode, what: str) -> Value:
    """What an operation on ``value`` gives, as far as it is a tracer: one on a concrete jax array under a trace is."""
    if isinstance(value, Array) and value.level is Level.HOST and interp.staging:
        return result_array(interp, [value], node=node, what=what, dtype=value.dtype, shape=value.shape)
    return value


def needs_concrete(
    interp: Interpreter, value: Value, node: cst.CSTNode, need: str, what: str, error: str, param: str = ""
) -> bool:
    """Record that ``what`` needs ``value`` concrete, if it is traced; True when it (certainly) is."""
    certain = False
    demands.note(value, need)
    for m in members(value):
        leaf = traced_leaf(m)
        if leaf is None:
            continue
        possible = isinstance(value, Union) or leaf.maybe
        if possible and need in _COUNTED and not leaf.roots and any(py_type(o) == "int" for o in members(value)):
            break  # an int, unless something that is not known is an array
        certain |= not possible
        interp.emit(
            NeedsConcrete(
                node=node,
                unit=interp.unit,
                value=value,
                leaf=leaf,
                need=need,
                what=what,
                error=error,
                param=param,
                possible=possible,
            )
        )
        break
    return certain


_COUNTED = frozenset({"shape", "size", "count", "range"})
"""What asks for an int, and for nothing else."""


def differentiated(interp: Interpreter, value: Value, node: cst.CSTNode, need: str, what: str, error: str) -> None:
    """Record what a value that ``grad`` differentiates refuses as a traced one does: it is a tracer, though its value is
    known."""
    for m in members(value):
        if isinstance(m, Array) and m.level is Level.LINEAR:
            interp.emit(
                NeedsConcrete(
                    node=node,
                    unit=interp.unit,
                    value=value,
                    leaf=m,
                    need=need,
                    what=what,
                    error=error,
                    possible=isinstance(value, Union),
                )
            )


# ------------------------------------------------------------------------------------------------ truth


def blind(interp: Interpreter, event: BlindTest) -> None:
    """Keep a test that a tracer answers with a constant; it is recorded when something is decided by it."""
    interp.blind[id(event.node)] = event


def known_truth(v: Value) -> bool | None:
    """The truth of a value where it is known without asking a tracer."""
    match v:
        case Const(value=c):
            return bool(c)
        case Given(true=True):
            return True
        case Falsy():
            return False
        case Tup(items=items) if items is not None:
            return bool(items)
        case ListV():
            return None if v.content.items is None else bool(v.content.items)
        case DictV():
            return True if v.entries() else (False if v.rest is None else None)
        case SetV():
            return True if v.some else None
        case Func() | ModuleV() | ClassV() | Jitted() | Partial() | Wrapped() | Bound():
            return True
        case LibV(name=name):
            return None if name.rpartition(".")[2].isupper() else True if name[:1].isupper() or "." in name else None
        case Obj():
            cls = v.project_class
            if cls is None or cls.facts.namedtuple or cls.facts.enum:
                return None
            if cls.opaque() or cls.lookup("__bool__") is not None or cls.lookup("__len__") is not None:
                return None
            return True
    return None


def truth(interp: Interpreter, value: Value, node: cst.CSTNode, construct: str) -> bool | None:
    """Ask a value for its truth: the answer where known; a traced value is recorded as an event."""
    blind = interp.blind.pop(id(node), None)
    if blind is not None and not (construct == "ternary" and blind.how == "isinstance"):
        interp.emit(blind)
    alternatives = members(value)
    known = {known_truth(m) for m in alternatives}
    if len(known) == 1 and None not in known:
        return known.pop()
    for m in alternatives:
        if isinstance(m, Obj) and m.project_class is not None:
            for name in ("__bool__", "__len__"):
                method = m.project_class.lookup(name)
                if method is not None:
                    inner = calls.call_value(interp, Bound(method, m), calls.Args(), node)
                    return truth(interp, inner, node, construct)
        if isinstance(m, Array) and m.is_traced or isinstance(m, Tree):
            if not interp.traces:
                timing.waited(interp)
                leaks.check(interp, [m], node)
                return None
            if isinstance(m, Tree) and not m.roots and isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
                return None  # what was given is not known: the truth of a container or of None is a bool
            unsure = isinstance(value, Union) and not m.roots and not m.maybe
            if unsure and any(py_type(other) == "bool" for other in members(value)):
                return None  # a bool, unless something that is not known is an array
            possible = isinstance(value, Union) or m.maybe or isinstance(m, Tree)
            error = "TracerBoolConversionError"
            if isinstance(m, Array) and m.shape is not None and any(d is not None and d != 1 for d in m.shape):
                error = "ValueError"
            interp.raised += not possible and not interp.muted
            interp.emit(_truth_test(interp, value, m, node, construct, error, possible))
            return None
        if isinstance(m, Array) and m.via == DECLARED and isinstance(value, Union):
            if any(py_type(other) == "bool" for other in members(value)):
                return None  # a condition, for callers that know it
            interp.emit(_truth_test(interp, value, m, node, construct, "TracerBoolConversionError", True))
    return None


def _truth_test(
    interp: Interpreter, value: Value, leaf: Array | Tree, node: cst.CSTNode, construct: str, error: str, possible: bool
) -> TruthTest:
    return TruthTest(
        node=node,
        unit=interp.unit,
        value=value,
        leaf=leaf,
        error=error,
        possible=possible,
        construct=construct,
        reached=not interp.muted,
    )


# ------------------------------------------------------------------------------------------------ operators

_FOLD: dict[type[cst.CSTNode], Callable[[Any, Any], Any]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.Divide: operator.truediv,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
    cst.Power: operator.pow,
    cst.LeftShift: operator.lshift,
    cst.RightShift: operator.rshift,
    cst.BitAnd: operator.and_,
    cst.BitOr: operator.or_,
    cst.BitXor: operator.xor,
}
_DUNDER: dict[type[cst.CSTNode], str] = {
    cst.Add: "add",
    cst.Subtract: "sub",
    cst.Multiply: "mul",
    cst.Divide: "truediv",
    cst.FloorDivide: "floordiv",
    cst.Modulo: "mod",
    cst.Power: "pow",
    cst.LeftShift: "lshift",
    cst.RightShift: "rshift",
    cst.BitAnd: "and",
    cst.BitOr: "or",
    cst.BitXor: "xor",
    cst.MatrixMultiply: "matmul",
}
AUGMENTED: dict[type[cst.CSTNode], type[cst.CSTNode]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.PowerAssign: cst.Power,
    cst.LeftShiftAssign: cst.LeftShift,
    cst.RightShiftAssign: cst.RightShift,
    cst.BitAndAssign: cst.BitAnd,
    cst.BitOrAssign: cst.BitOr,
    cst.BitXorAssign: cst.BitXor,
    cst.MatrixMultiplyAssign: cst.MatrixMultiply,
}


def _pairs(a: Value, b: Value) -> list[tuple[Value, Value]]:
    return [(x, y) for x in members(a) for y in members(b)][:16]


def _operands(v: Value) -> Value:
    """The alternatives that make sense in arithmetic: what may be an array is no list there."""
    arrays = [m for m in members(v) if not isinstance(m, ListV | Tup | DictV)]
    return union(arrays) if any(isinstance(m, Array | Tree) for m in arrays) else v


def binary(interp: Interpreter, op: type[cst.CSTNode], left: Value, right: Value, node: cst.CSTNode) -> Value:
    """``left op right``."""
    if isinstance(left, Union) or isinstance(right, Union):
        pairs = _pairs(_operands(left), _operands(right))
        with interp.perhaps(len(pairs) > 1):
            return union([_binary(interp, op, a, b, node) for a, b in pairs])
    return _binary(interp, op, left, right, node)


def _binary(interp: Interpreter, op: type[cst.CSTNode], left: Value, right: Value, node: cst.CSTNode) -> Value:
    if isinstance(left, Const) and isinstance(right, Const):
        folded = fold(op, left, right)
        if folded is not None:
            return folded
    for me, other, prefix in ((left, right, ""), (right, left, "r")):
        if isinstance(me, Obj) and me.project_class is not None:
            method = me.project_class.lookup(f"__{prefix}{_DUNDER[op]}__")
            if method is not None:
                return calls.call_value(interp, Bound(method, me), calls.Args([other]), node)
    if interp.skipped and _may_overload(interp, op, left, right):
        return UNKNOWN
    if op is cst.Multiply and (_may_repeat(left, right) or _may_repeat(right, left)):
        return UNKNOWN
    if isinstance(left, Array | Tree) or isinstance(right, Array | Tree):
        return _array_binary(interp, op, left, right, node)
    if op is cst.BitOr and (kinds := _alternatives(left)) and (others := _alternatives(right)):
        return Tup((*kinds, *others))  # to ``isinstance``, a union of types is a tuple of them
    if isinstance(left, ListV | Tup) or isinstance(right, ListV | Tup):
        return _sequence_binary(interp, op, left, right, node)
    lt, rt = py_type(left), py_type(right)
    if lt == "str" and op is cst.Modulo:
        return _percent(interp, left, right, node)
    if (lt == "str" or rt == "str") and op in (cst.Add, cst.Multiply):
        return text_of(left, right)
    if lt in NUMBERS and rt in NUMBERS:
        if op in _FOLD and (stepped := stepwise(_FOLD[op], left, right)) is not None:
            return _left_over(stepped, left, right) if op is cst.Subtract else stepped
        most = shapes.as_int(right)
        if op is cst.Modulo and most is not None and most > 0 and lt == "int":
            return Host("int", frozenset(x.few(most) for x in _loops(left)), _via(left))
        number = Host(_number_type(op, lt or "", rt or ""), _loops(left, right), _via(left, right))
        return _left_over(number, left, right) if op is cst.Subtract else number
    if isinstance(left, SetV) and isinstance(right, SetV):
        each = [*left.slots.values(), *right.slots.values()]
        return SetV(join_all(each) if each else None, node, some=op is cst.BitOr and (left.some or right.some))
    if isinstance(left, DictV) and isinstance(right, DictV) and op is cst.BitOr:
        out = DictV(site=node)
        out.slots.update(left.slots)
        out.slots.update(out.updated(right.slots))
        return out
    leaks.check(interp, [left, right], node)
    return UNKNOWN


def _may_repeat(sequence: Value, number: Value) -> bool:
    """May the number be a scalar of NumPy, which repeats a list as an int does?"""
    if not isinstance(sequence, ListV | Tup) or not isinstance(number, Array) or number.level is not Level.NUMPY:
        return False
    return number.shape in (None, ()) and number.via != ZERO_D and shapes.kind(number.dtype) in (None, "int")


def _may_overload(interp: Interpreter, op: type[cst.CSTNode], left: Value, right: Value) -> bool:
    """May an operand have operators of its own? A call that was not followed may give it, and a class has them."""
    for operand, prefix in ((left, ""), (right, "r")):
        if isinstance(operand, Unknown):
            return f"__{prefix}{_DUNDER[op]}__" in _special_methods(interp)
    return False


_special: WeakKeyDictionary[Interpreter, tuple[int, int, frozenset[str]]] = WeakKeyDictionary()


def _special_methods(interp: Interpreter) -> frozenset[str]:
    """The names in two pairs of underscores that classes of the project have attributes of."""
    count, rewritten, names = _special.get(interp, (0, 0, frozenset[str]()))
    if rewritten != ClassV.rewritten:
        count, names = 0, frozenset()
    if count < len(interp.classes):
        names = names.union(*[cls.special_names() for cls in interp.classes[count:]])
    if (count, rewritten) != (len(interp.classes), ClassV.rewritten):
        _special[interp] = len(interp.classes), ClassV.rewritten, names
    return names


def _alternatives(kind: Value) -> tuple[Value, ...]:
    """The classes of ``A | B``, or the class itself."""
    if isinstance(kind, Tup):
        return kind.items if kind.items and all(isinstance(k, ClassV | LibV) for k in kind.items) else ()
    return (LibV("types.NoneType"),) if kind == NONE else (kind,) if isinstance(kind, ClassV | LibV) else ()


def _left_over(difference: Value, left: Value, right: Value) -> Value:
    """``n - length``: what is left of ``n``, which with that length makes ``n`` again."""
    if isinstance(difference, Host) and isinstance(right, Host) and not _loops(left):
        return replace(difference, loops=frozenset(x.rest() for x in right.loops))
    return difference


def summed(loops: frozenset[Any]) -> frozenset[Any]:
    """The loops over which the sum of lengths changes that change over ``loops``: padding fills what is left."""
    rests = {id(x.node) for x in loops if x.fills}
    if not rests:
        return loops
    filled = rests & {id(x.node) for x in loops if not x.fills}
    return frozenset(x for x in loops if id(x.node) not in filled)


def _loops(*values: Value) -> frozenset[Any]:
    out = NO_LOOPS
    for v in values:
        out |= getattr(v, "loops", NO_LOOPS)
    return out


def _via(*values: Value) -> str | None:
    for v in values:
        via = _carried(getattr(v, "via", None))
        if via:
            return via
    return None


def _carried(via: str | None) -> str | None:
    """What is true of a result as well: not that an array is gone, or which key it is."""
    return None if via is None or via == ZERO_D or via in GONE or prng.is_token(via) else via


def _number_type(op: type[cst.CSTNode], a: str, b: str) -> str:
    order = ["bool", "int", "float", "complex", "number"]
    kind = order[max(order.index(a), order.index(b))]
    if op is cst.Divide and kind in ("bool", "int"):
        return "float"
    if kind == "bool" and op not in (cst.BitAnd, cst.BitOr, cst.BitXor):
        return "int"
    return kind


def fold(op: type[cst.CSTNode], left: Const, right: Const) -> Value | None:
    """The constant result of an operator on two constants; None where it is not to be had cheaply."""
    f = _FOLD.get(op)
    if f is None:
        return None
    a, b = left.value, right.value
    if op in (cst.Power, cst.LeftShift) and not (isinstance(b, int | float) and abs(b) <= 64):
        return None
    if op is cst.Multiply and any(isinstance(x, str | bytes) for x in (a, b)):
        text, times = (a, b) if isinstance(a, str | bytes) else (b, a)
        if not isinstance(times, int) or len(text) * times > 64 or _loops(left, right):
            return None  # a text that grows in a loop is known by what it grows with
    try:
        value = f(a, b)
    except Exception:
        return None
    if isinstance(value, bool | int | float | complex | str | bytes) and (
        not isinstance(value, int) or abs(value) < 1 << 64
    ):
        return Const(value, _loops(left, right), _via(left, right))
    return None


_NO_OPERANDS = (Obj, LibV, Func, DictV)
"""What no operator of arrays takes, unless it is a number as well."""


def _array_binary(interp: Interpreter, op: type[cst.CSTNode], left: Value, right: Value, node: cst.CSTNode) -> Value:
    if leaks.check(interp, [left, right], node):
        return UNKNOWN
    if (
        isinstance(left, ListV | Tup)
        and isinstance(right, Array)
        and right.is_traced
        or isinstance(right, ListV | Tup)
        and isinstance(left, Array)
        and left.is_traced
    ):
        sequence, other = (left, right) if isinstance(left, ListV | Tup) else (right, left)
        if op is cst.Multiply and isinstance(other, Array):
            needs_concrete(interp, other, node, "repeat", "list * n", "TypeError")
        return result_array(interp, [sequence, other])
    if isinstance(left, Tree) and isinstance(right, Tree | Unknown | ListV | Tup | DictV):
        return Tree(left.roots | (right.roots if isinstance(right, Tree) else frozenset()), left.origin, left.maybe)
    if isinstance(right, Tree) and isinstance(left, Unknown | ListV | Tup | DictV):
        return right
    if py_type(left) == "str" and op is cst.Modulo:
        return _percent(interp, left, right, node)
    a, b = number(left), number(right)
    if a is None and isinstance(left, _NO_OPERANDS) or b is None and isinstance(right, _NO_OPERANDS):
        return UNKNOWN
    if a is None or b is None:
        out = result_array(interp, [left, right], node=node, what="this operation")
        scalar = _may_be_number(left) and _may_be_number(right) and op is not cst.MatrixMultiply
        return replace(out, python="number") if scalar and out.is_traced else out
    dtype, weak = shapes.promote(a, b)
    if op is cst.Divide:
        dtype = shapes.inexact(dtype)
    shape = shapes.matmul(a.shape, b.shape) if op is cst.MatrixMultiply else shapes.broadcast(a.shape, b.shape)
    out = result_array(
        interp, [left, right], dtype=dtype, weak=weak, shape=shape, node=node, what="this operation"
    )
    if out.is_traced and a.python and b.python and op is not cst.MatrixMultiply:
        return replace(out, python=_number_type(op, a.python, b.python))
    return out


def _may_be_number(v: Value) -> bool:
    """Could it be a Python number if the parameter that it comes from were static?"""
    return (
        isinstance(v, Tree) and bool(v.roots) or isinstance(v, Array) and v.python is not None or py_type(v) in NUMBERS
    )


def text_of(*values: Value) -> Host:
    """A string made of these values; one that shows a tracer says so."""
    via = "tracer" if any(traced_leaf(v) is not None for v in values) else _via(*values)
    return Host("str", _loops(*values), via)


def _percent(interp: Interpreter, left: Value, right: Value, node: cst.CSTNode) -> Value:
    template = left.value if isinstance(left, Const) else ""
    if isinstance(template, str) and any(c in template for c in ("%d", "%f", "%i", "%e", "%g", "%.", "%5", "%0", "%x")):
        needs_concrete(interp, right, node, "format", "% formatting", "TypeError")
    return text_of(left, right)


def _sequence_binary(interp: Interpreter, op: type[cst.CSTNode], left: Value, right: Value, node: cst.CSTNode) -> Value:
    a = left.content if isinstance(left, ListV) else left
    b = right.content if isinstance(right, ListV) else right
    is_list = isinstance(left, ListV) or isinstance(right, ListV)

    def wrap(t: Tup) -> Value:
        return ListV(t, node) if is_list else t

    if op is cst.Add and isinstance(a, Tup) and isinstance(b, Tup):
        if a.items is not None and b.items is not None:
            return wrap(Tup((*a.items, *b.items)))
        parts = [t.any_item() for t in (a, b) if t.items is None or t.items]
        return wrap(Tup(None, join_all(parts) if parts else None, length_loops=summed(a.length_loops | b.length_loops)))
    if op is cst.Multiply:
        seq, n = (a, right) if isinstance(a, Tup) else (b, left)
        assert isinstance(seq, Tup)
        if (
            isinstance(n, Const)
            and isinstance(n.value, int)
            and seq.items is not None
            and len(seq.items) * n.value <= 64
        ):
            return wrap(Tup(seq.items * n.value))
        if isinstance(n, Const | Host) and py_type(n) in ("int", "bool"):
            return wrap(Tup(None, seq.any_item(), length_loops=n.loops))
        if isinstance(n, Unknown):
            return UNKNOWN
    return UNKNOWN


def unary(interp: Interpreter, node: cst.UnaryOperation, value: Value) -> Value:
    """``-x``, ``+x``, ``~x``."""

    def one(v: Value) -> Value:
        if isinstance(v, Const) and isinstance(v.value, bool | int | float | complex):
            if isinstance(node.operator, cst.Minus):
                return Const(-v.value, v.loops, v.via)
            if isinstance(node.operator, cst.BitInvert):
                return Const(~int(v.value), v.loops, v.via) if isinstance(v.value, int) else UNKNOWN
            return Const(+v.value, v.loops, v.via)
        if isinstance(v, Host):
            return v
        if isinstance(v, Array):
            if leaks.check(interp, [v], node):
                return UNKNOWN
            out = result_array(interp, [v], node=node, what="this operation")
            python = ("int" if v.python == "bool" else v.python) if out.is_traced and v.is_traced else None
            return replace(out, dtype=v.dtype, weak=v.weak, shape=v.shape, python=python)
        if isinstance(v, Tree):
            return result_array(interp, [v])
        if isinstance(v, Obj) and v.project_class is not None:
            name = {cst.Minus: "__neg__", cst.BitInvert: "__invert__"}.get(type(node.operator), "__pos__")
            method = v.project_class.lookup(name)
            if method is not None:
                return calls.call_value(interp, Bound(method, v), calls.Args(), node)
        return UNKNOWN

    if not isinstance(value, Union):
        return union([one(value)])
    with interp.perhaps(True):
        return union([one(m) for m in value.members])


_COMPARE: dict[type[cst.CSTNode], Callable[[Any, Any], Any]] = {
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
}


_OWN_METHODS: dict[type[cst.CSTNode], str] = {
    cst.Equal: "__eq__",
    cst.NotEqual: "__ne__",
    cst.LessThan: "__lt__",
    cst.GreaterThan: "__gt__",
    cst.LessThanEqual: "__le__",
    cst.GreaterThanEqual: "__ge__",
}
_MIRRORED_METHODS: dict[type[cst.CSTNode], str] = {
    cst.Equal: "__eq__",
    cst.NotEqual: "__ne__",
    cst.LessThan: "__gt__",
    cst.GreaterThan: "__lt__",
}


def compare(
    interp: Interpreter,
    op: cst.BaseCompOp,
    left: Value,
    right: Value,
    node: cst.Comparison,
) -> Value:
    """One comparison of a chain."""
    kind = type(op)
    if kind in (cst.Is, cst.IsNot):
        known = _identical(interp, left, right, node)
        return Host("bool") if known is None else Const(known == (kind is cst.Is))
    if kind in (cst.In, cst.NotIn):
        own = _own_test(right)
        if own is not None:
            known = truth(interp, calls.call_value(interp, own, calls.Args([left]), node), node, "in")
        else:
            known = _contains(interp, left, right, node)
        return Host("bool") if known is None else Const(known == (kind is cst.In))
    if isinstance(left, Union) or isinstance(right, Union):
        return union(_compare(interp, op, a, b, node, possible=True) for a, b in _pairs(left, right))
    return _compare(interp, op, left, right, node)


def _own_test(container: Value) -> Bound | None:
    """The ``__contains__`` of an instance of a class of the project."""
    cls = container.project_class if isinstance(container, Obj) else None
    method = cls.lookup("__contains__") if cls is not None else None
    return Bound(method, container) if method is not None else None


def _identical(interp: Interpreter, left: Value, right: Value, node: cst.CSTNode) -> bool | None:
    answers: set[bool | None] = set()
    for a, b in _pairs(left, right):
        if _type_test(interp, a, b, node, "is") or _other_types(a, b) or _is_given(a) and b == NONE:
            answers.add(False)
        elif isinstance(a, Unknown | Tree | Host) and isinstance(b, Unknown | Tree | Host | Const):
            answers.add(None if not (isinstance(a, Host) and b == NONE and a.type != "object") else False)
        elif isinstance(b, Unknown | Tree) or isinstance(a, Unknown):
            answers.add(None)
        elif isinstance(a, Const) and isinstance(b, Const):
            answers.add(
                a == b
                if a.value is None
                or b.value is None
                or isinstance(a.value, bool)
                or isinstance(b.value, bool)
                or a.value is ...
                or b.value is ...
                else None
                if a == b
                else False
            )
        elif (
            isinstance(a, Const | Array)
            and isinstance(b, Const | Array)
            and (isinstance(a, Array) and a.is_traced or isinstance(b, Array) and b.is_traced)
        ):
            const = a if isinstance(a, Const) else b
            leaf = a if isinstance(a, Array) else b
            assert isinstance(leaf, Array)
            literal = isinstance(const, Const) and isinstance(const.value, bool | int | float) and _has_literal(node)
            if isinstance(const, Const) and literal and leaf.shape in ((), None):
                blind(
                    interp,
                    BlindTest(
                        node=node,
                        unit=interp.unit,
                        value=leaf,
                        leaf=leaf,
                        error="",
                        how="is",
                        against=repr(const.value),
                        possible=leaf.maybe or isinstance(left, Union),
                    ),
                )
            answers.add(False if isinstance(const, Const) else None)
        elif b == NONE or a == NONE:
            other = a if b == NONE else b
            answers.add(False if not isinstance(other, LibV) else None)
        elif isinstance(a, Box) and isinstance(b, Box) or isinstance(a, Func) and isinstance(b, Func):
            answers.add(True if a is b else None)
        elif isinstance(a, LibV) and isinstance(b, LibV):
            answers.add(True if a == b else None)
        else:
            answers.add(None)
    return answers.pop() if len(answers) == 1 else None


def _has_literal(test: cst.CSTNode) -> bool:
    """Does a test of identity spell a number or a flag? One under a name of its own marks what was not given, and what
    was given is another object, a tracer or not."""
    if not isinstance(test, cst.Comparison):
        return True
    operands = (test.left, *(c.comparator for c in test.comparisons))
    return any(o.value in ("True", "False") if type(o) is cst.Name else type(o) in _LITERALS for o in operands)


_LITERALS = frozenset({cst.Integer, cst.Float, cst.UnaryOperation})


def _is_given(value: Value) -> bool:
    return isinstance(value, Given) or isinstance(value, Tree) and value.given


SCALARS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.complex"})
CONTAINERS = frozenset({"builtins.list", "builtins.tuple", "builtins.dict", "builtins.set", "builtins.str"})


def _other_types(left: Value, right: Value) -> bool:
    """Are these two classes, one of them of Python's containers, and not the same? A number of one type may be taken
    for one of another, where only an annotation says of which."""
    if not isinstance(left, LibV | ClassV | TracerType) or not isinstance(right, LibV | ClassV | TracerType):
        return False
    names = [v.name if isinstance(v, LibV) else "" for v in (left, right)]
    return (
        names[0] != names[1]
        and not CONTAINERS.isdisjoint(names)
        and all(name in CONTAINERS or name in SCALARS or not name for name in names)
    )


def _other_dtypes(left: Value, right: Value) -> bool:
    """Are these dtypes of different kinds?"""
    if not isinstance(left, DtypeOf) and not isinstance(right, DtypeOf):
        return False
    kinds = [shapes.kind(v.name if isinstance(v, DtypeOf) else shapes.named(v)) for v in (left, right)]
    return kinds[0] != kinds[1] and None not in kinds


def _type_test(interp: Interpreter, left: Value, right: Value, node: cst.CSTNode, how: str) -> bool:
    """``type(x) is int`` of a traced ``x``: certainly False, and blind to what it would be if ``x`` were static."""
    kind, other = (left, right) if isinstance(left, TracerType) else (right, left)
    if not isinstance(kind, TracerType) or not isinstance(other, LibV) or other.name not in SCALARS:
        return False
    leaf = kind.of
    if isinstance(leaf, Array) and leaf.python is not None:
        against = other.name.rpartition(".")[2]
        blind(
            interp,
            BlindTest(
                node=node,
                unit=interp.unit,
                value=leaf,
                leaf=leaf,
                error="",
                how=how,
                against=against,
                possible=leaf.maybe,
            ),
        )
    return True


def _contains(interp: Interpreter, left: Value, right: Value, node: cst.CSTNode) -> bool | None:
    answers: set[bool | None] = set()
    for item, container in _pairs(left, right):
        answers.add(_contains_one(interp, item, container, node, isinstance(left, Union) or isinstance(right, Union)))
    return answers.pop() if len(answers) == 1 else None


def _contains_one(interp: Interpreter, item: Value, container: Value, node: cst.CSTNode, possible: bool) -> bool | None:
    if isinstance(container, ListV):
        container = container.content
    if isinstance(container, Array):
        if container.is_traced or isinstance(item, Array) and item.is_traced:
            value = container if container.is_traced else item
            with interp.perhaps(possible):
                truth(interp, value, node, "in")
        return None
    if isinstance(container, DictV):
        if isinstance(item, Array) and item.is_traced:
            hashed(interp, item, node, "a key")
            return None
        key = dict_key(item)
        if key is not None and container.rest is None:
            return key in container.slots
        return True if key is not None and key in container.slots else None
    if isinstance(container, SetV):
        hashed(interp, item, node, "an element")
        return None
    if isinstance(container, Const) and isinstance(container.value, str) and isinstance(item, Const):
        return str(item.value) in container.value
    if isinstance(container, Tup):
        items = (
            container.items
            if container.items is not None
            else ((container.elem,) if container.elem is not None else ())
        )
        known: bool | None = False
        for i in items:
            if i is item or isinstance(i, LibV) and i == item:
                return True if container.items is not None else None
            if _type_test(interp, item, i, node, "in") or _other_types(item, i):
                continue
            if isinstance(i, Const) and isinstance(item, Const):
                if i.value == item.value:
                    return True if container.items is not None else None
                continue
            traced = next((v for v in (item, i) if isinstance(v, Array) and v.is_traced), None)
            if traced is not None:
                other = i if traced is item else item
                if other == NONE or py_type(other) == "str":
                    continue
                if isinstance(other, Func | ClassV | Obj | LibV) and number(other) is None:
                    continue
                if isinstance(other, Unknown):
                    return None
                with interp.perhaps(possible):
                    truth(interp, traced, node, "in")
                return None
            known = None
        return known if container.items is not None else None
    return None


def _compare(
    interp: Interpreter, op: cst.BaseCompOp, left: Value, right: Value, node: cst.CSTNode, possible: bool = False
) -> Value:
    kind = type(op)
    equality = kind in (cst.Equal, cst.NotEqual)
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return Const(bool(_COMPARE[kind](left.value, right.value)), _loops(left, right), _via(left, right))
        except Exception:
            return UNKNOWN
    if kind in _COMPARE and (stepped := stepwise(_COMPARE[kind], left, right)) is not None:
        return stepped
    if equality and (
        _type_test(interp, left, right, node, "==") or _other_types(left, right) or _other_dtypes(left, right)
    ):
        return Const(kind is cst.NotEqual)
    for me, other, methods in ((left, right, _OWN_METHODS), (right, left, _MIRRORED_METHODS)):
        if isinstance(me, Obj) and me.project_class is not None and kind in methods:
            method = me.project_class.lookup(methods[kind])
            if isinstance(method, Func):
                return calls.call_value(interp, Bound(method, me), calls.Args([other]), node)
    if isinstance(left, Array | Tree) or isinstance(right, Array | Tree):
        traced = left if isinstance(left, Array | Tree) else right
        other = right if traced is left else left
        if isinstance(other, Const | Host) and py_type(other) in ("NoneType", "str", "bytes") and equality:
            if py_type(other) == "str":
                demands.note(traced, "str")
            if isinstance(traced, Array) and traced.is_traced and py_type(other) == "str":
                against = repr(other.value) if isinstance(other, Const) else "a string"
                blind(
                    interp,
                    BlindTest(
                        node=node,
                        unit=interp.unit,
                        value=traced,
                        leaf=traced,
                        error="",
                        how="==",
                        against=against,
                        possible=traced.maybe or possible,
                    ),
                )
            if isinstance(traced, Tree):
                return Host("bool")
            return Const(kind is cst.NotEqual)
        if (
            isinstance(other, Func | ClassV | Jitted | Partial | ModuleV | LibV | Obj)
            and equality
            and number(other) is None
        ):
            return Host("bool")
        if isinstance(traced, Tree) and isinstance(other, Tup | ListV | DictV | SetV) and equality:
            return Host("bool")  # a container, since an array cannot be compared with one
        if isinstance(traced, Tree) and isinstance(other, Unknown | Tree) and equality:
            return Host("bool")
        if isinstance(traced, Array) and not traced.is_traced and isinstance(other, Unknown):
            return UNKNOWN
        if leaks.check(interp, [left, right], node):
            return UNKNOWN
        a, b = number(left), number(right)
        out = result_array(interp, [left, right], dtype="bool", weak=False, node=node, what="this comparison")
        shape = shapes.broadcast(a.shape, b.shape) if a is not None and b is not None else None
        python = "bool" if out.is_traced and _may_be_number(left) and _may_be_number(right) else None
        if out.level is Level.LINEAR:
            out = replace(out, level=Level.HOST)  # a comparison under plain grad is concrete
        return replace(out, shape=shape, python=python)
    if equality and isinstance(left, Tup | ListV) and isinstance(right, Tup | ListV):
        return _equal_sequences(interp, left, right, node, kind)
    if isinstance(left, Tup) and isinstance(right, Tup) and left.items and right.items:
        first = _compare(interp, cst.Equal(), left.items[0], right.items[0], node)
        truth(interp, first, node, "in")
    if isinstance(left, Func | ClassV) and isinstance(right, Func | ClassV) and equality:
        return Const((left is right) == (kind is cst.Equal))
    if isinstance(left, LibV) and isinstance(right, LibV) and equality and left == right:
        return Const(kind is cst.Equal)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return UNKNOWN  # an array perhaps, of any shape
    return Host("bool", _loops(left, right), _via(left, right))


def _equal_sequences(
    interp: Interpreter, left: Value, right: Value, node: cst.CSTNode, kind: type[cst.CSTNode]
) -> Value:
    a = left.content if isinstance(left, ListV) else left
    b = right.content if isinstance(right, ListV) else right
    if left is right:
        return Const(kind is cst.Equal)
    if not (isinstance(a, Tup) and isinstance(b, Tup) and a.items is not None and b.items is not None):
        return Host("bool")
    if len(a.items) != len(b.items) or isinstance(left, ListV) != isinstance(right, ListV):
        return Const(kind is cst.NotEqual)
    unknown = False
    for x, y in zip(a.items, b.items, strict=True):
        if x is y:
            continue
        same = _compare(interp, cst.Equal(), x, y, node)
        known = truth(interp, same, node, "in")
        if known is False:
            return Const(kind is cst.NotEqual)
        unknown |= known is None
    return Host("bool") if unknown else Const(kind is cst.Equal)


# ------------------------------------------------------------------------------------------------ subscripts


def subscript(interp: Interpreter, base: Value, index: Value, node: cst.Subscript) -> Value:
    """``base[index]``."""
    if isinstance(base, Union):
        alternatives = [m for m in base.members if m != NONE]
        with interp.perhaps(len(alternatives) > 1):
            return union([_subscript(interp, m, index, node) for m in alternatives])
    return _subscript(interp, base, index, node)


def _subscript(interp: Interpreter, base: Value, index: Value, node: cst.Subscript) -> Value:
    match base:
        case Gone():
            return base
        case Array() if base.level is not Level.NUMPY and py_type(index) == "str":
            return UNKNOWN  # a dict, after all
        case Array():
            return index_array(interp, base, index, node)
        case AtV(index=None):
            mask_check(interp, base.array, index, node)
            return AtV(base.array, index)
        case Tree():
            mask_check(interp, base, index, node)
            return base
        case Tup():
            return _index_sequence(interp, base, index, node, "tuple")
        case ListV():
            if base.kind == "list":
                out = _index_sequence(interp, base.content, index, node, "list")
                return ListV(out, node) if isinstance(index, SliceV) and isinstance(out, Tup) else out
            return base.content.any_item()
        case DictV():
            hashed(interp, index, node, "a key")
            key = dict_key(index)
            found = base.slots.get(key) if key is not None else None
            if found is not None:
                if interp.traces:
                    note_read(interp, base, key, found, node)
                return found
            if key is not None and base.rest is not None:
                return base.rest
            return base.any_value() if key is None else UNKNOWN
        case Const(value=str(text)):
            parts = [("list-slice", b) for b in index.bounds] if isinstance(index, SliceV) else [("list-index", index)]
            for need, part in parts:
                needs_concrete(interp, part, node, need, "an index of a string", "TracerIntegerConversionError")
            if isinstance(index, Const) and isinstance(index.value, int):
                try:
                    return Const(text[index.value])
                except IndexError:
                    return UNKNOWN
            return UNKNOWN if py_type(index) == "str" else Host("str")
        case Host(type="str"):
            return UNKNOWN if py_type(index) == "str" else base
        case Obj():
            cls = base.project_class
            if cls is not None:
                position = shapes.as_int(index)
                fields = cls.facts.fields
                if cls.facts.namedtuple and position is not None and -len(fields) <= position < len(fields):
                    return base.slots.get(fields[position], UNKNOWN)
                method = cls.lookup("__getitem__")
                if method is not None:
                    return calls.call_value(interp, Bound(method, base), calls.Args([index]), node)
            return UNKNOWN
        case ClassV():
            if base.facts.enum and isinstance(index, Const):
                return base.slots.get(index.value, UNKNOWN)
            return base
        case LibV(name=name):
            if name in ("os.environ",):
                interp.effect("env", "os.environ", node, [])
                return Host("str", via="env")
            return calls.subscripted_library(interp, base, index)
        case Bound() | Func() | Jitted():
            return UNKNOWN
    return UNKNOWN


def _index_sequence(interp: Interpreter, content: Tup, index: Value, node: cst.Subscript, kind: str) -> Value:
    if isinstance(index, SliceV):
        for b in index.bounds:
            needs_concrete(interp, b, node, "list-slice", f"a {kind} slice", "TracerIntegerConversionError")
        bounds = [b.value for b in index.bounds if isinstance(b, Const)]
        if content.items is not None and len(bounds) == len(index.bounds):
            try:
                return Tup(content.items[slice(*bounds)])
            except (TypeError, ValueError):
                return UNKNOWN
        return Tup(None, content.any_item(), length_loops=content.length_loops | _loops(*index.bounds))
    for m in members(index):
        if isinstance(m, Array) and m.is_traced or isinstance(m, Tree):
            if interp.traces:
                needs_concrete(
                    interp,
                    m if not isinstance(index, Union) else index,
                    node,
                    "list-index",
                    f"a {kind} index",
                    "TracerIntegerConversionError",
                )
            return content.any_item()
    if isinstance(index, Const) and isinstance(index.value, int) and content.items is not None:
        try:
            return content.items[index.value]
        except IndexError:
            return UNKNOWN
    return vary_if(_one_of(content), _loops(index))


def _one_of(content: Tup) -> Value:
    """Any element: an array of its own, since it may be another one each time."""
    item = content.any_item()
    return replace(item) if isinstance(item, Array) else item


def mask_check(interp: Interpreter, base: Value, index: Value, node: cst.CSTNode) -> None:
    """Record boolean mask indexing by a traced mask, and slices with traced bounds."""
    for part in index.items if isinstance(index, Tup) and index.items is not None else (index,):
        if isinstance(part, SliceV):
            for b in part.bounds:
                needs_concrete(interp, b, node, "array-slice", "an array slice", "IndexError")
        for m in members(part):
            if isinstance(m, Array) and m.is_traced and shapes.kind(m.dtype) == "bool":
                interp.emit(
                    DynamicShape(
                        node=node,
                        unit=interp.unit,
                        value=m,
                        leaf=m,
                        what="a boolean mask",
                        error="NonConcreteBooleanIndexError",
                        possible=m.maybe or isinstance(part, Union),
                    )
                )


def index_array(interp: Interpreter, base: Array, index: Value, node: cst.Subscript) -> Value:
    """``base[index]`` of an array."""
    if leaks.check(interp, [base, index], node):
        return UNKNOWN
    parts = index.items if isinstance(index, Tup) and index.items is not None else (index,)
    if base.level is Level.NUMPY:
        for part in parts:
            if isinstance(part, SliceV):
                for b in part.bounds:
                    needs_concrete(interp, b, node, "list-slice", "a numpy slice", "TracerIntegerConversionError")
            elif traced_leaf(part) is not None and interp.traces:
                needs_concrete(interp, part, node, "numpy-index", "a numpy array index", "TracerArrayConversionError")
    else:
        mask_check(interp, base, index, node)
    out = result_array(
        interp, [base, *(p for p in parts if not isinstance(p, SliceV))], node=node, what="indexing a jax array"
    )
    return replace(
        out,
        dtype=base.dtype,
        weak=base.weak,
        via=prng.item_token(base.via, index.value) if isinstance(index, Const) else out.via,
        shape=shapes.indexed(base.shape, parts),
        python=None,
        loops=out.loops | _loops(*(b for p in parts if isinstance(p, SliceV) for b in p.bounds)),
        shape_loops=base.shape_loops.union(*(_resizing(p, d) for p, d in shapes.dimensions(base.shape, parts))),
    )


def _resizing(part: Value, dim: int | None) -> frozenset[Any]:
    """The loops over which an index selects another number of elements: ``[:i]``, a mask; not ``[i : i + n]``."""
    if isinstance(part, SliceV):
        lower, upper = part.bounds[:2]
        lengths = shapes.lengths(dim, part)
        if lengths is not None:
            return NO_LOOPS if len(lengths) < 2 else frozenset(x.few(len(lengths)) for x in _loops(lower, upper))
        return distance(lower, upper)
    if isinstance(part, Array) and shapes.kind(part.dtype) == "bool" and part.shape != ():
        return part.loops
    if isinstance(part, Array):
        return part.shape_loops
    return NO_LOOPS


def distance(lower: Value, upper: Value) -> frozenset[Any]:
    """The loops over which it changes how far two bounds are apart: not where both move, or one perhaps does."""
    if isinstance(lower, Unknown) or isinstance(upper, Unknown):
        return NO_LOOPS
    a, b = _loops(lower), _loops(upper)
    return NO_LOOPS if a and b else a | b


def set_item(
    interp: Interpreter,
    obj: Value,
    index: Value,
    value: Value,
    node: cst.CSTNode,
    target: cst.Subscript,
    augmented: bool,
) -> None:
    """``obj[index] = value``."""
    lifetime.keep(interp, value, "item")
    for o in members(obj):
        match o:
            case Array(level=Level.NUMPY, dtype="object"):
                write_place(interp, target.value, node)  # holds anything
            case Array(level=Level.NUMPY):
                parts = index.items if isinstance(index, Tup) and index.items is not None else (index,)
                if traced_leaf(value) is not None or any(
                    traced_leaf(p) is not None for p in parts if not isinstance(p, SliceV)
                ):
                    interp.emit(
                        ItemAssignment(
                            node=target, unit=interp.unit, statement=node, target=target, kind="numpy", value=value
                        )
                    )
                write_place(interp, target.value, node)
            case Array():
                if not isinstance(obj, Union) and py_type(index) != "str":
                    interp.emit(
                        ItemAssignment(
                            node=target,
                            unit=interp.unit,
                            statement=node,
                            target=target,
                            kind="array",
                            value=value,
                            possible=o.maybe,
                        )
                    )
            case ListV():
                content = o.content
                if traced_leaf(index) is not None and interp.traces and not isinstance(index, SliceV):
                    needs_concrete(interp, index, target, "list-index", "a list index", "TracerIntegerConversionError")
                new: Tup
                if (
                    isinstance(index, Const)
                    and isinstance(index.value, int)
                    and content.items is not None
                    and -len(content.items) <= index.value < len(content.items)
                ):
                    items = list(content.items)
                    items[index.value] = value
                    new = Tup(tuple(items))
                elif isinstance(index, SliceV):
                    new = Tup(None, join(content.any_item(), iterate(interp, value, node).any_item()))
                elif content.items is not None and content.items:
                    new = Tup(tuple(join(i, value) for i in content.items))
                else:
                    new = Tup(None, join(content.elem, value) if content.elem is not None else value)
                outer_write(interp, o, "content", value, node, "item", target.value)
                interp.write(o, "content", new, node)
            case DictV():
                hashed(interp, index, target, "a key")
                key = dict_key(index)
                outer_write(
                    interp,
                    o,
                    key if key is not None else DictV.REST,
                    value,
                    node,
                    "item",
                    target.value,
                    augmented,
                )
                if key is None:
                    rest = o.rest
                    if not o.slots:
                        o.grown = frozenset(x for x in _loops(index) if x in interp.loops)
                    interp.write(o, DictV.REST, value if rest is None else join(rest, value), node)
                else:
                    interp.write(o, key, value, node)
            case Obj():
                cls = o.project_class
                method = cls.lookup("__setitem__") if cls is not None else None
                if method is not None:
                    calls.call_value(interp, Bound(method, o), calls.Args([index, value]), node)


def write_place(interp: Interpreter, node: cst.BaseExpression, statement: cst.CSTNode) -> None:
    """Note that the value held by a name changed in place (a numpy array written to)."""
    place = interp.place(node)
    if place is not None:
        box, key, value = place
        if isinstance(value, Array):
            outer_write(interp, box, key, value, statement, "item", key if isinstance(key, str) else "")
            interp.write(box, key, replace(value), statement)


def delete_item(interp: Interpreter, obj: Value, index: Value, node: cst.Subscript) -> None:
    """``del obj[index]``."""
    if isinstance(obj, DictV):
        key = dict_key(index)
        outer_write(interp, obj, key, NONE, node, "item", node.value)
        if key is not None and key in obj.slots:
            interp.trail.delete(obj, key)
    elif isinstance(obj, Array) and obj.level is not Level.NUMPY:
        interp.emit(ItemAssignment(node=node, unit=interp.unit, statement=node, target=node, kind="delete", value=obj))


def dict_key(v: Value) -> Any | None:
    """A dict key as a slot key: the constant (with its type told apart where Python does), or None when not constant."""
    if isinstance(v, Const):
        return v.value if v.value is not None else ("None",)
    if isinstance(v, LibV | Func | ClassV):
        return v
    if isinstance(v, Tup) and v.items is not None:
        keys = tuple(dict_key(i) for i in v.items)
        return None if None in keys else keys
    if isinstance(v, Obj) and v.project_class is not None and v.project_class.facts.enum:
        return v
    return None


def hashed(interp: Interpreter, value: Value, node: cst.CSTNode, what: str) -> None:
    """Record that a value is hashed."""
    if isinstance(value, Tree):
        demands.note(value, "hash")
    if isinstance(value, Array | Tup | Union) and interp.traces:
        needs_concrete(interp, value, node, "hash", what, "TypeError")
        differentiated(interp, value, node, "hash", what, "TypeError")


def formatted(interp: Interpreter, value: Value, node: cst.CSTNode, what: str) -> None:
    """Record that a value is formatted with a format spec."""
    if interp.traces and isinstance(value, Array | Union):
        needs_concrete(interp, value, node, "format", what, "TypeError")
        differentiated(interp, value, node, "format", what, "TypeError")


# ------------------------------------------------------------------------------------------------ iteration


def iterate(interp: Interpreter, value: Value, node: cst.CSTNode, count: int | None = None) -> Tup:
    """The elements that iterating over a value gives. ``count`` is how many an unpacking asks for."""
    if isinstance(value, Union):
        alternatives = [m for m in value.members if m != NONE]
        if count is not None and any(isinstance(m, Tup) and m.items is not None for m in alternatives):
            alternatives = [m for m in alternatives if not isinstance(m, Array) or m.shape != ()]  # unpacked elsewhere
        with interp.perhaps(len(alternatives) > 1):
            parts = [iterate(interp, m, node, count) for m in alternatives]
        out = parts[0] if parts else Tup(None, UNKNOWN)
        for p in parts[1:]:
            out = merge_tups(out, p)
        return out
    match value:
        case Tup():
            return value
        case ListV():
            return value.content
        case DictV():
            keys = [Const(k) if isinstance(k, str | int | float | bool) else UNKNOWN for k in value.entries()]
            return Tup(tuple(keys)) if value.rest is None else Tup(None, UNKNOWN)
        case SetV():
            return Tup(None, value.slots.get("elem"))
        case Array():
            if leaks.check(interp, [value], node):
                return Tup(None, UNKNOWN)
            unsized(interp, value, node, "iterating over a 0-d array")
            element = result_array(interp, [value], node=node, what="iterating over a jax array")
            shape = None if value.shape is None else value.shape[1:]
            item = replace(element, dtype=value.dtype, weak=value.weak, shape=shape, python=None)
            length = value.shape[0] if value.shape else count
            if count is not None and prng.is_token(value.via) and count <= 16:
                return Tup(tuple(replace(item, via=prng.token(interp)) for _ in range(count)), kind="same")
            if length is not None and length <= 16:
                return Tup(tuple(replace(item) for _ in range(length)), kind="same")
            return Tup(None, item, kind="same", length_loops=value.shape_loops)
        case Tree():
            return Tup((value,) * count) if count is not None and count <= 16 else Tup(None, value)
        case Const(value=str(text)):
            return Tup(tuple(Const(c) for c in text)) if len(text) <= 16 else Tup(None, Host("str"))
        case Host(type="str"):
            return Tup(None, value)
        case Obj():
            cls = value.project_class
            if cls is not None and cls.facts.namedtuple:
                return Tup(tuple(value.slots.get(f, UNKNOWN) for f in cls.facts.fields))
            method = cls.lookup("__iter__") if cls is not None else None
            if method is not None:
                return iterate(interp, calls.call_value(interp, Bound(method, value), calls.Args(), node), node)
            method = cls.lookup("__next__") if cls is not None else None
            if method is not None:
                return Tup(None, calls.call_value(interp, Bound(method, value), calls.Args(), node))
        case ClassV() if value.facts.enum:
            return Tup(None, Obj(value))
    return Tup(None, UNKNOWN)


def unsized(interp: Interpreter, value: Array, node: cst.CSTNode, what: str) -> None:
    """Record that a traced scalar is taken for a sequence."""
    if value.shape == () and value.is_traced:
        needs_concrete(interp, value, node, "iterate", what, "TypeError")


def is_outer_iterator(interp: Interpreter, value: Value, node: cst.BaseExpression) -> bool:
    """Is it an iterator that was made before the running trace, so that its elements are taken once?"""
    trace = interp.trace
    if trace is None or not isinstance(node, cst.Name | cst.Attribute):
        return False
    if isinstance(value, ListV) and value.kind == "iterator":
        return value.birth <= trace.birth
    place = interp.place(node)
    if place is None or not (isinstance(value, Unknown) or isinstance(value, Tup) and value.kind == "iterator"):
        return False
    return place[0].birth <= trace.birth and place[0] is not interp.frame.env


def trip_count(value: Value) -> int | None:
    """How often a loop over a value turns, where known though the elements are not listed."""
    if isinstance(value, ListV):
        value = value.content
    if isinstance(value, Tup) and value.kind.startswith("range:"):
        return int(value.kind[6:])
    if isinstance(value, Tup):
        return value.count
    if isinstance(value, Array) and value.shape:
        return value.shape[0]
    return None


def any_turn(content: Tup) -> Value:
    """Any element; a number that is known in each turn stays known."""
    items = content.items
    if not items:
        return content.any_item()
    if all(isinstance(i, Const) for i in items):
        kinds = {type(i.value) for i in items if isinstance(i, Const)}
        if len(kinds) == 1 and kinds <= {bool, int, float}:
            return Steps(str(py_type(items[0])), values=tuple(i.value for i in items if isinstance(i, Const)))
    rows = [i.items for i in items if isinstance(i, Tup) and i.items is not None]
    if len(rows) == len(items) and len({len(r) for r in rows}) == 1:
        return Tup(tuple(any_turn(Tup(column)) for column in zip(*rows, strict=True)))
    return content.any_item()


def varying(value: Value) -> frozenset[Any]:
    """The loops over which a number or array changes."""
    if isinstance(value, Union):
        return NO_LOOPS.union(*map(varying, value.members))
    return value.loops if isinstance(value, Const | Host | Array) else NO_LOOPS


def vary(value: Value, loop: Loop) -> Value:
    """The value, marked as changing over ``loop``."""
    return vary_if(value, frozenset((loop,)))


def element(interp: Interpreter, value: Value, loop: Loop) -> Value:
    """An element as a turn of ``loop`` sees it: what differs between the elements changes over the loop, in as many
    ways as it did where the elements were made."""
    return _varied(_seen(value, loop, {id(x.node) for x in interp.loops}), loop)


def _here(loops: frozenset[Any], loop: Loop, running: set[int]) -> frozenset[Any]:
    """The loops, with ``loop`` in the place of those that are over."""
    if all(id(x.node) in running for x in loops):
        return loops
    return frozenset(x if id(x.node) in running else loop if x.whole else loop.few(x.trip) for x in loops)


def _seen(value: Value, loop: Loop, running: set[int]) -> Value:
    """The value as seen in ``loop``; itself where nothing in it differs."""
    match value:
        case Array(shape_loops=loops) if loops:
            return replace(value, shape_loops=_here(loops, loop, running))
        case Host(loops=loops) if loops and not any(x.whole for x in loops):
            return replace(value, loops=_here(loops, loop, running))
        case Tup(items=items, elem=elem):
            each = None if items is None else tuple([_seen(x, loop, running) for x in items])
            one = None if elem is None else _seen(elem, loop, running)
            loops = _here(value.length_loops, loop, running)
            if loops == value.length_loops and one is elem and all(map(operator.is_, each or (), items or ())):
                return value
            return replace(value, items=each, elem=one, length_loops=loops)
        case ListV() if (content := _seen(value.content, loop, running)) is not value.content:
            assert isinstance(content, Tup)
            return ListV(content, value.site, value.kind, value.most)
        case Union(members=ms):
            return Union(tuple([_seen(m, loop, running) for m in ms]), value.decided)
    return value


def _varied(value: Value, loop: Loop) -> Value:
    """The value, as changing over the loop."""
    match value:
        case Host(loops=loops) if any(x.node is loop.node and not x.whole for x in loops):
            return value
        case Tup(items=items, elem=elem):
            each = None if items is None else tuple([_varied(x, loop) for x in items])
            return replace(value, items=each, elem=None if elem is None else _varied(elem, loop))
    return vary(value, loop)


def vary_if(value: Value, loops: frozenset[Any]) -> Value:
    """The value, marked as changing over these loops."""
    if not loops:
        return value
    match value:
        case Const() | Host() | Array():
            return replace(value, loops=value.loops | loops) if not loops <= value.loops else value
        case Tup(items=items, elem=elem):
            return replace(
                value,
                items=None if items is None else tuple(vary_if(i, loops) for i in items),
                elem=None if elem is None else vary_if(elem, loops),
            )
        case Union(members=ms):
            return Union(tuple(vary_if(m, loops) for m in ms), value.decided)
    return value


def in_ways(value: Value, over: Set[cst.CSTNode], number: int) -> Value:
    """A number of which there are no more than so many different ones over the loops at these nodes."""
    if not isinstance(value, Host):
        return value
    return replace(value, loops=frozenset(x.few(number) if x.node in over else x for x in value.loops))


def decided_by(value: Value, loops: frozenset[Any]) -> Value:
    """The value, where a test that changes over these loops decides what it is."""
    value = vary_if(value, loops)
    return replace(value, decided=value.decided | loops) if isinstance(value, Union) and loops else value


def running(interp: Interpreter, loops: frozenset[Any]) -> frozenset[Any]:
    """Those of the loops that are running: what was made in a loop that is over changes no more."""
    if not loops:
        return loops
    nodes = {id(x.node) for x in interp.loops}
    return frozenset(x for x in loops if id(x.node) in nodes)


def augmented(interp: Interpreter, node: cst.AugAssign, old: Value, value: Value) -> Value | None:
    """The value to bind for ``target op= value``; None when the target was changed in place."""
    op = AUGMENTED.get(type(node.operator))
    if op is None:
        return UNKNOWN
    if isinstance(old, ListV) and op is cst.Add:
        content = iterate(interp, value, node)
        extend(interp, old, content, node, node.target)
        return None
    if (
        isinstance(old, Array)
        and old.level is Level.NUMPY
        and not isinstance(node.target, cst.Subscript)
        and traced_leaf(value) is None
        and old.shape != ()
    ):
        write_place(interp, node.target, node)
        return None
    if isinstance(old, Obj) and old.project_class is not None:
        method = old.project_class.lookup(f"__i{_DUNDER[op]}__")
        if method is not None:
            return calls.call_value(interp, Bound(method, old), calls.Args([value]), node)
    return binary(interp, op, old, value, node)


def extend(
    interp: Interpreter, target: ListV, content: Tup, node: cst.CSTNode, name: cst.BaseExpression | str
) -> None:
    """Append elements to a list in place; ``name`` as in :func:`outer_write`."""
    old = target.content
    if old.items is not None and content.items is not None and len(old.items) + len(content.items) <= 64:
        new = Tup((*old.items, *content.items))
    else:
        parts = [t.any_item() for t in (old, content) if t.items is None and t.elem is not None or t.items]
        new = Tup(None, join_all(parts) if parts else None)
    if target.most is not None and new.items is not None:
        new = Tup(new.items[-target.most :] if target.most else ())
    loops = frozenset(x.few(target.most) for x in interp.loops if x.turn is None and target.birth <= x.birth)
    if loops:
        new = replace(new, length_loops=old.length_loops | loops)
    outer_write(interp, target, "content", content.any_item(), node, "method", name)
    interp.write(target, "content", new, node)


# ------------------------------------------------------------------------------------------------ outer state


def outer_write(
    interp: Interpreter,
    box: Box,
    key: Any,
    value: Value,
    node: cst.CSTNode,
    kind: str,
    name: cst.BaseExpression | str,
    augmented: bool = False,
) -> None:
    """Record a write, from traced code, to something made before the trace began; an ``augmented`` one reads it too.
    ``name`` is how messages call it; an expression is spelled out only where there is something to tell."""
    trace = interp.trace
    if trace is None or not interp.tracing or interp.compile_time or box.birth > trace.birth:
        return
    if box is interp.frame.env or _puts_back(interp):
        return
    if any(id(box) in t.arguments for t in interp.traces if t.entry is None):
        return
    leaf = traced_leaf(value)
    outermost = next((t for t in interp.traces if box.birth <= t.birth), trace)
    argument = id(box) in outermost.arguments
    if argument and kind == "cache":
        return  # the copy keeps it, and goes with the trace
    if argument and _is_carried_out(outermost.entry, box, key, leaf is not None):
        return
    name = name if isinstance(name, str) else interp.unit.code(name)
    if kind == "attribute" and transient.is_replaced(interp, box, key, node, name):
        if leaf is not None:
            leaks.stored(interp, box, key, node, told=False)
        return
    put_back = isinstance(key, str) and not isinstance(box, DictV) and restored.is_put_back(interp, key, node)
    if put_back:
        if leaf is not None:
            leaks.stored(interp, box, key, node, told=False)
        return
    if leaf is None:
        collects = kind != "cache" and _collects(interp, box)
        private = kind == "nonlocal" and not augmented and _is_own(interp, key)
        if kind == "attribute" and leaks.is_stored(interp, box, key):
            return  # what the trace itself has stored there is put away
        # tests count traces
        if collects or not argument and (private or _sets_flag(node) or is_test(interp.moment())):
            return
    event = OuterWrite(
        node=node,
        unit=interp.unit,
        kind=kind,
        name=name,
        leaf=leaf if isinstance(leaf, Array) else None,
        box=box,
        key=key,
        first=not augmented and (_is_first(box, key) or _fills(interp)),
        argument=argument,
    )
    if leaf is not None:
        leaks.stored(interp, box, key, node, event)
    interp.emit(event)


def _is_carried_out(entry: Entry | None, box: Box, key: Any, traced: bool) -> bool:
    """Is the caller's object changed, too? Transforms of nnx do so for its modules, but an attribute that held no array
    before gets the tracer itself."""
    if entry is None or CARRIES_OUT not in entry.options or not isinstance(box, Obj):
        return False
    if box.project_class is None or box.project_class.facts.module != "nnx":
        return False
    before = box.slots.get(key)
    return not traced or before is not None and before != NONE and is_data(box, key, before)


def _fills(interp: Interpreter) -> bool:
    """Does the statement that runs fill in something once?"""
    func, statement = interp.frame.func, interp.current
    return func is not None and statement is not None and fills_once(interp.unit, func.lazy, statement)


def _sets_flag(node: cst.CSTNode) -> bool:
    """Is it an assignment of ``True`` or ``False``? Once or in every call, it comes to the same."""
    return isinstance(node, cst.Assign) and isinstance(node.value, cst.Name) and node.value.value in ("True", "False")


def _is_own(interp: Interpreter, name: str) -> bool:
    """Is a variable of the enclosing function read by nothing that comes after the running one, which writes it?"""
    func = interp.frame.func
    around = func.frame.func if func is not None and func.frame is not None else None
    if around is None or not isinstance(around.lazy, cst.FunctionDef):
        return False
    body = list(around.lazy.body.body)
    at = next((i for i, statement in enumerate(body) if func is not None and statement is func.lazy), -1)
    after = body[at + 1 :]
    return not any(found.value == name for statement in after for found in descendants(statement, cst.Name))


def _puts_back(interp: Interpreter) -> bool:
    """Is this a context manager's code? What it changes on the way in, it changes back on the way out."""
    inside = (f.func for f in interp.frames[interp.traces[-1].frame_at :])
    return any(f is not None and (f.name in ("__enter__", "__exit__") or f.flavour == "contextmanager") for f in inside)


def _collects(interp: Interpreter, box: Box) -> bool:
    """Is something static told to a variable of the call that begins the traces, such as shapes seen in the body of a
    loop? Each such call traces anew, and reads it afterwards."""
    for t in interp.traces:
        if box.birth > t.birth:
            continue
        around = interp.frames[t.frame_at - 1]
        if t.entry is not None or around.func is None or box.birth < around.env.birth:
            return False
    return True


def _is_first(box: Box, key: Any) -> bool:
    if isinstance(box, ListV | SetV):
        return False
    if key is DictV.REST:
        return True
    value = box.slots.get(key)
    if value is None and isinstance(box, Obj) and box.project_class is not None:
        value = box.project_class.lookup(key)
    return value is None or value == NONE


def note_read(interp: Interpreter, box: Box, key: Any, value: Value, node: cst.CSTNode) -> None:
    """Remember that traced code read an outer slot, for staleness."""
    if interp.quiet or isinstance(value, (LibV, ModuleV, ClassV)):
        return
    for t in interp.traces:
        if t.entry is not None and t.staging and box.birth <= t.birth:
            slot = (id(box), key, t.signature)
            if slot not in t.entry.reads:
                t.entry.reads[slot] = _read(interp, box, key, value, node, t.signature)
                interp.boxes.append(box)


def _read(interp: Interpreter, box: Box, key: Any, value: Value, node: cst.CSTNode, signature: Any) -> Read:
    frame = interp.frame
    unit, function = frame.unit, frame.qualname
    if frame.func is not None and frame.func.flavour == "property" and isinstance(frame.call, cst.Attribute):
        # who reads a property does not see what it reads
        node, unit, function = frame.call, interp.frames[-2].unit, interp.frames[-2].qualname
    turns = tuple((id(loop.node), loop.since) for loop in interp.loops)
    return Read(box, key, node, unit, interp.tick(), value, signature, function, interp.root, frame.func, turns)


_NOT_IN_PLACE = frozenset(
    {"sort", "astype", "reshape", "transpose", "ravel", "flatten", "squeeze", "clip", "round", "swapaxes", "repeat"}
)
"""Array methods whose calls as statements look as if they changed the array."""


_UPDATES = frozenset({"set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply"})
"""What ``x.at[i]`` of a jax array has."""


def _updates(interp: Interpreter, method: str, value: Value) -> bool:
    """Is ``x.at[i].set(v)`` an update of a jax array, though nothing is known of ``x``? Frames of pandas have ``at``,
    too, and any object may lie in their cells."""
    libraries = {v.name.split(".")[0] for v in interp.frame.module.env.slots.values() if isinstance(v, LibV)}
    return isinstance(value, Unknown | Tree) and method in _UPDATES and "jax" in libraries and "pandas" not in libraries


def thrown_away(interp: Interpreter, node: cst.BaseExpression, value: Value) -> None:
    """Record an expression statement whose only point is a result that nobody takes."""
    if type(node) is cst.Call and type(node.func) is cst.Attribute:
        inner = node.func.value
        if (
            type(inner) is cst.Subscript
            and type(inner.value) is cst.Attribute
            and inner.value.attr.value == "at"
            and node.func.attr.value != "get"
            and (isinstance(value, Array) or _updates(interp, node.func.attr.value, value))
        ):
            name = interp.unit.code(inner.value.value)
            interp.emit(LostUpdate(node=node, unit=interp.unit, method=f".at[].{node.func.attr.value}", name=name))
        elif isinstance(value, Array) and node.func.attr.value in _NOT_IN_PLACE:
            receiver = interp.place(inner)
            if receiver is not None and isinstance(receiver[2], Array) and receiver[2].level is not Level.NUMPY:
                method, name = f".{node.func.attr.value}", interp.unit.code(inner)
                interp.emit(LostUpdate(node=node, unit=interp.unit, method=method, name=name))
