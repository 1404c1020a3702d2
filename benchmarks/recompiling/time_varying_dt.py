# causes: euler=
"""dt changes from step to step as a float: one program."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def euler(u, dt):
    return u - dt * u


u = jnp.ones(3)
dt = 0.1
for i in range(N):
    u = euler(u, dt)
    dt = dt * 1.1 if i % 2 else dt * 0.9
print(u)
