"""Every row of the jax libraries is executed: what must be concrete, and what the result is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

jax = pytest.importorskip("jax")
np = pytest.importorskip("numpy")

from jitlint.knowledge import FunctionModel, Term, load  # noqa: E402
from tests.knowledge import claims, listing, observing, probing  # noqa: E402

KNOWLEDGE = load()
TESTED = "0.10.2"

pytestmark = pytest.mark.skipif(jax.__version__ != TESTED, reason=f"the rows were read off jax {TESTED}")

EXCEPTIONS = {
    ("jax.numpy.array", "ndmin"): "adds dimensions",
    ("jax.numpy.indices", "sparse"): "gives a tuple",
}
"""Optional parameters whose effect on the result no word of the data tells, too rare to give up the row for them."""


def rows(*libraries: str) -> Iterator[FunctionModel]:
    for library in libraries:
        file = KNOWLEDGE.file(library)
        for name in file.names("functions"):
            model = file.function(name)
            if model.removed is None and model.transform is None:
                yield model


MODE_DECIDES = {"jax.numpy.choose": "a", "jax.numpy.ravel_multi_index": "multi_index"}
"""What is out of range is found by looking at the values, unless ``mode`` says what to do: a need of its own kind."""

LIBRARIES = ("jax.numpy", "jax.lax", "jax.random", "jax.nn", "jax.scipy")
PARTS = ("jax.ops.", "jax.image.")
"""Of jax itself, the parts that compute."""
MODELS = {
    model.name: model
    for model in rows(*LIBRARIES, "jax")
    if not isinstance(probing.found(model.name), type) and model.name.startswith((*LIBRARIES, *PARTS))
}
SAMPLED = [name for name in MODELS if probing.has_sample(name)]


@pytest.mark.parametrize("name", SAMPLED)
def test_the_row_needs_what_jax_needs(name: str) -> None:
    model = MODELS[name]
    sample = probing.sample(model.name)
    assert sample is not None
    seen = observing.needs(sample)
    if name in MODE_DECIDES:
        parameter = MODE_DECIDES[name]
        array = jax.numpy.ones(3, "int32")
        call = probing.found(name)
        rest = ([array] * 3,) if parameter == "a" else ((4, 4),)
        with pytest.raises(jax.errors.ConcretizationTypeError):
            jax.make_jaxpr(lambda a: call(a if parameter == "a" else (a, a), *rest))(array)
        jax.make_jaxpr(lambda a: call(a if parameter == "a" else (a, a), *rest, mode="clip"))(array)
        assert model.concrete[parameter] == "ConcretizationTypeError"
        assert model.lifted[parameter] == ("mode",)
        return
    if model.dynamic is not None and seen.dynamic is None:
        seen.concrete.pop(next(iter(sample.base)), None)
        trial_of_dynamic(model)
    assert dict(model.concrete) == seen.concrete
    assert dict(model.items) == seen.items
    assert dict(model.lifted) == seen.lifted
    if seen.dynamic is not None:
        assert model.dynamic is not None
        assert (model.dynamic.error, model.dynamic.unless) == seen.dynamic


def trial_of_dynamic(model: FunctionModel) -> None:
    """The call without the parameters that make the size known raises what the row says."""
    sample = probing.sample(model.name)
    assert sample is not None and model.dynamic is not None
    base = {n: v for n, v in sample.base.items() if n not in model.dynamic.unless}
    arrays = {n: v for n, v in base.items() if probing.holds_arrays(v)}
    assert sample.trace(base, arrays).error == model.dynamic.error


@pytest.mark.parametrize("name", SAMPLED)
def test_the_result_is_as_the_row_says(name: str) -> None:
    model = MODELS[name]
    sample = probing.sample(model.name)
    assert sample is not None
    if model.dynamic is not None:
        for size in model.dynamic.unless:
            if size in sample.optional:
                sample.base[size] = sample.optional[size]
    for flag in [n for n in sample.optional if (name, n) in EXCEPTIONS]:
        del sample.optional[flag]
    tried = 0
    for args, result in observing.calls(sample, model):
        tried += 1
        assert matches(model.result, result, args), (model.result, result)
        if not isinstance(result, jax.Array):
            continue
        told = {"shape": result.shape, "dtype": result.dtype, "weak": bool(getattr(result, "weak_type", False))}
        for word, got in told.items():
            claimed = getattr(claims, word)(model, args)
            assert claimed is claims.UNKNOWN or claimed == got, (word, str(getattr(model, word)), args)
    assert tried or model.dynamic is not None or model.result.op in ("unknown", "static", "subdtype")


def matches(term: Term, result: Any, args: dict[str, Any]) -> bool:
    """Is the traced result what the word ``term`` says?"""
    array = isinstance(result, jax.Array)
    is_key = array and jax.numpy.issubdtype(result.dtype, jax.dtypes.prng_key)
    many = isinstance(result, (tuple, list))
    arrays = many and all(isinstance(item, jax.Array) for item in result)
    legacy = array and result.dtype == "uint32"
    match term.op:
        case "unknown":
            return True
        case "array" | "kept":
            return array and not is_key
        case "key":
            return array and (is_key or legacy)
        case "none":
            return result is None
        case "static" | "subdtype":
            return not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(result))
        case "host_array":
            return isinstance(result, np.ndarray)
        case "tuple":
            return many and (not term.args or (arrays and len(result) == int(term.arg)))
        case "list":
            return isinstance(result, (list, tuple)) and arrays
        case "each":
            return array if len(args[term.arg]) == 1 else arrays
        case "tree" | "summed" | "arg":
            given = args[term.arg]
            return bool(jax.tree.structure(result) == jax.tree.structure(given))
        case "instance":
            return type(result).__name__ == term.arg.rpartition(".")[2] or callable(result)
        case "function":
            return callable(result)
    return False


@pytest.mark.parametrize("name", SAMPLED)
def test_parameters_that_take_no_list_are_told(name: str) -> None:
    sample = probing.sample(name)
    assert sample is not None
    assert sorted(MODELS[name].arrays) == sorted(listing.arrays_only(sample, MODELS[name]))


@pytest.mark.parametrize("name", [name for name in SAMPLED if MODELS[name].sized])
def test_parameters_that_take_no_iterator_raise(name: str) -> None:
    sample = probing.sample(name)
    assert sample is not None
    for parameter, error in MODELS[name].sized.items():
        items = [jax.numpy.ones(3), jax.numpy.ones(3)]
        assert sample.accepts({**sample.base, parameter: items})
        assert listing.outcome(sample, {parameter: iter(items)}).error == error


@pytest.mark.parametrize("library", ["jax.numpy", "jax.lax", "jax.random", "jax.nn"])
def test_every_parameter_that_must_be_concrete_was_tried(library: str) -> None:
    untried = []
    for model in rows(library):
        if not (model.concrete or model.dynamic):
            continue
        if not probing.has_sample(model.name):
            untried.append(model.name)
    assert not untried


@pytest.mark.parametrize("name", [name for name in SAMPLED if MODELS[name].more or MODELS[name].fewer])
def test_flags_change_the_number_of_results(name: str) -> None:
    model = MODELS[name]
    sample = probing.sample(model.name)
    assert sample is not None

    def count(values: dict[str, Any]) -> int:
        result = sample.run(values)
        return len(result) if isinstance(result, tuple) else 1

    for flag, more in model.more.items():
        assert count({**sample.base, flag: True}) - count(sample.base) == more, flag
    for flag, fewer in model.fewer.items():
        parameter, _, setting = flag.partition("=")
        assert count(sample.base) - count({**sample.base, parameter: setting or False}) == fewer, flag
