"""Jitted functions that no name reaches: what jit is given at a call, and functions in functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitlint.dynamic.confirm import Options, confirm
from tests.dynamic_runs import PATIENT, PYTHONS, load, trial, write

TRAIN = """
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Batch(NamedTuple):
    x: jax.Array
    y: jax.Array


def make_train(config):
    width = config["width"]

    def train(key, batch):
        weights = jax.random.normal(key, (batch.x.shape[1], width))
        return (batch.x @ weights).sum() - batch.y.sum()

    return train


def make_pair(rate: float):
    @jax.jit
    def forward(x: float):
        return x * rate

    @functools.partial(jax.jit, static_argnames="turns")
    def backward(x: float, turns: int = 2):
        for _ in range(turns):
            x = x / rate
        return x

    return forward, {"never": backward}


def make_state():
    def _step(x: float):
        return x + 1
    step = jax.jit(_step)
    return dict(step=step, rate=0.1)


class Model:
    def __init__(self, width: int = 3):
        self.weights = jnp.ones((width,))
        self.act = jax.jit(self._act)

    def _act(self, weights, scale: float):
        return weights * scale

    def build(self):
        @jax.jit
        def step(weights):
            return weights + 1
        return step


def fit(xs):
    @jax.jit
    def hidden(x):
        return x
    return [hidden(x) for x in xs]


twice = jax.jit(lambda x: x * 2)


if __name__ == "__main__":
    config = {"width": 4}
    key = jax.random.PRNGKey(0)
    batch = Batch(jnp.ones((8, 3)), jnp.zeros(8))
    train = jax.jit(make_train(config))
    print(train(key, batch))
    many = jax.jit(jax.vmap(make_train(config), in_axes=(0, None)))
    keys = jax.random.split(key, config["width"])
    print(many(keys, batch))
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_functions_are_reached_through_what_makes_them(tmp_path: Path, python: Path) -> None:
    _, summary = confirm([], load(write(tmp_path, program=TRAIN)), Options(python, PATIENT))
    assert {each.qualname: each.traced or each.reason for each in summary.targets} == {
        "make_pair.forward": True,
        "make_pair.backward": "it is defined inside a function",
        "make_state._step": True,
        "Model._act": True,
        "Model.build.step": True,
        "fit.hidden": "it is defined inside a function",
        "twice": True,
        "make_train.train": True,
        "many": True,
    }


def test_what_is_raised_in_a_made_function_is_judged(tmp_path: Path) -> None:
    text = """
    import jax, jax.numpy as jnp

    def make(config):
        def step(x):
            if x > config["bound"]:
                return x
            return float(x)
        return step

    def main():
        step = jax.jit(make({"bound": 0.5}))
        return step(jnp.float32(1))
    """
    judged, _, summary = trial(write(tmp_path, program=text), ("JIT101", 'x > config["bound"]'))
    assert judged['x > config["bound"]'][0] == "confirmed"
    assert summary.traced == 1


def test_nothing_runs_that_does_more_than_make_something(tmp_path: Path) -> None:
    """A global that it would rebind says so in its text; files, processes and connections are refused when tried."""
    text = """
    import jax, socket, subprocess

    COUNT = 0

    class Counted:
        def __init__(self):
            global COUNT
            COUNT += 1
        @jax.jit
        def f(self): return 1

    class Remote:
        def __init__(self):
            self.socket = socket.create_connection(("127.0.0.1", 9))
        @jax.jit
        def f(self): return 1

    class Shell:
        def __init__(self):
            subprocess.run(["true"])
        @jax.jit
        def f(self): return 1

    class Log:
        def __init__(self):
            self.file = open("log.txt", "w")
        @jax.jit
        def f(self): return 1
    """
    _, summary = confirm([], load(write(tmp_path, program=text)), Options(limits=PATIENT))
    reasons = {each.qualname: each.reason for each in summary.targets}
    assert reasons["Counted.f"] == "making an object of Counted rebinds the global COUNT"
    assert "refused to connect" in reasons["Remote.f"]
    assert "refused to start a process" in reasons["Shell.f"]
    assert "refused to write" in reasons["Log.f"]


def test_the_configuration_can_forbid_calls(tmp_path: Path) -> None:
    options = Options(limits=PATIENT, construct=False)
    _, summary = confirm([], load(write(tmp_path, program=TRAIN)), options)
    traced = {each.qualname for each in summary.targets if each.traced}
    assert traced == {"twice"}
    reasons = {each.reason for each in summary.targets if not each.traced}
    assert "calls of the program are not made (dynamic.construct)" in reasons


@pytest.mark.parametrize("python", PYTHONS)
def test_what_calls_pass_is_filled_up_with_what_annotations_say(tmp_path: Path, python: Path) -> None:
    """Of ``update`` a call says all but the batch; its models are had from an object of the class that calls it."""
    learner = """
    import dataclasses
    import functools
    from typing import Callable, NamedTuple

    import jax
    import jax.numpy as jnp
    import numpy as np


    class Batch(NamedTuple):
        x: np.ndarray
        y: np.ndarray


    @functools.partial(jax.tree_util.register_dataclass, data_fields=["params"], meta_fields=["apply"])
    @dataclasses.dataclass
    class Model:
        params: dict
        apply: Callable


    @functools.partial(jax.jit, static_argnames="centre")
    def update(rng, model: Model, batch: Batch, rate, centre: bool):
        guess = model.apply(model.params, batch.x)
        return dataclasses.replace(model, params={"w": model.params["w"] - rate * (guess - batch.y).mean()})


    class Learner:
        def __init__(self, seed: int, observations: jnp.ndarray, rate: float = 0.1):
            self.rng = jax.random.PRNGKey(seed)
            self.rate = rate
            self.model = Model({"w": jnp.ones(observations.shape[-1:])}, lambda params, x: x * params["w"])

        def update(self, batch: Batch):
            self.model = update(self.rng, self.model, batch, self.rate, self.rate > 0)
    """
    _, summary = confirm([], load(write(tmp_path, learner=learner)), Options(python, PATIENT))
    assert [(each.qualname, each.traced or each.reason) for each in summary.targets] == [("update", True)]


def test_what_only_the_interpreter_knows_is_asked_there(tmp_path: Path) -> None:
    """A method of an object of another module, and a function that a library made: their own parameters say what they
    take, and the object what fits."""
    games = """
    import jax
    import jax.numpy as jnp

    class Game:
        def reset(self, key):
            state = jnp.zeros(3)
            return state

        def step(self, key, state, action: int):
            return state + action

    def make(name):
        return Game()
    """
    program = """
    import functools
    import jax
    import games

    def play():
        game = games.make("chess")
        step = jax.jit(game.step)
        return step
    """
    _, summary = confirm([], load(write(tmp_path, program=program, games=games)), Options(limits=PATIENT))
    assert [(each.qualname, each.traced or each.reason) for each in summary.targets] == [("play.step", True)]
