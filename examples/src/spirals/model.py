"""A multi-layer perceptron as functions over a list of parameter dictionaries."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp

from spirals.config import Activation, Config

Params = list[dict[str, jax.Array]]


def init(key: jax.Array, config: Config, features: int = 2) -> Params:
    """Fresh parameters; the loop is over static sizes."""
    sizes = (features, *config.hidden, config.classes)
    params = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        key, sub = jax.random.split(key)
        weight = jax.random.normal(sub, (fan_in, fan_out)) * jnp.sqrt(2.0 / fan_in)
        params.append({"weight": weight, "bias": jnp.zeros(fan_out)})
    return params


def activate(x: jax.Array, activation: Activation) -> jax.Array:
    if activation is Activation.RELU:
        return jax.nn.relu(x)
    return jnp.tanh(x)


def dropout(x: jax.Array, key: jax.Array, rate: float, training: bool) -> jax.Array:
    """Where ``training`` comes from a jitted function that does not declare it static, the test raises."""
    if not training:
        return x
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0)


def apply(params: Params, x: jax.Array, key: jax.Array, training: bool) -> jax.Array:
    """Logits. The loop unrolls over the layers, whose number is static."""
    *hidden, last = params
    for layer in hidden:
        key, sub = jax.random.split(key)
        x = activate(x @ layer["weight"] + layer["bias"], Activation.RELU)
        x = dropout(x, sub, 0.1, training)
    return x @ last["weight"] + last["bias"]


@functools.partial(jax.jit, static_argnames=("activation",))
def embed(params: Params, x: jax.Array, activation: Activation = Activation.RELU) -> jax.Array:
    """The last hidden layer: ``activation`` is static, so asking for it is fine."""
    for layer in params[:-1]:
        x = activate(x @ layer["weight"] + layer["bias"], activation)
    return x


@jax.jit
def predict(params: Params, x: jax.Array) -> jax.Array:
    """Classes. The constant ``False`` reaches the test in ``dropout``, not a traced value."""
    logits = apply(params, x, jax.random.key(0), training=False)
    return jnp.argmax(logits, axis=-1)
