# causes: <lambda>=function
"""A registry makes a jitted lambda for each request."""

import jax.numpy as jnp
from registry import solver

N = 10

x = jnp.ones(4)
for k in range(N):
    solve = solver("damped")
    x = solve(x)
print(x)
