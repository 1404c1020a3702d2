import jax.numpy as jnp


def simulate(x, rate):
    return jnp.exp(-rate * x)
