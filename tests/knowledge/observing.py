"""What a call really needs and gives, in the terms of a row: read off JAX by tracing one parameter at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from jitlint.knowledge import FunctionModel
from tests.knowledge.probing import (
    Sample,
    ended,
    holds_arrays,
    probes,
    traced_outcome,
)

SIZES = ("size", "length", "total_repeat_length", "num_segments", "assume_unique_indices")


@dataclass
class Needs:
    """Which traced parameters fail and how: ``concrete`` and ``items`` as in a row, ``dynamic`` the error and the sizes
    that avoid it. ``probed`` are the parameters that were tried."""

    concrete: dict[str, str] = field(default_factory=dict)
    items: dict[str, str] = field(default_factory=dict)
    lifted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dynamic: tuple[str, tuple[str, ...]] | None = None
    probed: set[str] = field(default_factory=set)


def needs(sample: Sample) -> Needs:
    """Trace each parameter of the sample alone. The sample's base call gets a size when it needs one.

    Raises RuntimeError when the sample does not even run.
    """
    found = Needs()
    arrays = sample.arrays()
    whole = sample.trace(sample.base, arrays)
    if whole.error is not None:
        eager = ended(lambda: sample.run(sample.base), [])
        if eager.error is not None:
            raise RuntimeError(f"the sample of {sample.name} fails: {eager.error}: {eager.message}")
        for name, value in arrays.items():
            alone = sample.trace(sample.base, {name: value})
            if alone.error is not None:
                found.concrete[name] = alone.error
        lifts = lifting(sample, arrays)
        if lifts and (not arrays or next(iter(sample.base)) in found.concrete):
            found.dynamic = (whole.error, lifts)
            found.concrete = {}
            sample.base[lifts[0]] = sample.optional[lifts[0]]
    found.probed |= set(arrays)
    values = {**sample.base, **sample.optional}
    for name, value in values.items():
        if name in arrays or not sample.accepts({**sample.base, name: value}):
            continue
        for how, given, build in probes(sample, name, value):
            found.probed.add(name)
            error = traced_outcome(sample, name, given, build).error
            if how == "whole" and error:
                found.concrete[name] = error
            elif how == "item" and (error or "works") != found.concrete.get(name, "works"):
                found.items[name] = error or "works"
    for name in found.concrete:
        if lifts := lifting(sample, {name: values[name]}):
            found.lifted[name] = lifts
    return found


def lifting(sample: Sample, traced: Mapping[str, Any]) -> tuple[str, ...]:
    """The size parameters that let the call trace once they are given."""
    sizes = [n for n in SIZES if n in sample.optional and n not in traced and n not in sample.base]
    return tuple(n for n in sizes if sample.trace({**sample.base, n: sample.optional[n]}, traced).error is None)


def calls(sample: Sample, model: FunctionModel) -> Iterator[tuple[dict[str, Any], Any]]:
    """Calls of the sample: (arguments with defaults, traced result). The base call is made over dtypes and weak types,
    those with an optional parameter as they are. Arguments that may be traced are given as shapes and dtypes.
    """
    defaults = {n: p.default for n, p in sample.signature.parameters.items() if p.default is not p.empty}
    flags = {*model.more, *(flag.partition("=")[0] for flag in model.fewer)}
    kinds = (None, False), ("float16", False), ("int32", False), ("bool", False), (None, True), ("complex64", False)
    trials = [(sample.base, kind) for kind in kinds]
    trials += [({**sample.base, n: v}, (None, False)) for n, v in sample.optional.items() if n not in flags]
    for values, (dtype, weak) in trials:
        arrays = {n: v for n, v in values.items() if holds_arrays(v) and n not in model.concrete}
        floats = {n for n, v in arrays.items() if all(_is_float(leaf) for leaf in jax.tree.leaves(v))}
        if (dtype, weak) != (None, False) and not floats:
            continue
        traced = {n: abstract(v, dtype, weak) if n in floats else abstract(v) for n, v in arrays.items()}
        outcome = sample.trace(values, traced)
        if outcome.error is None:
            yield {**defaults, **values, **traced}, outcome.result


def abstract(value: Any, dtype: str | None = None, weak: bool = False) -> Any:
    """The arrays of ``value`` as shapes and dtypes, keys as they are."""
    return jax.tree.map(lambda leaf: struct(leaf, dtype, weak), value)


def struct(leaf: Any, dtype: str | None, weak: bool) -> Any:
    """One array as shape and dtype."""
    make: Any = jax.ShapeDtypeStruct
    return make(leaf.shape, dtype or leaf.dtype, weak_type=weak)


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf.dtype, np.dtype) and leaf.dtype.kind == "f"
