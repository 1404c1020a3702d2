# causes: sweep=static
"""Simulation: number of sweeps per stage is static; three stages, fine."""

from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnames=("n_sweeps",))
def sweep(spins, beta, n_sweeps):
    def body(i, s):
        return jnp.tanh(beta * (jnp.roll(s, 1) + jnp.roll(s, -1)))

    return jax.lax.fori_loop(0, n_sweeps, body, spins)


spins = jnp.ones(16)
for n_sweeps in (1, 10, 100):
    for it in range(N):
        spins = sweep(spins, 0.1 * it, n_sweeps)
print(spins)
