# causes: f=
"""The jacobian is jitted once and handed in."""

import jax
import jax.numpy as jnp

N = 10


def newton(fun, dfun, x, iters=4):
    for _ in range(iters):
        x = x - jnp.linalg.solve(dfun(x), fun(x))
    return x


def f(x):
    return x**3 - 2.0


df = jax.jit(jax.jacfwd(f))
x = jnp.array([1.0, 2.0])
for step in range(N):
    x = newton(f, df, x)
print(x)
