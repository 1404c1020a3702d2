# causes: loss=shape
"""Truncated BPTT that is not truncated: the sequence so far is passed."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def loss(w, seq):
    return jnp.sum((seq @ w) ** 2)


w = jnp.ones(2)
seq = jnp.zeros((1, 2))
for t in range(N):
    g = jax.grad(loss)(w, seq)
    w = w - 0.01 * g
    seq = jnp.vstack([seq, w[None]])
print(w)
