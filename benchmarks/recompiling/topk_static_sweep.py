# causes: topk=static
"""A few values of k, on purpose."""

from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnums=1)
def topk(scores, k):
    return jax.lax.top_k(scores, k)[0].mean()


scores = jnp.arange(50.0)
for run in range(N):
    for k in (1, 5, 10):
        value = topk(scores + run, k)
print(value)
