# causes: control=
"""lax.cond with lambdas, under jit."""

import jax
import jax.numpy as jnp
from jax import lax

N = 10


@jax.jit
def control(x, on):
    return lax.cond(on, lambda v: v * 0.5, lambda v: v + 1.0, x)


x = jnp.ones(3)
for t in range(N):
    x = control(x, x.sum() > 4.0)
print(x)
