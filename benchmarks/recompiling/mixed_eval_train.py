# causes: step=dtype
"""Evaluation data are float, training data are int, alternating."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


@jax.jit
def step(w, x):
    return w + x.sum()


w = jnp.zeros(())
train = np.arange(6).reshape(2, 3)
test = np.linspace(0.0, 1.0, 6).reshape(2, 3)
for epoch in range(N):
    for split in (train, test):
        w = step(w, split)
print(w)
