"""What jitlint knows of libraries that need not be installed: programs are read, never run."""

import jitlint


def codes(program: str) -> list[tuple[int, str, str]]:
    """Row, code and severity of each finding."""
    report = jitlint.check_source(program)
    assert not report.internal_errors
    return [(f.span.row, f.code, f.severity.value) for f in report.findings]


def test_settings_from_gin_are_not_the_defaults() -> None:
    program = """\
import dataclasses

import gin
import jax
import numpy as np


@gin.configurable
@dataclasses.dataclass
class Config:
    normalize: bool = False


@gin.configurable
def scaled(x, by=None):
    return x


config = Config()


@jax.jit
def step(x):
    if config.normalize:
        x = x / np.linalg.norm(x)
    return scaled(x)


step(1.0)
"""
    assert codes(program) == [(25, "JIT104", "warning")]  # nobody knows whether it is on
    assert codes(program.replace("@gin.configurable\n@data", "@data")) == []


def test_structs_of_tree_math_are_traced_by_leaves_and_have_no_hash() -> None:
    program = """\
from functools import partial

import jax
import jax.numpy as jnp
import tree_math


@tree_math.struct
class Parameters:
    flag: jnp.ndarray


@jax.jit
def flux(parameters: Parameters):
    if parameters.flag:
        return 1.0
    return 2.0


@partial(jax.jit, static_argnums=0)
def fixed(parameters):
    return 1.0


flux(Parameters(jnp.array(True)))
fixed(Parameters(jnp.array(True)))
"""
    assert codes(program) == [(15, "JIT101", "error"), (26, "JIT201", "error")]


def test_variants_of_chex_jit() -> None:
    program = """\
import chex
import jax.numpy as jnp
from absl.testing import parameterized


def pairs(labels):
    return jnp.where(labels)


class PairsTest(parameterized.TestCase):
    @chex.all_variants
    def test_pairs(self):
        self.variant(pairs)(jnp.ones(3))
"""
    assert codes(program) == [(7, "JIT107", "error")]
    assert codes(program.replace("all_variants", "variants(with_jit=True)")) == [(7, "JIT107", "error")]
    assert codes(program.replace("all_variants", "variants(without_jit=True)")) == []


def test_log_probabilities_of_numpyro_are_traced() -> None:
    program = """\
import jax.numpy as jnp
import numpyro.distributions as dist


class Sparse(dist.Distribution):
    def __init__(self, rate, *, is_sparse=False):
        self.rate = rate
        self.is_sparse = is_sparse

    def log_prob(self, value):
        if self.is_sparse:
            return value[value > 0] * self.rate
        return jnp.where(value > 0, value * self.rate, 0.0)
"""
    assert codes(program) == [(12, "JIT107", "warning")]


def test_shapes_given_to_eval_shape_are_traced_whatever_the_function() -> None:
    program = """\
import jax
from transformers import FlaxPreTrainedModel


class Model(FlaxPreTrainedModel):
    def __init__(self, input_shape=(1, 1), seed: int = 0):
        key = jax.random.PRNGKey(seed)
        self.params = jax.eval_shape(self.init_weights, rng=key, input_shape=input_shape)
"""
    assert codes(program) == [(8, "JIT105", "warning")]
    assert codes(program.replace("input_shape=input_shape)", "x=input_shape)")) == []


def test_jit_of_jax_dataclasses_finds_static_parameters_by_their_annotations() -> None:
    program = """\
from typing import Literal

import jax_dataclasses as jdc


@jdc.jit
def scaled(x, mode: jdc.Static[Literal["twice", "half"]], shift: Literal["up", "down"] = "up"):
    return x * 2 if mode == "twice" else x / 2


scaled(1.0, "twice")
"""
    assert codes(program) == []
    assert codes(program.replace('"twice")', '"twice", "down")')) == [(11, "JIT108", "error")]
