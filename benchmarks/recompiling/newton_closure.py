# causes: f=function
"""A solver that jits the function it is handed, in each call."""

import jax
import jax.numpy as jnp

N = 10


def newton(fun, x, iters=4):
    df = jax.jit(jax.jacfwd(fun))
    for _ in range(iters):
        x = x - jnp.linalg.solve(df(x), fun(x))
    return x


def f(x):
    return x**3 - 2.0


x = jnp.array([1.0, 2.0])
for step in range(N):
    x = newton(f, x)
print(x)
