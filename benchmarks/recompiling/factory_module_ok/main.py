# causes: step=
"""The loop calls a memoised factory of another module in every turn."""

import jax.numpy as jnp
from steps import make_step

N = 10


def run(u, n):
    for t in range(n):
        step = make_step(0.1)
        u = step(u)
    return u


print(run(jnp.ones(4), N))
