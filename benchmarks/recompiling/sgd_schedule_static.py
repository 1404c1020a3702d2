# causes: update=static
from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnames=("lr",))
def update(w, grad, lr):
    return w - lr * grad


w = jnp.ones(4)
for epoch in range(N):
    w = update(w, 2 * w, lr=0.1 / (epoch + 1))
print(w)
