# causes: update=dtype
"""lr is 1 in warm-up and 0.1 afterwards: two programs."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def update(w, lr):
    return w - lr * jnp.sign(w)


w = jnp.ones(4) * 10
for step in range(N):
    lr = 1 if step < 3 else 0.1
    w = update(w, lr)
print(w)
