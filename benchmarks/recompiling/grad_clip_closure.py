# causes: clipped=function
"""The clip threshold is closed over by a new function each step."""

import jax
import jax.numpy as jnp

N = 10


def make_clip(threshold):
    def clipped(g):
        return jnp.clip(g, -threshold, threshold)

    return jax.jit(clipped)


g = jnp.linspace(-3.0, 3.0, 7)
for step in range(N):
    clip = make_clip(1.0 / (1 + step))
    g = clip(g)
print(g)
