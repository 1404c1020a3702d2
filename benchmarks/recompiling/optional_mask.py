# causes: attend=structure
"""The mask is None in evaluation and an array in training, alternating: two programs."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def attend(q, k, mask=None):
    s = q @ k.T
    if mask is not None:
        s = jnp.where(mask, s, -1e9)
    return jax.nn.softmax(s)


q, k = jnp.ones((4, 8)), jnp.ones((4, 8))
mask = jnp.tril(jnp.ones((4, 4), dtype=bool))
for step in range(N):
    train_out = attend(q, k, mask=mask)
    eval_out = attend(q, k, mask=None)
print(train_out.sum() + eval_out.sum())
