"""Attributes and methods of a traced array do what their rows say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

jax = pytest.importorskip("jax")

from jitlint.knowledge import MethodModel, load  # noqa: E402
from tests.knowledge import probing  # noqa: E402
from tests.knowledge.test_rows import TESTED  # noqa: E402

pytestmark = pytest.mark.skipif(jax.__version__ != TESTED, reason=f"the rows were read off jax {TESTED}")

FILE = load().file("jax.Array")
RAISING = [name for name in FILE.names("methods") if FILE.method(name).raises is not None]
NEEDY = [name for name in FILE.names("methods") if FILE.method(name).call.concrete]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "argpartition": {"kth": 1},
    "compress": {"condition": [True, False, True], "size": 2},
    "repeat": {"repeats": 2},
    "swapaxes": {"axis1": 0, "axis2": 1},
    "take": {"indices": [0, 1]},
}
VALUES = {"axis": 0, "keepdims": True, "decimals": 1, "offset": 1, "axis1": 0, "axis2": 1, "kth": 1, "repeats": 2}


def tried(body: Callable[[Any], object], value: Any) -> probing.Outcome:
    """Trace ``body`` with ``value``: how it ended, and what it gave."""
    seen: list[Any] = []
    return probing.ended(lambda: jax.make_jaxpr(lambda tracer: seen.append(body(tracer)))(value), seen)


def value_for(name: str) -> Any:
    """A scalar for what asks for the value, a matrix for the rest."""
    scalar = name in ("item", "__int__", "__float__", "__complex__", "__bool__", "__index__")
    return jax.numpy.int32(1) if scalar else jax.numpy.ones((3, 3))


@pytest.mark.parametrize("name", RAISING)
def test_methods_that_need_the_value_raise(name: str) -> None:
    arguments = (0,) if name == "addressable_data" else ()
    call = (lambda x: hash(x)) if name == "__hash__" else (lambda x: getattr(x, name)(*arguments))
    assert tried(call, value_for(name)).error == FILE.method(name).raises


@pytest.mark.parametrize("name", FILE.names("attributes"))
def test_attributes_are_as_told(name: str) -> None:
    model = FILE.attribute(name)
    seen = tried(lambda x: getattr(x, name), value_for(name))
    assert seen.error == model.raises
    if seen.error is None:
        assert isinstance(seen.result, jax.Array) == (model.result.op == "array")


@pytest.mark.parametrize("name", NEEDY)
def test_parameters_that_must_be_concrete_raise(name: str) -> None:
    model = FILE.method(name)
    for parameter, error in model.call.concrete.items():
        assert call_with(name, model, parameter).error == error, parameter


def call_with(name: str, model: MethodModel, parameter: str) -> probing.Outcome:
    """The method called with that parameter traced."""
    array = jax.numpy.ones((1, 3)) if name == "squeeze" else jax.numpy.ones((3, 3))
    if name in ("reshape", "transpose"):
        return tried(lambda t: getattr(array, name)(t, 0 if name == "transpose" else 3), 1)
    others = {key: value for key, value in ARGUMENTS.get(name, {}).items() if key != parameter}
    others = {key: jax.numpy.array(value) if isinstance(value, list) else value for key, value in others.items()}
    if name == "compress":
        others |= {} if parameter == "axis" else {"axis": 0}
    given = 2 if parameter in ("size", "total_repeat_length") else VALUES[parameter]
    return tried(lambda t: getattr(array, name)(**others, **{parameter: t}), given)


def test_methods_alike_take_what_the_function_takes() -> None:
    knowledge = load()
    for name in FILE.names("methods"):
        model = FILE.method(name)
        if model.like is None or model.call.params is None or name in ("reshape", "transpose"):
            continue
        twin = knowledge.function(model.like)
        assert twin is not None and twin.documented, name
        known = {param.name for param in twin.params or ()}
        assert {parameter for parameter in model.call.concrete if parameter in known} <= set(twin.concrete), name
