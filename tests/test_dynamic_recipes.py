"""How objects of a program's classes are made: read from its text, and by the worker where the text does not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitlint.dynamic.confirm import Options, confirm
from jitlint.dynamic.recipes import Receivers, find_recipes
from tests.dynamic_runs import PATIENT, PYTHONS, load, write


def recipes(folder: Path, name: str, **files: str) -> Receivers:
    return find_recipes(load(write(folder, **files)).modules).of(name)


MODEL = """
class Model:
    def __init__(self, width, act="relu"): ...
"""


def test_a_call_is_followed_back_to_literals(tmp_path: Path) -> None:
    main = """
    import model
    from model import Model
    CONFIG = {"width": 8, "act": "tanh"}

    def make_width(n):
        return n

    def train(config, scale=2):
        act = config["act"]
        width, other = make_width(config["width"]), 3
        return Model(width, act=act), model.Model(scale), Model(open(act))

    if __name__ == "__main__":
        train(CONFIG)
    """
    config = {"dict": [[{"value": "width"}, {"value": 8}], [{"value": "act"}, {"value": "tanh"}]]}
    width = {"call": {"ref": "main.make_width"}, "args": [{"item": config, "index": "width"}], "kwargs": {}}
    found = recipes(tmp_path, "model.Model", model=MODEL, main=main)
    assert found.calls == (
        {"call": {"ref": "model.Model"}, "args": [width], "kwargs": {"act": {"item": config, "index": "act"}}},
        {"call": {"ref": "model.Model"}, "args": [{"value": 2}], "kwargs": {}},
    )


def test_nothing_is_called_that_is_not_named_as_what_makes_things(tmp_path: Path) -> None:
    main = "from model import Model\nimport shop\n\ndef go():\n    Model(shop.buy(3))\n    Model(shop.delete_all())\n"
    assert recipes(tmp_path, "model.Model", model=MODEL, main=main).calls == ()


def test_derived_classes_stand_in_and_arguments_of_one_name_are_alike(tmp_path: Path) -> None:
    main = """
    import games

    class Base:
        def step(self): raise NotImplementedError

    class Wrapper(Base):
        def __init__(self, env): ...

    class Other(Base):
        def __init__(self, env, n=1): ...

    def go():
        env, params = games.make("CartPole")
        return Wrapper(env)
    """
    found = find_recipes(load(write(tmp_path, main=main)).modules)
    env = {"item": {"call": {"ref": "games.make"}, "args": [{"value": "CartPole"}], "kwargs": {}}, "index": 0}
    wrapped = {"call": {"ref": "main.Wrapper"}, "args": [env], "kwargs": {}}
    assert found.of("main.Base") == Receivers((wrapped,), ("main.Wrapper", "main.Other"))
    assert found.of("main.Other").calls == ({"call": {"ref": "main.Other"}, "args": [], "kwargs": {"env": env}},)


@pytest.mark.parametrize("python", PYTHONS)
def test_methods_are_traced_with_what_the_object_itself_gives(tmp_path: Path, python: Path) -> None:
    """State and parameters come from other methods of the object, sizes and arrays from annotations."""
    program = """
    import jax, jax.numpy as jnp
    from functools import partial
    from typing import Any, NamedTuple

    class Params(NamedTuple):
        rate: float = 0.5

    class State(NamedTuple):
        mean: Any
        count: Any

    class Search:
        def __init__(self, size: int, start: jax.Array):
            self.size, self.start = size, start

        @property
        def default_params(self):
            return Params()

        @partial(jax.jit, static_argnames="self")
        def init(self, key: jax.Array, params: Params) -> Any:
            state = self._init(key, params)
            return state

        @partial(jax.jit, static_argnames="self")
        def tell(self, key, population, state: Any, params: Any):
            return state._replace(mean=population.mean(0) * params.rate, count=state.count + 1)

        @partial(jax.jit, static_argnames="self")
        def ask(self, key, state, params: Params):
            population = state.mean + jax.random.normal(key, (self.size, *state.mean.shape))
            return population, state

        def _init(self, key, params):
            raise NotImplementedError

    class Gauss(Search):
        def _init(self, key, params):
            return State(jnp.zeros_like(self.start), 0)
    """
    project = load(write(tmp_path, program=program))
    _, summary = confirm([], project, Options(python, PATIENT))
    assert [(each.qualname, each.traced, each.reason) for each in summary.targets] == [
        ("Search.init", True, ""),
        ("Search.tell", True, ""),
        ("Search.ask", True, ""),
    ]


def test_a_class_that_nobody_can_make_says_why(tmp_path: Path) -> None:
    program = """
    import jax
    class Net:
        def __init__(self, layers):
            self.layers = layers
        @jax.jit
        def f(self, x): return x
    """
    _, summary = confirm([], load(write(tmp_path, program=program)), Options(limits=PATIENT))
    assert [(each.traced, each.reason) for each in summary.targets] == [
        (False, "nothing says what the parameter `layers` of Net is")
    ]
