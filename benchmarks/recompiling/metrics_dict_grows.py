# causes: summarise=structure
"""Metrics are collected in a dict with a key each step."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def summarise(metrics):
    return jax.tree.map(jnp.mean, metrics)


history = {}
for step in range(N):
    history[f"step_{step}"] = jnp.arange(4.0) * step
    summary = summarise(history)
print(summary)
