# causes: forward=static
from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnames=("training",))
def forward(w, x, training):
    h = x @ w
    return jnp.tanh(h) if training else h


w, x = jnp.ones((3, 3)), jnp.ones((4, 3))
for step in range(N):
    y = forward(w, x, training=True)
for step in range(N):
    y = forward(w, x, training=False)
print(y)
