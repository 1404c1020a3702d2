"""What numpy and Python's own functions do with a traced value, executed and compared with the rows."""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import random
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

jax = pytest.importorskip("jax")
np = pytest.importorskip("numpy")

from jitlint.knowledge import FunctionModel, Term, load  # noqa: E402
from tests.knowledge import probing  # noqa: E402

KNOWLEDGE = load()
TESTED = {"jax": "0.10.2", "numpy": "2.4.6"}

pytestmark = pytest.mark.skipif(
    jax.__version__ != TESTED["jax"] or np.__version__ != TESTED["numpy"],
    reason="the rows were read off other versions",
)


def numpy_rows() -> list[str]:
    file = KNOWLEDGE.file("numpy")
    return [f"numpy.{name}" for name in file.names("functions") if file.function(name).on_traced is not None]


def host(value: Any) -> Any:
    """jax arrays as numpy arrays."""
    return jax.tree.map(lambda leaf: np.array(leaf) if isinstance(leaf, jax.Array) else leaf, value)


def fate(outcome: probing.Outcome) -> str:
    """The error, or ``works`` when a traced value comes out, or ``static``."""
    if outcome.error is not None:
        return outcome.error
    return "works" if any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(outcome.result)) else "static"


def told(term: Term | None) -> str | None:
    """``raises:X`` as ``X``."""
    if term is None:
        return None
    return term.arg if term.op == "raises" else term.op


@pytest.mark.parametrize("name", numpy_rows())
def test_numpy_takes_tracers_as_the_row_says(name: str) -> None:
    model = KNOWLEDGE.function(name)
    assert model is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sample = probing.sample(name)
        except LookupError:
            sample = None
        if sample is None or not callable(sample.call):
            pytest.skip("no sample")
        sample.base = {key: host(value) for key, value in sample.base.items()}
        lead = next((key for key, value in sample.base.items() if probing.holds_arrays(value)), None)
        for key, value in {**sample.base, **sample.optional}.items():
            for how, given, build in probing.probes(sample, key, value):
                seen = fate(probing.traced_outcome(sample, key, given, build))
                assert agrees(model, key, how, seen, lead), (key, how, seen)


def agrees(model: FunctionModel, parameter: str, how: str, seen: str, lead: str | None) -> bool:
    """Does the row say ``seen`` of the parameter? A parameter it says nothing of may do more, never less."""
    expected = model.concrete.get(parameter)
    if how == "item":
        expected = model.items.get(parameter, expected)
    general = told(model.on_traced)
    if expected is not None:
        return expected == seen
    if parameter == lead or general not in ("works", "static"):
        return seen == general or (parameter != lead and seen in ("works", "static"))
    return seen in ("works", "static")


CALLS = {
    "abs": "abs(x)",
    "all": "all([x, x])",
    "any": "any([x])",
    "ascii": "ascii(x)",
    "bin": "bin(i)",
    "bool": "bool(x)",
    "bytes": "bytes(i)",
    "bytearray": "bytearray(i)",
    "callable": "callable(x)",
    "chr": "chr(i)",
    "complex": "complex(x)",
    "divmod": "divmod(x, 2)",
    "enumerate": "list(enumerate(v))",
    "float": "float(x)",
    "format": "format(x, '.2f')",
    "frozenset": "frozenset([x])",
    "set": "set([x])",
    "hasattr": "hasattr(x, 'shape')",
    "hash": "hash(x)",
    "hex": "hex(i)",
    "id": "id(x)",
    "int": "int(x)",
    "isinstance": "isinstance(x, float)",
    "iter": "list(iter(v))",
    "len": "len(v)",
    "list": "list(v)",
    "tuple": "tuple(v)",
    "map": "list(map(abs, v))",
    "max": "max(x, 0.0)",
    "min": "min([x, 1.0])",
    "oct": "oct(i)",
    "ord": "ord(i)",
    "pow": "pow(x, 2)",
    "print": "print(end='')",
    "range": "range(i)",
    "repr": "repr(x)",
    "reversed": "list(reversed(v))",
    "round": "round(x)",
    "sorted": "sorted([x, 1.0])",
    "str": "str(x)",
    "sum": "sum(v)",
    "type": "type(x)",
    "zip": "list(zip(v, v))",
    "memoryview": "memoryview(x)",
    "filter": "[*filter(lambda e: True, v)]",
    "math.prod": "math.prod(x)",
    "math.fsum": "math.fsum(x)",
    "math.dist": "math.dist([x], [0.0])",
    "math.hypot": "math.hypot(x, 1.0)",
    "math.sqrt": "math.sqrt(x)",
    "math.floor": "math.floor(x)",
    "math.trunc": "math.trunc(x)",
    "math.isclose": "math.isclose(x, 1.0)",
    "math.pow": "math.pow(x, 2.0)",
    "math.atan2": "math.atan2(x, 1.0)",
    "math.comb": "math.comb(i, 1)",
    "math.factorial": "math.factorial(i)",
    "math.gcd": "math.gcd(i, 2)",
    "math.isqrt": "math.isqrt(i)",
    "math.lcm": "math.lcm(i, 2)",
    "math.perm": "math.perm(i)",
    "math.log": "math.log(x)",
    "math.exp": "math.exp(x)",
    "math.sin": "math.sin(x)",
    "math.isnan": "math.isnan(x)",
    "math.frexp": "math.frexp(x)",
    "operator.index": "operator.index(i)",
    "operator.truth": "operator.truth(x)",
    "operator.not_": "operator.not_(x)",
    "operator.contains": "operator.contains([1.0], x)",
    "operator.countOf": "operator.countOf([1.0], x)",
    "operator.is_": "operator.is_(x, None)",
    "operator.length_hint": "operator.length_hint(v)",
    "operator.add": "operator.add(x, x)",
    "operator.getitem": "operator.getitem(v, 0)",
    "operator.neg": "operator.neg(x)",
    "operator.lt": "operator.lt(x, x)",
    "itertools.chain": "list(itertools.chain(v, v))",
    "itertools.accumulate": "list(itertools.accumulate(v))",
    "itertools.pairwise": "list(itertools.pairwise(v))",
    "itertools.cycle": "next(itertools.cycle(v))",
    "itertools.starmap": "list(itertools.starmap(lambda a: a, [(x,)]))",
    "itertools.repeat": "list(itertools.repeat(x, 2))",
    "itertools.islice": "list(itertools.islice(v, 2))",
    "itertools.count": "next(itertools.count(x))",
    "random.uniform": "random.uniform(0.0, x)",
    "random.gauss": "random.gauss(x, 1.0)",
    "random.seed": "random.seed(x)",
    "time.sleep": "time.sleep(i)",
}
CONCRETE = {
    ("itertools.islice", "args"): "itertools.islice([1, 2], i)",
    ("itertools.repeat", "times"): "itertools.repeat(1, i)",
    ("itertools.combinations", "r"): "itertools.combinations([1, 2], i)",
    ("itertools.permutations", "r"): "itertools.permutations([1, 2], i)",
    ("itertools.product", "repeat"): "itertools.product([1, 2], repeat=i)",
    ("itertools.tee", "n"): "itertools.tee([1], i)",
    ("itertools.compress", "selectors"): "list(itertools.compress([1, 2], [x, x]))",
    ("enumerate", "start"): "enumerate([1], i)",
    ("int", "base"): "int('1', i)",
    ("round", "ndigits"): "round(2.5, i)",
    ("pow", "mod"): "pow(i, 2, 5)",
}


