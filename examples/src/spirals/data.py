"""Two spirals on the plane. All of this runs on the host or is traced without trouble."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np


def make_spirals(points: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and their classes, in numpy: nothing here is traced."""
    rng = np.random.default_rng(seed)
    turn = np.sqrt(rng.random(points)) * 3 * np.pi
    sign = np.where(np.arange(points) % 2 == 0, 1.0, -1.0)
    xy = np.stack([sign * turn * np.cos(turn), sign * turn * np.sin(turn)], axis=1)
    if noise > 0:
        xy = xy + rng.normal(0, noise, xy.shape)
    return xy.astype(np.float32), (sign > 0).astype(np.int32)


def batches(x: np.ndarray, y: np.ndarray, size: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Full batches only, so that every one has the same shape."""
    order = np.random.default_rng(seed).permutation(len(x))
    for start in range(0, len(x) - size + 1, size):
        chosen = order[start : start + size]
        yield x[chosen], y[chosen]


@jax.jit
def standardise(x: jax.Array, mean: jax.Array | None = None) -> jax.Array:
    """Tests that look at shapes and at None are decided while tracing."""
    if x.ndim == 1:
        x = x[None, :]
    if mean is None:
        mean = x.mean(axis=0)
    spread = x.std(axis=0)
    return (x - mean) / jnp.where(spread > 0, spread, 1.0)
