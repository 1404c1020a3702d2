# causes: <lambda>=
"""A registry that keeps what it makes."""

import jax.numpy as jnp
from registry import solver

N = 10

x = jnp.ones(4)
for k in range(N):
    solve = solver("damped")
    x = solve(x)
print(x)
