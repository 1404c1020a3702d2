# causes: euler=dtype
"""dt starts as the int 1 and becomes a float."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def euler(u, dt):
    return u - dt * u


u = jnp.ones(3)
dt = 1
for i in range(N):
    u = euler(u, dt)
    dt = dt * 0.5
print(u)
