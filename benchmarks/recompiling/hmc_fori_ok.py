# causes: leapfrog=
"""The number of leapfrog steps is traced."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


@jax.jit
def leapfrog(q, p, n):
    def body(_, s):
        q, p = s
        p = p - 0.1 * q
        return q + 0.1 * p, p

    return jax.lax.fori_loop(0, n, body, (q, p))


rng = np.random.default_rng(0)
q = jnp.ones(2)
for i in range(N):
    p = jnp.asarray(rng.normal(size=2), dtype=jnp.float32)
    q, p = leapfrog(q, p, 1 + i % 5)
print(q)
