# causes: leapfrog=static
"""The number of leapfrog steps is drawn at random and static."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

N = 10


@partial(jax.jit, static_argnums=(2,))
def leapfrog(q, p, n):
    for _ in range(n):
        p = p - 0.1 * q
        q = q + 0.1 * p
    return q, p


rng = np.random.default_rng(0)
q = jnp.ones(2)
for i in range(N):
    p = jnp.asarray(rng.normal(size=2), dtype=jnp.float32)
    n = 1 + i % 5
    q, p = leapfrog(q, p, n)
print(q)
