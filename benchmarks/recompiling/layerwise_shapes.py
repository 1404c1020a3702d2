# causes: init_layer=static
"""Layers of a net are initialised through one jitted function: a program for each layer size, fine."""

from functools import partial

import jax
import jax.numpy as jnp

N = 3


@partial(jax.jit, static_argnames=("n_in", "n_out"))
def init_layer(key, n_in, n_out):
    return jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in)


sizes = [4, 16, 16, 2]
key = jax.random.key(0)
params = []
for n_in, n_out in zip(sizes[:-1], sizes[1:]):
    key, sub = jax.random.split(key)
    params.append(init_layer(sub, n_in, n_out))
print([p.shape for p in params])
