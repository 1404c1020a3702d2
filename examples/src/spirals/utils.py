"""Helpers for training: some right, some wrong."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp


def global_norm(tree: Any) -> jax.Array:
    """The norm of a whole tree; the generator runs over static structure."""
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)))


def clip_by_norm(tree: Any, limit: float) -> Any:
    """Scale a tree down to a norm of ``limit``."""
    norm = global_norm(tree)
    if norm > limit:
        return jax.tree.map(lambda leaf: leaf * (limit / norm), tree)
    return tree


def decay(tree: Any, rate: float | None) -> Any:
    """Weight decay; whether there is any is known while tracing."""
    if rate is None:
        return tree
    return jax.tree.map(lambda leaf: leaf * (1.0 - rate), tree)


@jax.jit
def one_hot(labels: jax.Array, classes: int) -> jax.Array:
    """A row a label. The number of columns is a shape."""
    return (labels[:, None] == jnp.arange(classes)).astype(jnp.float32)


@functools.partial(jax.jit, static_argnames=("window",))
def smooth(values: jax.Array, window: int) -> jax.Array:
    """A running mean; the window is static, so it may be a shape."""
    kernel = jnp.ones(window) / window
    return jnp.convolve(values, kernel, mode="valid")


@jax.jit
def summarise(losses: jax.Array) -> dict[str, Any]:
    """Figures to log after an epoch."""
    return {"mean": losses.mean(), "worst": float(losses.max()), "count": losses.size}


def halve_while_large(step: jax.Array, limit: float) -> jax.Array:
    """A loop over a traced value, as JAX wants it."""
    return jax.lax.while_loop(lambda s: s > limit, lambda s: s / 2, step)
