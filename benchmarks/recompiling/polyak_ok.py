# causes: update=
"""Polyak averaging in place."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def update(avg, params, n):
    return jax.tree.map(lambda a, p: a + (p - a) / n, avg, params)


params = {"w": jnp.ones(3)}
avg = params
for epoch in range(N):
    params = jax.tree.map(lambda p: 0.9 * p, params)
    avg = update(avg, params, epoch + 1)
print(avg)
