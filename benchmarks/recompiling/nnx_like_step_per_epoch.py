# causes: train_step=function
"""The step is defined in the epoch loop."""

import jax
import jax.numpy as jnp

N = 10

params = jnp.ones(3)
x = jnp.ones((4, 3))
for epoch in range(N):

    @jax.jit
    def train_step(params, x):
        return params - 0.1 * jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)

    for _ in range(3):
        params = train_step(params, x)
print(params)
