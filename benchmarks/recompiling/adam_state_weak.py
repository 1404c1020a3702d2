# causes: adam=weak
"""Moments from full with a Python number are weak, and come back strong."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def adam(p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g**2
    return p - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v


def init(p):
    return jnp.full(p.shape, 0.0), jnp.full(p.shape, 0.0)


p = jnp.ones(3, dtype=jnp.float32)
m, v = init(p)
for _ in range(N):
    p, m, v = adam(p, m, v, jnp.cos(p))
print(p)