def run(expression: str) -> str:
    """What becomes of the expression when x (a float), i (an int) and v (a vector) are traced."""
    seen: list[Any] = []
    names = {
        **vars(builtins),
        "math": math,
        "operator": operator,
        "itertools": itertools,
        "random": random,
        "time": time,
    }

    def body(x: Any, i: Any, v: Any) -> None:
        seen.append(eval(expression, {**names, "x": x, "i": i, "v": v}))

    state = random.getstate()
    try:
        return fate(probing.ended(lambda: jax.make_jaxpr(body)(0.5, 2, jax.numpy.arange(3.0)), seen))
    finally:
        random.setstate(state)


def full(name: str) -> str:
    return name if "." in name else f"builtins.{name}"


@pytest.mark.parametrize("name", sorted(CALLS))
def test_python_takes_tracers_as_the_row_says(name: str) -> None:
    model = KNOWLEDGE.function(full(name))
    assert model is not None and model.documented
    seen = run(CALLS[name])
    if "[x" in CALLS[name] and model.on_traced_items is not None:
        assert seen == told(model.on_traced_items)
    else:
        assert seen == told(model.on_traced)


@pytest.mark.parametrize(("name", "parameter"), sorted(CONCRETE))
def test_python_wants_concrete_counts(name: str, parameter: str) -> None:
    model = KNOWLEDGE.function(full(name))
    assert model is not None
    assert run(CONCRETE[name, parameter]) == model.concrete[parameter]


@pytest.mark.parametrize("library", ["builtins", "math", "operator", "itertools"])
def test_every_claim_about_tracers_is_executed(library: str) -> None:
    """Of rows alike (``math.sin`` and ``math.cos``) one is enough; each kind of claim must be among the calls."""
    file = KNOWLEDGE.file(library)
    prefix = "" if library == "builtins" else f"{library}."
    claimed = {str(file.function(name).on_traced) for name in file.names("functions")} - {"None", "stores"}
    executed = {str(file.function(name).on_traced) for name in file.names("functions") if prefix + name in CALLS}
    assert claimed <= executed


def scipy_functions() -> Iterator[str]:
    special = pytest.importorskip("scipy.special")
    yield from (f"scipy.special.{name}" for name in special.__all__ if isinstance(getattr(special, name), np.ufunc))
    yield from (f"scipy.special.{name}" for name in ("logsumexp", "softmax", "log_softmax", "comb", "gammaln"))
    yield from (f"scipy.linalg.{name}" for name in ("cholesky", "eigh", "expm", "norm", "qr", "solve", "svd"))
    yield from (f"scipy.fft.{name}" for name in ("dct", "fft", "ifft", "rfft"))
    yield from (f"scipy.stats.{name}" for name in KNOWLEDGE.file("scipy.stats").names("functions"))


def test_scipy_takes_no_tracers() -> None:
    for name in scipy_functions():
        call = probing.resolve(name)
        count = call.nin if isinstance(call, np.ufunc) else 2 if name.endswith((".comb", ".solve")) else 1
        given = [np.eye(3, dtype="float32") if "linalg" in name else np.float32(0.5)] * count
        outcome = _traced(call, given)
        model = KNOWLEDGE.function(name)
        assert model is not None and told(model.on_traced) == outcome.error, (name, outcome)


def _traced(call: Any, given: list[Any]) -> probing.Outcome:
    return probing.ended(lambda: jax.make_jaxpr(lambda *tracers: (call(*tracers), None)[1])(*given), [])
