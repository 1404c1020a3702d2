"""Which parameters of a callable take arrays and numbers only: a list in their place raises ``TypeError``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from jitlint.knowledge import FunctionModel
from tests.knowledge.probing import Outcome, Sample, ended


def arrays_only(sample: Sample, model: FunctionModel) -> list[str]:
    """The parameters of the sample's base call that hold an array, in order, for which a list and a tuple of its parts
    both raise ``TypeError``, while the array itself works."""
    for size in model.dynamic.unless if model.dynamic is not None else ():
        if size in sample.optional:
            sample.base[size] = sample.optional[size]
            break
    if not sample.accepts(sample.base):
        return []
    return [name for name, value in sample.base.items() if _is_array(value) and _refuses_parts(sample, name, value)]


def _is_array(value: Any) -> bool:
    is_key = isinstance(value, jax.Array) and jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key)
    return isinstance(value, jax.Array) and not is_key and value.ndim > 0


def _refuses_parts(sample: Sample, name: str, value: jax.Array) -> bool:
    parts = list(np.asarray(value))
    trials: list[Any] = [parts, tuple(parts), value.tolist()]
    return all(outcome(sample, {name: trial}).error == "TypeError" for trial in trials)


def outcome(sample: Sample, changed: Mapping[str, Any]) -> Outcome:
    """How the base call ends with other arguments in it; it is staged, since executing compiles."""
    return ended(lambda: jax.make_jaxpr(lambda: (sample.run({**sample.base, **changed}), None)[1])(), [])
