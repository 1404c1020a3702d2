"""Write rows of library data from what the installed libraries do.

    python benchmarks/knowledge_probe.py jax.numpy            # rows for names that have none
    python benchmarks/knowledge_probe.py --all jax.numpy      # every row, as observed

Reads signatures, then runs each callable under ``jax.make_jaxpr`` with the sample arguments of
``tests/knowledge/samples.toml``, one parameter traced at a time. What it cannot run it prints as a comment. The rows
are a draft: read them, correct them, and put them into ``jitlint/knowledge/data``; the tests then check them.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from jitlint.knowledge import load
from tests.knowledge import observing, probing

NEEDS = {
    "axis": (
        "axis",
        "axes",
        "axis1",
        "axis2",
        "dimension",
        "dimensions",
        "source",
        "destination",
        "permutation",
        "dims",
    ),
    "shape": ("shape", "new_sizes", "sizes", "newshape", "dimensions", "s", "reps", "repeats_shape"),
    "size": ("num", "N", "M", "n", "size", "length", "num_classes", "total_repeat_length", "num_segments", "minlength"),
    "count": ("repeats", "k", "indices_or_sections", "bins", "pad_width", "start", "stop", "step", "d"),
    "dtype": ("dtype",),
    "order": ("ord", "deg", "decimals", "ndmin", "offset", "kth", "p"),
}
FLAGS = (
    "return_index",
    "return_inverse",
    "return_counts",
    "return_indices",
    "retstep",
    "returned",
    "return_sign",
    "rank",
    "full",
    "cov",
)


def parameters(signature: inspect.Signature) -> list[str]:
    """The parameters as the data writes them."""
    names: list[str] = []
    last: Any = None
    for param in signature.parameters.values():
        if last is param.POSITIONAL_ONLY and param.kind is not last:
            names.append("/")
        if param.kind is param.KEYWORD_ONLY and last not in (param.KEYWORD_ONLY, param.VAR_POSITIONAL):
            names.append("*")
        stars = "*" if param.kind is param.VAR_POSITIONAL else "**" if param.kind is param.VAR_KEYWORD else ""
        names.append(f"{stars}{param.name}{'' if stars or param.default is param.empty else '='}")
        last = param.kind
    if last is inspect.Parameter.POSITIONAL_ONLY:
        names.append("/")
    return names


def observe(sample: probing.Sample) -> dict[str, Any]:
    """The row of a callable as it behaves with its sample. Raises RuntimeError when the sample does not run."""
    row: dict[str, Any] = {"params": parameters(sample.signature)}
    arrays = sample.arrays()
    needs = observing.needs(sample)
    traced = {name: value for name, value in arrays.items() if name not in needs.concrete}
    whole = sample.trace(sample.base, traced)
    row |= {"result": "unknown"} if whole.error else result_of(whole.result)
    if needs.dynamic:
        row["dynamic"] = {"error": needs.dynamic[0], "unless": list(needs.dynamic[1])}
    if needs.concrete:
        row["concrete"] = needs.concrete
        row["need"] = {name: need(name, {**sample.base, **sample.optional}[name]) for name in needs.concrete}
    if needs.items:
        row["items"] = needs.items
    if needs.lifted:
        row["lifted"] = {name: list(by) for name, by in needs.lifted.items()}
    if row["result"] == "array":
        row |= details(sample, traced)
    more = {name: extra(sample, whole.result, name) for name in FLAGS if name in sample.optional}
    if any(more.values()):
        row["more"] = {name: count for name, count in more.items() if count}
    return row


def observe_host(sample: probing.Sample) -> dict[str, Any]:
    """The row of a function of numpy or the like, which is given numpy arrays and one tracer at a time."""
    row: dict[str, Any] = {"params": parameters(sample.signature)}
    if isinstance(sample.call, np.ufunc):
        row["params"] = ["x", "/"] if sample.call.nin == 1 else ["x1", "x2", "/"]
        row["params"] += ["out=", "*", "where=", "**kwargs"]
    sample.base = {name: jax.tree.map(host, value) for name, value in sample.base.items()}
    result = sample.run(sample.base)
    if isinstance(result, (np.ndarray, np.generic)):
        row["result"] = "host_array"
        if result.ndim == 0:
            row["shape"] = "scalar"
    elif isinstance(result, tuple) and any(isinstance(item, np.ndarray) for item in result):
        row["result"] = "static"
        row["type"] = "tuple"
    else:
        row |= result_of(result)
        if row["result"] == "list":
            row |= {"result": "static", "type": "list"}
    alone: dict[str, str] = {}
    items: dict[str, str] = {}
    for name, value in {**sample.base, **sample.optional}.items():
        if isinstance(value, str) or callable(value):
            continue
        if probing.holds_arrays(value) and isinstance(value, (list, tuple)):
            alone[name] = fate(probing.traced_outcome(sample, name, value, lambda tracers: tracers))
            continue
        for how, given, build in probing.probes(sample, name, value):
            outcome = fate(probing.traced_outcome(sample, name, given, build))
            if how == "whole":
                alone[name] = outcome
            elif outcome != alone.get(name):
                items[name] = outcome
        if name in sample.base and isinstance(value, np.ndarray):
            got = fate(probing.traced_outcome(sample, name, value, lambda tracer: [tracer, tracer]))
            if got != alone[name]:
                items[name] = got
    data = [name for name in alone if probing.holds_arrays({**sample.base, **sample.optional}[name])]
    lead = alone[data[0]] if data else next(iter(alone.values()), "")
    lead = next((word for word in ("works", "static") if word in alone.values()), lead)
    if lead:
        row["on_traced"] = claim(lead)
    errors = {
        name: word
        for name, word in alone.items()
        if word not in ("works", "static") and (word != lead or name in items and name not in data)
    }
    if errors:
        row["concrete"] = errors
        row["need"] = {name: need(name, {**sample.base, **sample.optional}[name]) for name in errors}
    if data and data[0] in items:
        row["on_traced_items"] = claim(items[data[0]])
    if inner := {name: word for name, word in items.items() if name in errors and name not in data}:
        row["items"] = inner
    return row


def claim(word: str) -> str:
    """A fate as ``on_traced`` writes it."""
    return word if word in ("works", "static") else f"raises:{word}"


def fate(outcome: probing.Outcome) -> str:
    """What became of a traced argument: the error, ``works`` (the result is traced) or ``static`` (it is not)."""
    if outcome.error:
        return outcome.error
    return "works" if any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(outcome.result)) else "static"


def host(value: Any) -> Any:
    """A jax array as a numpy array, anything else as it is."""
    return np.array(value) if isinstance(value, jax.Array) and not is_key(value) else value


def need(name: str, value: object) -> str:
    """What kind of value a parameter of this name wants."""
    if isinstance(value, bool):
        return "flag"
    return next((kind for kind, names in NEEDS.items() if name in names), "value")


def extra(sample: probing.Sample, before: object, flag: str) -> int:
    """How many further results the flag gives."""
    seen: list[Any] = []
    if probing.ended(lambda: seen.append(sample.run({**sample.base, flag: True})), seen).error is not None:
        return 0
    now = len(seen[-1]) if isinstance(seen[-1], tuple) else 1
    return now - (len(before) if isinstance(before, tuple) else 1)


def result_of(found: object) -> dict[str, str]:
    """The ``result`` (and ``type``) of a value made inside a trace."""
    if isinstance(found, jax.Array):
        return {"result": "key" if jnp.issubdtype(found.dtype, jax.dtypes.prng_key) else "array"}
    if found is None:
        return {"result": "none"}
    if isinstance(found, tuple) and found and all(isinstance(item, jax.Array) for item in found):
        return {"result": f"tuple:{len(found)}"}
    if isinstance(found, list) and all(isinstance(item, jax.Array) for item in found):
        return {"result": "list"}
    if isinstance(found, (bool, int, float, str, np.dtype)) or (isinstance(found, tuple) and not found):
        return {"result": "static", "type": "dtype" if isinstance(found, np.dtype) else type(found).__name__}
    if isinstance(found, np.ndarray):
        return {"result": "host_array"}
    if isinstance(found, tuple) and all(isinstance(item, (int, float)) for item in found):
        return {"result": "static", "type": "tuple"}
    return {"result": "unknown"}


# -- dtype, weak type and shape of an array result ---------------------------------------------------------------------


def spec(value: Any, dtype: str | None = None, weak: bool = False, shape: tuple[int, ...] | None = None) -> Any:
    """``value`` (an array or a list of them) as abstract arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(spec(item, dtype, weak, shape) for item in value)
    make: Any = jax.ShapeDtypeStruct
    return make(value.shape if shape is None else shape, value.dtype if dtype is None else dtype, weak_type=weak)


