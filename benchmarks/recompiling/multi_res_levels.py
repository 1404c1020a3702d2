# causes: smooth=shape
"""Multigrid: a program for each level, in each cycle the same ones."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def smooth(u):
    return 0.5 * u + 0.25 * (jnp.roll(u, 1) + jnp.roll(u, -1))


def v_cycle(u):
    levels = [u]
    for _ in range(3):
        levels.append(smooth(levels[-1])[::2])
    out = levels[-1]
    for coarse in reversed(levels[:-1]):
        out = smooth(jnp.repeat(out, 2)) + 0.0 * coarse
    return out


u = jnp.arange(16.0)
for cycle in range(N):
    u = v_cycle(u)
print(u.sum())
