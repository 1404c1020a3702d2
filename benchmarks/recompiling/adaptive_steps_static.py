# causes: integrate=static
"""Adaptive number of steps as a static int, from the host."""

from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnums=(1,))
def integrate(y, n):
    h = 1.0 / n
    for _ in range(n):
        y = y + h * -y
    return y


n = 2
y = jnp.ones(3)
for refinement in range(N):
    y = integrate(y, n)
    n = n + 1
print(y)