def out(sample: probing.Sample, values: Mapping[str, Any], traced: Mapping[str, Any]) -> Any:
    """The array that the call gives, or None."""
    result = sample.trace(values, traced).result
    return result if isinstance(result, jax.Array) else None


def details(sample: probing.Sample, traced: Mapping[str, Any]) -> dict[str, Any]:
    """The ``shape``, ``dtype`` and ``weak`` of the array result, where a simple word tells them."""
    row: dict[str, Any] = {}
    kinds = {n: "k" if is_key(first(v)) else np.dtype(first(v).dtype).kind for n, v in traced.items()}
    floats = {n: v for n, v in traced.items() if kinds[n] == "f"} or {
        n: v for n, v in traced.items() if kinds[n] in "iu"
    }
    if word := shape_word(sample, traced, floats):
        row["shape"] = word
    if word := dtype_word(sample, traced, floats):
        row["dtype"] = word
    if word := weak_word(sample, traced, floats):
        row["weak"] = word
    return row


def first(value: Any) -> Any:
    return first(value[0]) if isinstance(value, (list, tuple)) else value


def is_key(value: Any) -> bool:
    return bool(jnp.issubdtype(value.dtype, jax.dtypes.prng_key))


def dtype_word(sample: probing.Sample, traced: Mapping[str, Any], floats: Mapping[str, Any]) -> str | None:
    """How the result's dtype follows from the arguments'."""
    seen: dict[str, str] = {}
    for dtype in ("float32", "float16", "int32", "uint8", "bool", "complex64"):
        found = out(sample, sample.base, {**traced, **{n: spec(v, dtype) for n, v in floats.items()}})
        if found is not None:
            seen[dtype] = str(found.dtype)
    base = None
    numbers = {n: v for n, v in sample.base.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    if not floats:
        only = set(seen.values())
        base = next(iter(only)) if len(only) == 1 else None
        kinds = [out(sample, {**sample.base, **{n: of(v) for n, v in numbers.items()}}, traced) for of in (int, float)]
        if None not in [None if k is None else 1 for k in kinds] and kinds[0].dtype != kinds[1].dtype:
            base = "promote" if len(numbers) > 1 else f"like:{next(iter(numbers))}"
    elif len(set(seen.values())) == 1 and len(seen) > 1:
        base = next(iter(seen.values()))
    elif all(key == value for key, value in seen.items()) and len(seen) > 1:
        base = same_dtype(sample, traced, floats)
    elif len(seen) > 3 and {seen.get(k, "float32") for k in ("float32", "int32", "uint8", "bool")} == {"float32"}:
        base = "inexact" if all(seen.get(k, k) == k for k in ("float16", "complex64")) else None
    narrow = {key: value for key, value in seen.items() if key != "complex64"}
    if base is None and seen.get("complex64") == "float32" and len(narrow) > 1:
        if all(key == value for key, value in narrow.items()):
            word = same_dtype(sample, traced, floats)
            base = f"real:{word}" if word else None
        elif narrow.get("float16") == "float16" and {narrow.get(k, "float32") for k in ("int32", "bool")} == {
            "float32"
        }:
            base = "real:inexact"
    totals = {"float32": "float32", "float16": "float16", "int32": "int32", "uint8": "uint32", "bool": "int32"}
    if base is None and narrow == totals and len(floats) == 1:
        base = f"total:{next(iter(floats))}"
    base = {"int32": "int", "bool": "bool", "float32": "float"}.get(base or "", base)
    if base == "float" and floats and seen.get("float16") == "float16":
        base = "inexact"
    if "dtype" in sample.signature.parameters:
        given = [out(sample, {**sample.base, "dtype": d}, traced) for d in ("float16", "int16")]
        if sample.signature.parameters["dtype"].default is inspect.Parameter.empty:
            base = None
        if any(g is not None for g in given) and all(
            g is None or str(g.dtype) == d for g, d in zip(given, ("float16", "int16"), strict=True)
        ):
            return f"arg:dtype:{base}" if base else "arg:dtype"
    return base


def same_dtype(sample: probing.Sample, traced: Mapping[str, Any], floats: Mapping[str, Any]) -> str | None:
    """``like:NAME`` or ``promote`` for a result that has the dtype that all arguments share."""
    names = list(floats)
    if len(names) == 1:
        return f"like:{names[0]}" if not isinstance(floats[names[0]], (list, tuple)) else "promote"
    for name in names:
        low = {**traced, **{n: spec(v, "int32") for n, v in floats.items()}, name: spec(floats[name], "float16")}
        high = {**traced, **{n: spec(v, "float16") for n, v in floats.items()}, name: spec(floats[name], "int32")}
        results = [out(sample, sample.base, given) for given in (low, high)]
        if any(result is None for result in results):
            continue
        kinds = [str(result.dtype) for result in results]
        if kinds == ["float16", "int32"]:
            return f"like:{name}"
        if kinds == ["float16", "float16"]:
            continue
        if kinds == ["int32", "float16"]:
            continue
        return None
    mixed = {**traced, **{n: spec(v, "int32") for n, v in floats.items()}, names[0]: spec(floats[names[0]], "float16")}
    found = out(sample, sample.base, mixed)
    return "promote" if found is not None and str(found.dtype) == "float16" else None


def weak_word(sample: probing.Sample, traced: Mapping[str, Any], floats: Mapping[str, Any]) -> str | None:
    """Whether the result is weakly typed."""
    strong = out(sample, sample.base, {**traced, **{n: spec(v) for n, v in floats.items()}})
    if strong is None:
        return None
    for name, value in sample.base.items():
        if isinstance(value, float) and strong.weak_type:
            given = out(sample, {**sample.base, name: np.float32(value)}, traced)
            if given is not None and not given.weak_type:
                return f"value:{name}"
    if strong.weak_type:
        return "always"
    if not floats:
        return "never"
    weak = out(sample, sample.base, {**traced, **{n: spec(v, weak=True) for n, v in floats.items()}})
    if weak is None:
        return None
    if not weak.weak_type:
        return "never"
    names = list(floats)
    if len(names) == 1:
        return f"like:{names[0]}" if not isinstance(floats[names[0]], (list, tuple)) else "promote"
    alone = []
    for name in names:
        found = out(sample, sample.base, {**traced, **{n: spec(v, weak=n == name) for n, v in floats.items()}})
        if found is not None and found.weak_type:
            alone.append(name)
    if len(alone) == 1:
        return f"like:{alone[0]}"
    return None if alone else "promote"


def shape_word(sample: probing.Sample, traced: Mapping[str, Any], floats: Mapping[str, Any]) -> str | None:
    """How the result's shape follows from the arguments'."""
    for name in ("shape", "new_sizes"):
        if name in sample.signature.parameters:
            tried = [out(sample, {**sample.base, name: s}, traced) for s in ((5, 12), (3, 4, 5), (12,))]
            good = [found for found in tried if found is not None]
            if good and all(found.shape in ((5, 12), (3, 4, 5), (12,)) for found in good):
                if sample.signature.parameters[name].default is inspect.Parameter.empty:
                    return f"arg:{name}"
                default = sample.signature.parameters[name].default
                rest = "scalar" if default == () else shape_without(sample, traced, floats)
                return f"arg:{name}:{rest}" if rest else f"arg:{name}"
    return shape_without(sample, traced, floats)


def shape_without(sample: probing.Sample, traced: Mapping[str, Any], floats: Mapping[str, Any]) -> str | None:
    """How the result's shape follows from the arguments' when no shape is given."""
    base = out(sample, sample.base, traced)
    if base is None or not floats:
        return None
    names = list(floats)
    lead = names[0]
    single = not isinstance(floats[lead], (list, tuple))
    if single and "axis" in sample.signature.parameters:
        shape = floats[lead].shape
        if base.shape == () and len(shape) > 0:
            cut = [out(sample, {**sample.base, "axis": axis}, traced) for axis in range(len(shape))]
            if all(c is not None and c.shape == (*shape[:a], *shape[a + 1 :]) for a, c in enumerate(cut)):
                return f"reduce:{lead}:axis"
            return None
    shapes: list[tuple[int, ...]] = [(4,), (3, 4), (4, 4), (2, 4, 4)]
    if len(names) == 1 and single:
        tried = [
            (shape, out(sample, sample.base, {**traced, lead: spec(floats[lead], shape=shape)})) for shape in shapes
        ]
        good = [(shape, result.shape) for shape, result in tried if result is not None]
        optional_axis = [
            out(sample, {**sample.base, "axis": 0}, traced) if "axis" in sample.optional else base,
        ]
        if len(good) >= 2 and all(a == b for a, b in good):
            return f"like:{lead}" if all(o is not None and o.shape == base.shape for o in optional_axis) else None
        if len(good) >= 2 and all(b == () for _, b in good):
            return "scalar"
        return None
    if len(names) >= 2 and all(not isinstance(v, (list, tuple)) for v in floats.values()):
        wide = {n: spec(v, shape=(3, 1) if at % 2 else (1, 4)) for at, (n, v) in enumerate(floats.items())}
        plain = {n: spec(v, shape=(4,)) for n, v in floats.items()}
        both = [out(sample, sample.base, {**traced, **given}) for given in (wide, plain)]
        if None not in [None if found is None else True for found in both]:
            if [found.shape for found in both] == [(3, 4), (4,)]:
                return "broadcast"
            if all(found.shape == () for found in both):
                return "scalar"
    return None


# -- writing -----------------------------------------------------------------------------------------------------------


def toml(value: Any) -> str:
    """A value of a row as TOML, tables inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def text(name: str, row: Mapping[str, Any]) -> str:
    """The row as a table."""
    header = name if "." not in name else f'"{name}"'
    return "\n".join([f"[functions.{header}]", *(f"{key} = {toml(value)}" for key, value in row.items()), ""])


def main() -> None:
    """Print the rows of the modules named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="also names that have a row")
    parser.add_argument("--library", help="the library whose file the rows are for (default: the module)")
    parser.add_argument("modules", nargs="+", help="import paths, or full names of callables")
    options = parser.parse_args()
    knowledge = load()
    for module in options.modules:
        library = options.library or module
        for name, _ in probing.public_callables(module):
            dotted = f"{module}.{name}"
            known = knowledge.function(dotted)
            if known is not None and known.documented and not options.all:
                continue
            try:
                sample = probing.sample(dotted)
                if sample is None:
                    print(f"# {dotted}: no signature, or skipped\n")
                    continue
                look = observe if dotted.startswith("jax") else observe_host
                print(text(dotted.removeprefix(f"{library}."), look(sample)))
            except Exception as error:
                print(f"# {dotted}: {type(error).__name__}: {str(error)[:150]!r}\n")


if __name__ == "__main__":
    main()
