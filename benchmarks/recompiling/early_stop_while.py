# causes: <lambda>=function
"""A while loop with a counter and a break; the update is a lambda jitted in it."""

import jax
import jax.numpy as jnp

N = 10


def minimise(x, max_iter, tol=1e-12):
    it = 0
    while True:
        step = jax.jit(lambda y: y - 0.1 * jnp.sin(y))
        new = step(x)
        it += 1
        if it >= max_iter:
            break
        x = new
    return x


print(minimise(jnp.ones(3), N))
