"""Attribute access on abstract values."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.knowledge import AttributeModel, MethodModel
from jitlint.semantics import calls, lifetime, linen, modelled, operators, overrides, shapes
from jitlint.semantics.records import replace
from jitlint.semantics.source import all_params, descendants
from jitlint.semantics.values import (
    FALSE,
    NONE,
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    Func,
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
    Tree,
    Tup,
    Union,
    Value,
    Wrapped,
    join,
    traced_leaf,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter


def get_attribute(interp: Interpreter, base: Value, name: str, node: cst.CSTNode) -> Value:
    """``base.name``."""
    if isinstance(base, Union):
        alternatives = [m for m in base.members if m != NONE]
        with interp.perhaps(len(alternatives) > 1):
            return union([_get(interp, m, name, node) for m in alternatives])
    return _get(interp, base, name, node)


def _get(interp: Interpreter, base: Value, name: str, node: cst.CSTNode) -> Value:
    match base:
        case LibV(name=library):
            return library_attribute(interp, library, name)
        case ModuleV():
            return _module_attribute(interp, base, name, node)
        case Array():
            return array_attribute(interp, base, name, node)
        case Tree():
            return _tree_attribute(interp, base, name, node)
        case Obj():
            return object_attribute(interp, base, name, node)
        case ClassV():
            return _class_attribute(interp, base, name, node)
        case Gone():
            return base
        case calls.SuperV(self=me, owner=owner):
            return _super_attribute(interp, me, owner, name)
        case operators.AtV():
            return Bound(LibV(f"at.{name}"), base)
        case ListV():
            return Bound(LibV(f"list.{name}"), base)
        case DictV():
            return Bound(LibV(f"dict.{name}"), base)
        case SetV():
            return Bound(LibV(f"set.{name}"), base)
        case Tup():  # what libraries return may have fields besides
            return Bound(LibV(f"tuple.{name}"), base) if hasattr(tuple, name) else UNKNOWN
        case Const(value=str()) | Host(type="str"):
            return Bound(LibV(f"str.{name}"), base)
        case Const() | Host():
            if isinstance(base, Host) and base.type == "dtype":
                return Host("dtype")
            if name in ("real", "imag", "numerator", "denominator"):
                return base
            kind = _NUMBERS.get(base.type) if isinstance(base, Host) else type(base.value)
            return Bound(LibV(f"scalar.{name}"), base) if kind is not None and hasattr(kind, name) else UNKNOWN
        case Func():
            if name in base.attrs:
                return base.attrs[name]
            if name == "__name__":
                return Const(base.name)
            if name in ("__doc__", "__qualname__", "__module__"):
                return Host("str")
            return Bound(LibV(f"function.{name}"), base)
        case Jitted():
            if name == "__wrapped__":
                return base.entry.func
            if name in base.attrs:
                return base.attrs[name]
            return Bound(LibV(f"jitted.{name}"), base)
        case Partial():
            if name == "func":
                return base.func
            return Bound(LibV(f"partial.{name}"), base)
        case Wrapped():
            return Bound(LibV(f"wrapped.{name}"), base)
        case Bound(func=f, self=me):
            if name == "__self__":
                return me
            if name == "__func__":
                return f
            if isinstance(f, Jitted | Func):
                return _get(interp, f, name, node)
    return UNKNOWN


_NUMBERS = {"bool": bool, "int": int, "float": float, "complex": complex, "number": float}


def library_attribute(interp: Interpreter, library: str, name: str) -> Value:
    """What a name of a library stands for."""
    known = interp.library_names.get((library, name))
    if known is None:
        known = interp.library_names[library, name] = _find_library_attribute(interp, library, name)
    return known


_CONSTANTS: dict[str, Value] = {"none": NONE, "false": FALSE}


def _find_library_attribute(interp: Interpreter, library: str, name: str) -> Value:
    dotted = f"{library}.{name}"
    constant = interp.knowledge.constant(dotted)
    if constant is not None:
        if constant in _CONSTANTS:
            return _CONSTANTS[constant]
        if constant in ("float", "int", "bool", "str"):
            return Host(constant)
    if library == "os" and name == "environ":
        return LibV("os.environ")
    return modelled.named(interp, dotted)


def _module_attribute(interp: Interpreter, base: ModuleV, name: str, node: cst.CSTNode) -> Value:
    value = base.env.slots.get(name)
    if value is not None:
        if interp.traces:
            operators.note_read(interp, base.env, name, value, node)
        return value
    sub = interp.project.resolve(base.module, name, 1) if base.module.is_package else None
    return interp.module(sub) if sub is not None else UNKNOWN


def _tree_attribute(interp: Interpreter, base: Tree, name: str, node: cst.CSTNode) -> Value:
    model = interp.knowledge.attribute("array", name)
    if isinstance(model, AttributeModel):
        if name in ("shape", "ndim", "size", "dtype"):
            return array_attribute(
                interp, Array(Level.TRACED, roots=base.roots, origin=base.origin, maybe=base.maybe), name, node
            )
        if name in ("T", "at", "mT"):
            return array_attribute(
                interp, Array(Level.TRACED, roots=base.roots, origin=base.origin, maybe=base.maybe), name, node
            )
        return UNKNOWN
    if name in (
        "items",
        "values",
        "keys",
        "get",
        "copy",
        "pop",
        "update",
        "append",
        "index",
        "replace",
        "_replace",
        "count",
    ):
        return Bound(LibV(f"tree.{name}"), base)
    if isinstance(model, MethodModel):
        # an array it may be, or an object of which nobody knows that has such a method
        return Bound(LibV(f"jax.Array.{name}"), Array(Level.TRACED, roots=base.roots, origin=base.origin, maybe=True))
    return UNKNOWN


def array_has(interp: Interpreter, array: Array, name: str) -> bool | None:
    """``hasattr(array, name)``, where that is known; False only for what is traced for certain."""
    if name in ("shape", "dtype", "ndim", "size"):
        return True
    model = interp.knowledge.attribute("host_array" if array.level is Level.NUMPY else "array", name)
    if model is None:
        return None
    raises = model.raises if isinstance(model, AttributeModel) and array.is_traced else None
    if raises is None:
        return True
    return False if raises == "AttributeError" and not array.maybe else None


def lacks(interp: Interpreter, value: Value, name: str) -> bool:
    """Is it an array that has no such attribute, if it is traced?"""
    return isinstance(value, Array) and array_has(interp, replace(value, maybe=False), name) is False


def array_attribute(interp: Interpreter, base: Array, name: str, node: cst.CSTNode) -> Value:
    """``x.name`` of an array."""
    if name == "at" and base.level is not Level.NUMPY:
        return operators.AtV(base)
    if name == "shape":
        if base.shape is not None:
            return Tup(
                tuple(
                    Const(d, via="shape") if d is not None else Host("int", base.shape_loops, "shape")
                    for d in base.shape
                )
            )
        return Tup(None, Host("int", base.shape_loops, "shape"))
    if name == "ndim":
        return Const(len(base.shape), via="shape") if base.shape is not None else Host("int", via="shape")
    if name == "size":
        n = shapes.size(base.shape)
        return Const(n, via="shape") if n is not None else Host("int", base.shape_loops, "shape")
    if name == "dtype":
        return shapes.dtype_of(base)
    kind = "array" if base.level is not Level.NUMPY else "host_array"
    model = interp.knowledge.attribute(kind, name)
    if model is None and base.level is Level.NUMPY:
        model = interp.knowledge.attribute("array", name)
    if isinstance(model, MethodModel):
        return Bound(LibV(f"jax.Array.{name}"), base)
    if isinstance(model, AttributeModel):
        if model.raises is not None and base.is_traced:
            operators.needs_concrete(
                interp, base, node, "item" if model.conversion else "attribute", f".{name}", model.raises
            )
            return UNKNOWN
        if model.result.op == "static":
            return Host(model.type or "object", via="shape")
        if model.result.op == "array":
            out = operators.result_array(interp, [base], jax=base.level is not Level.NUMPY)
            shape: Shape | None = None
            if name in ("T", "mT") and base.shape is not None:
                shape = tuple(reversed(base.shape)) if name == "T" else (*base.shape[:-2], *reversed(base.shape[-2:]))
            elif name in ("real", "imag"):
                shape = base.shape
            return replace(
                out, shape=shape, dtype=base.dtype if shapes.kind(base.dtype) != "complex" else "float", weak=base.weak
            )
    return UNKNOWN


def lookup_method(obj: Obj, cls: ClassV, value: Value) -> Value:
    """A class attribute as an instance gives it: functions are bound."""
    flavour = ""
    if isinstance(value, Func):
        flavour = value.flavour
    elif isinstance(value, Jitted):
        flavour = str(getattr(value.attrs.get("flavour"), "value", ""))
    if flavour == "static":
        return value
    if flavour == "class":
        return Bound(value, cls)
    if isinstance(value, Func | Jitted | Wrapped):
        return Bound(value, obj)
    kind = value.project_class if isinstance(value, Obj) else None
    if kind is not None and (kind.opaque() or kind.lookup("__get__") is not None):
        return UNKNOWN  # a descriptor
    return value


def object_attribute(interp: Interpreter, base: Obj, name: str, node: cst.CSTNode) -> Value:
    """``obj.name`` of an instance."""
    value = base.slots.get(name)
    if value is not None:
        if interp.traces:
            operators.note_read(interp, base, name, value, node)
        if isinstance(value, ListV | DictV) and lifetime.is_thread_local(base):
            return UNKNOWN  # what contexts have put there and taken away again
        return value
    cls = base.project_class
    if cls is None:
        return _instance_attribute(interp, base, name)
    if name == "__class__":
        return cls
    if cls.facts.enum and name in ("value", "name"):
        return Host("str") if name == "name" else UNKNOWN
    found = cls.lookup(name)
    if found is not None:
        if isinstance(found, Func) and found.flavour in ("property", "cached_property"):
            # what an instance of unknown origin caches may have been made before the trace, or was for certain
            unsure = base.open and found.flavour == "cached_property"
            interp.unsure += unsure
            with interp.on_host() if unsure and _is_read_by_constructor(cls, name) else nullcontext():
                result = calls.call_value(interp, Bound(found, base), calls.Args(), node)
            interp.unsure -= unsure
            if found.flavour == "cached_property":
                operators.outer_write(interp, base, name, result, node, "cache", name)
                interp.trail.write(base, name, result)
            return result
        if isinstance(found, Jitted) and found.attrs.get("flavour") in (Const("property"), Const("cached_property")):
            return calls.call_value(interp, Bound(found, base), calls.Args(), node)
        get = found.project_class.lookup("__get__") if isinstance(found, Obj) and found.project_class else None
        if isinstance(get, Func) and isinstance(found, Obj):
            return calls.call_value(interp, Bound(get, found), calls.Args([base, cls]), node)
        if base.open and name in cls.facts.fields and not isinstance(found, Func | Jitted):
            return UNKNOWN  # the default says little of an instance that came from elsewhere
        if isinstance(found, calls.FieldV):
            return calls.field_default(interp, cls, name)
        if interp.traces and not isinstance(found, Func | Jitted):
            owner = next((c for c in cls.mro() if isinstance(c, ClassV) and name in c.slots), cls)
            operators.note_read(interp, owner, name, found, node)
        if base.open and isinstance(found, Func):
            overriding = overrides.of_abstract(interp, cls, name, found)
            if overriding is not None:
                return overriding
        if cls.facts.dataclass and name in cls.facts.fields:
            return found  # the default of a field is stored in the instance, where functions are not bound
        return lookup_method(base, cls, found)
    if cls.facts.module == "linen":
        return linen.attribute(base, name) or UNKNOWN
    if cls.facts.namedtuple:
        if name in ("_replace", "_asdict"):
            return Bound(LibV(f"namedtuple.{name}"), base)
        if name == "_fields":
            return Tup(tuple(Const(f) for f in cls.facts.fields))
    if name == "replace" and cls.facts.pytree:
        return Bound(LibV("namedtuple._replace"), base)
    return UNKNOWN


def _is_read_by_constructor(cls: ClassV, name: str) -> bool:
    """Does a constructor of the class, or of one that it derives from, read an attribute of the new instance?"""
    for base in cls.mro():
        for constructor in ("__init__", "__post_init__"):
            init = base.slots.get(constructor) if isinstance(base, ClassV) else None
            me = all_params(init.node.params)[:1] if isinstance(init, Func) else []
            for read in descendants(init.node.body, cst.Attribute) if isinstance(init, Func) and me else ():
                if read.attr.value == name and isinstance(read.value, cst.Name) and read.value.value == me[0].name.value:
                    return True
    return False


def _instance_attribute(interp: Interpreter, base: Obj, name: str) -> Value:
    """An attribute of an instance of a library's class, as the library's data describes it."""
    assert isinstance(base.cls, LibV)
    model = interp.knowledge.attribute(base.cls.name, name)
    if isinstance(model, MethodModel):
        return Bound(LibV(f"{base.cls.name}.{name}"), base)
    if isinstance(model, AttributeModel) and model.result.op == "static":
        return Host(model.type or "object")
    return UNKNOWN


def _class_attribute(interp: Interpreter, base: ClassV, name: str, node: cst.CSTNode) -> Value:
    found = base.lookup(name)
    if found is None:
        if name == "__name__":
            return Const(base.name)
        return (
            Bound(LibV(f"namedtuple.{name}"), base)
            if base.facts.namedtuple and name in ("_make", "_fields")
            else UNKNOWN
        )
    if base.facts.enum and not isinstance(found, Func):
        member = base.slots.get(("member", name))
        if member is None:
            member = Obj(base, name)
            base.slots[("member", name)] = member
        return member
    if isinstance(found, Const) and isinstance(found.value, str) and base.opaque():
        return UNKNOWN  # its base may be an enumeration of a library
    if isinstance(found, Func | Jitted):
        flavour = found.flavour if isinstance(found, Func) else str(getattr(found.attrs.get("flavour"), "value", ""))
        if flavour == "class":
            return Bound(found, base)
        return found
    if interp.traces:
        operators.note_read(interp, base, name, found, node)
    return found


def _super_attribute(interp: Interpreter, me: Value, owner: ClassV, name: str) -> Value:
    cls = me.cls if isinstance(me, Obj) else me
    mro = list(cls.mro()) if isinstance(cls, ClassV) else []
    at = next((i for i, c in enumerate(mro) if c is owner), -1)
    for c in mro[at + 1 :]:
        if isinstance(c, ClassV) and name in c.slots:
            found = c.slots[name]
            if isinstance(found, Func) and found.flavour == "static":
                return found
            return Bound(found, me) if isinstance(found, Func | Jitted) else found
    return LibV("builtins.object.__init__") if name == "__init__" else UNKNOWN


def set_attribute(
    interp: Interpreter, obj: Value, name: str, value: Value, node: cst.CSTNode, target: cst.Attribute
) -> None:
    """``obj.name = value``."""
    lifetime.keep(interp, value, "attribute")
    for o in members(obj):
        match o:
            case Obj():
                cls = o.project_class
                prop = cls.lookup("__setattr__") if cls is not None else None
                if prop is not None and not isinstance(prop, Func):
                    continue
                setter = _setter(o, name)
                if setter is not None:
                    calls.call_value(interp, Bound(setter, o), calls.Args([value]), node)
                    continue
                operators.outer_write(interp, o, name, value, node, "attribute", target)
                new = value if not isinstance(obj, Union) or name not in o.slots else join(o.slots[name], value)
                interp.write(o, name, new, node)
            case ClassV():
                operators.outer_write(interp, o, name, value, node, "attribute", target)
                interp.write(o, name, value, node)
            case ModuleV():
                operators.outer_write(interp, o.env, name, value, node, "attribute", target)
                interp.write(o.env, name, value, node)
            case Func() | Jitted():
                # a counter, or a leak; other attributes of functions are caches, set to what they are
                if isinstance(o, Func) and (isinstance(node, cst.AugAssign) or traced_leaf(value) is not None):
                    key, again = (o.name, name), name in o.attrs
                    operators.outer_write(interp, o.env, key, value, node, "attribute", target, again)
                o.attrs[name] = value


def _setter(obj: Obj, name: str) -> Value | None:
    """The setter of a property of the instance's class."""
    found = obj.project_class.lookup(name) if obj.project_class is not None and name not in obj.slots else None
    return found.attrs.get("fset") if isinstance(found, Func) and found.flavour == "property" else None


def members(v: Value) -> tuple[Value, ...]:
    return v.members if isinstance(v, Union) else (v,)
