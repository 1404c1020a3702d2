"""What bases and decorators make of a class: pytree, dataclass, NamedTuple, enum, module of a library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics.bare import nodes
from jitlint.semantics.source import all_params
from jitlint.semantics.values import (
    FALSE,
    TRUE,
    Bound,
    ClassV,
    Const,
    Func,
    LibV,
    ListV,
    Partial,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_NAMEDTUPLE = {"typing.NamedTuple", "typing_extensions.NamedTuple"}
_ENUM = {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}
_INTEGRAL = {"enum.IntEnum", "enum.IntFlag", "builtins.int"}


def inherit(interp: Interpreter, cls: ClassV, keywords: dict[str, Value]) -> None:
    """Read the facts of a new class off its bases and body."""
    facts = cls.facts
    facts.metaclass = "metaclass" in keywords and keywords["metaclass"] != LibV("abc.ABCMeta")
    for base in cls.bases:
        if isinstance(base, ClassV):
            b = base.facts
            facts.enum |= b.enum
            facts.integral |= b.integral
            facts.module = facts.module or b.module
            facts.frozen |= b.frozen and b.dataclass
            facts.fields = b.fields
            if b.module is not None or b.pytree and any(isinstance(c, LibV) for c in base.mro()):
                facts.pytree |= b.pytree
                facts.dataclass |= b.dataclass
                facts.static_fields |= b.static_fields
            facts.namedtuple |= b.namedtuple
        elif isinstance(base, LibV):
            if base.name in _NAMEDTUPLE:
                facts.namedtuple = facts.pytree = facts.frozen = True
            facts.enum |= base.name in _ENUM
            facts.integral |= base.name in _INTEGRAL
            model = interp.knowledge.class_(base.name)
            if model is not None:
                if model.kind == "pytree":
                    facts.pytree = True
                if model.kind in ("linen", "nnx", "haiku"):
                    facts.module = model.kind
                if model.decorator is not None or model.kind == "linen":
                    facts.dataclass = facts.frozen = True
                if model.kind in ("nnx",):
                    facts.pytree = True
                facts.static_fields |= frozenset(model.static)
    if facts.dataclass or facts.namedtuple:
        _read_fields(interp, cls)


def _read_fields(interp: Interpreter, cls: ClassV) -> None:
    from jitlint.semantics.calls import FieldV

    fields = list(cls.facts.fields)
    static = set(cls.facts.static_fields)
    for s in cls.node.body.body:
        for small in s.body if isinstance(s, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                name = small.target.value
                words = [n.value for n in nodes(small.annotation.annotation) if isinstance(n, cst.Name | cst.SimpleString)]
                if any("ClassVar" in word for word in words):
                    continue
                if name not in fields:
                    fields.append(name)
                value = cls.slots.get(name)
                if (
                    isinstance(value, FieldV)
                    and value.static
                    or _marks_static(interp, small.annotation.annotation, cls)
                ):
                    static.add(name)
                else:
                    static.discard(name)
    cls.facts.fields = tuple(fields)
    cls.facts.static_fields = frozenset(static)


def _marks_static(interp: Interpreter, annotation: cst.BaseExpression, cls: ClassV) -> bool:
    target = annotation.value if isinstance(annotation, cst.Subscript) else annotation
    if not isinstance(target, cst.Name | cst.Attribute):
        return False
    interp.quiet += 1
    try:
        kind = interp.eval(target)
    finally:
        interp.quiet -= 1
    if isinstance(kind, LibV):
        model = interp.knowledge.class_(kind.name)
        return model is not None and model.kind == "static"
    return False


def apply_decorator(interp: Interpreter, decorator: Value, cls: ClassV) -> bool:
    """Apply a known class decorator; False when it is not known here."""
    keywords: dict[str, Value] = {}
    args: tuple[Value, ...] = ()
    while isinstance(decorator, Partial):
        keywords = {**decorator.kwargs, **keywords}
        args = decorator.args
        decorator = decorator.func
    if isinstance(decorator, Bound) and isinstance(decorator.func, LibV) and isinstance(decorator.self, LibV):
        decorator = decorator.self
    if not isinstance(decorator, LibV):
        return False
    model = interp.knowledge.function(decorator.name)
    registers = model.registers if model is not None else None
    return register(interp, decorator.name, registers, cls, keywords, args)


def is_jax_jit(decorator: Value) -> bool:
    """Is it ``jax.jit``, with or without options? (flax has transforms of classes by that name.)"""
    while isinstance(decorator, Partial):
        decorator = decorator.args[0] if decorator.func == LibV("functools.partial") else decorator.func
    return decorator == LibV("jax.jit")


def is_mark(decorator: Value) -> bool:
    """Does a class decorator leave the class as it is?"""
    return isinstance(decorator, LibV) and (decorator.name.startswith("typing") or decorator.name in _MARKS)


_MARKS = {"functools.total_ordering", "enum.unique"}


def register(
    interp: Interpreter,
    name: str,
    registers: str | None,
    cls: ClassV,
    keywords: dict[str, Value],
    args: tuple[Value, ...] = (),
) -> bool:
    """Make of the class what the library function ``name`` makes of it."""
    facts = cls.facts
    tail = name.rpartition(".")[2]
    if registers is None and name.startswith(("jax.tree_util.register", "jax.tree.register")):
        registers = "pytree"
    if registers is None:
        return False
    if registers == "configured":
        facts.configured = True
        return True
    if registers in ("dataclass", "pytree_dataclass", "frozen_dataclass") or tail in ("dataclass", "pytree_dataclass"):
        facts.dataclass = True
        facts.frozen |= (
            keywords.get("frozen") == TRUE or name.startswith("flax.struct") or registers == "frozen_dataclass"
        )
        facts.eq = keywords.get("eq") != FALSE
        facts.hashed = keywords.get("unsafe_hash") == TRUE
        _read_fields(interp, cls)
    if registers != "dataclass" and registers != "frozen_dataclass":
        facts.pytree = True
        facts.custom_flatten |= tail in (
            "register_pytree_node_class",
            "register_pytree_node",
            "register_pytree_with_keys_class",
            "register_pytree_with_keys",
        )
        meta = _names(keywords.get("meta_fields"))
        data = _names(keywords.get("data_fields"))
        if meta is None and data is None and tail == "register_dataclass" and len(args) >= 2:
            data, meta = _names(args[0]), _names(args[1])
        if meta is not None:
            facts.static_fields |= frozenset(meta)
        if data is not None:
            facts.data_fields = frozenset(data)
        if registers == "static":
            facts.data_fields = frozenset()  # a pytree without leaves
        if facts.custom_flatten:
            flatten = args[0] if args else cls.lookup("tree_flatten") or cls.lookup("tree_flatten_with_keys")
            if isinstance(flatten, Func):
                facts.flattened, aux = _flattened(flatten)
                facts.static_fields |= aux - facts.flattened
    return True


def _names(v: Value | None) -> tuple[str, ...] | None:
    if isinstance(v, ListV):
        v = v.content
    if isinstance(v, Tup) and v.items is not None:
        return tuple(i.value for i in v.items if isinstance(i, Const) and isinstance(i.value, str))
    return None


def _flattened(flatten: Func) -> tuple[frozenset[str], frozenset[str]]:
    """Attributes of its argument that a flatten function puts into its first result, and into its second; none where
    it does not say so in so many words."""
    nothing: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    parameters = all_params(flatten.lazy.params)
    if not parameters:
        return nothing
    me = parameters[0].name.value
    assigned, returned = assigned_and_returned(flatten.lazy)
    aux: set[str] = set()
    children: set[str] = set()

    for result in returned:
        if not isinstance(result, cst.Tuple) or len(result.elements) != 2:
            return nothing
        children |= _attributes(result.elements[0].value, me, assigned)
        aux |= _attributes(result.elements[1].value, me, assigned)
    return frozenset(children), frozenset(aux)


def _attributes(node: cst.CSTNode, me: str, assigned: dict[str, cst.BaseExpression]) -> set[str]:
    """The attributes of ``me`` in an expression, and in what was ``assigned`` to the names in it, each read once."""
    found: set[str] = set()
    for inner in nodes(node):
        match inner:
            case cst.Attribute(value=cst.Name(value=owner), attr=attr) if owner == me:
                found.add(attr.value)
            case cst.Name(value=name) if name in assigned:
                found |= _attributes(assigned.pop(name), me, assigned)
    return found


def assigned_and_returned(
    flatten: cst.FunctionDef | cst.Lambda,
) -> tuple[dict[str, cst.BaseExpression], list[cst.BaseExpression | None]]:
    """What the statements of a flatten function give to names, and what it returns."""
    if isinstance(flatten, cst.Lambda):
        return {}, [flatten.body]
    assigned: dict[str, cst.BaseExpression] = {}
    returned: list[cst.BaseExpression | None] = []
    for s in flatten.body.body:
        for small in s.body if isinstance(s, cst.SimpleStatementLine) else (s,):
            if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Name):
                assigned[small.targets[0].target.value] = small.value
            elif isinstance(small, cst.Return):
                returned.append(small.value)
    return assigned, returned
