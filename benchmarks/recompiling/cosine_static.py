# causes: step=static
"""A schedule function gives a new static float each step, unpacked from a config dict."""

import math
from functools import partial

import jax
import jax.numpy as jnp

N = 10
config = {"base": 0.1, "total": 100}


def cosine(step, base, total):
    return 0.5 * base * (1 + math.cos(math.pi * step / total))


@partial(jax.jit, static_argnames=["lr"])
def step(params, lr):
    return jax.tree.map(lambda p: p - lr * p, params)


params = {"w": jnp.ones(3)}
for i in range(N):
    params = step(params, lr=cosine(i, **config))
print(params)
