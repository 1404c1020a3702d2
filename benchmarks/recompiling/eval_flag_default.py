# causes: forward=spelling
"""The flag is left out in training and passed in evaluation."""

from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnames=("train",))
def forward(w, x, train=True):
    return jnp.tanh(x @ w) * (0.5 if train else 1.0)


w, x = jnp.ones((3, 2)), jnp.ones((4, 3))
for step in range(N):
    a = forward(w, x)
    if step % 2 == 0:
        b = forward(w, x, train=False)
print(a.sum() + b.sum())
