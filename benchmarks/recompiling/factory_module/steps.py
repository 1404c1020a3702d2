import jax
import jax.numpy as jnp


def make_step(dt):
    @jax.jit
    def step(u):
        return u + dt * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))

    return step
