# causes: average=structure
"""Checkpoints are averaged: the list grows."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def average(trees):
    return jax.tree.map(lambda *xs: sum(xs) / len(xs), *trees)


params = {"w": jnp.ones(3)}
checkpoints = []
for epoch in range(N):
    params = jax.tree.map(lambda p: 0.9 * p, params)
    checkpoints = checkpoints + [params]
    avg = average(checkpoints)
print(avg)
