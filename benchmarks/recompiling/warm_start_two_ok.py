# causes: solve=static
from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnames=("iters",))
def solve(x, b, iters):
    return jax.lax.fori_loop(0, iters, lambda i, x: x - 0.1 * (x - b), x)


x, b = jnp.zeros(3), jnp.ones(3)
x = solve(x, b, iters=50)
for t in range(N):
    b = b + 0.1
    x = solve(x, b, iters=5)
print(x)
