"""Large arrays that traced code closes over: each becomes a constant of the compiled program."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from jitlint.semantics import shapes
from jitlint.semantics.events import Bucket, Captured
from jitlint.semantics.values import Array, Bound, Obj

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_BYTES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "complex": 8}
"""Bytes of an element, where they are not four: with 64 bits off, JAX keeps no wider numbers."""


def computed_with(interp: Interpreter, array: Array) -> None:
    """Traced code computes with a concrete array."""
    if nbytes(array) >= interp.limits.constant_bytes:
        interp.constants[id(array)] = array


def nbytes(array: Array) -> int:
    """The size of an array as JAX holds it; 0 where the shape is not known."""
    if array.shape is None or None in array.shape:
        return 0
    return prod(d for d in array.shape if d is not None) * _BYTES.get(shapes.full(array.dtype) or "", 4)


def emit_captured(interp: Interpreter) -> None:
    """Record a :class:`Captured` for each read, by a jitted function, of a large array that it computes with, or of a
    module with its parameters that the object keeps whose method is jitted."""
    for entry in interp.entries:
        me = entry.func.self if isinstance(entry.func, Bound) else None
        for read in entry.reads.values():
            value = read.value
            if isinstance(value, Array) and id(value) in interp.constants:
                size: int | None = nbytes(value)
            elif isinstance(me, Obj) and read.box is me and isinstance(value, Obj) and _holds_parameters(interp, value):
                size = None
            else:
                continue
            key = (Captured, id(read.node), "")
            if key not in interp.events:
                name = read.unit.code(read.node)
                event = Captured(node=read.node, unit=read.unit, name=name, nbytes=size, value=value, entry=entry)
                event.function = read.function
                interp.events[key] = Bucket([event])


def _holds_parameters(interp: Interpreter, module: Obj) -> bool:
    """Is it a module that keeps its parameters in itself, as those of nnx and equinox do?"""
    from jitlint.semantics import conventions

    cls = module.project_class
    models = [conventions.model_of(interp, base) for base in cls.mro()] if cls is not None else []
    return any(model is not None and model.name in _MODULES for model in models)


_MODULES = frozenset({"flax.nnx.Module", "equinox.Module"})
