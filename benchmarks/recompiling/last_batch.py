# causes: step=shape
"""The last batch is smaller: two programs."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


@jax.jit
def step(w, x):
    return w - 0.01 * x.T @ (x @ w)


def batches(data, size):
    for i in range(0, len(data), size):
        yield data[i : i + size]


data = np.ones((100, 3), dtype=np.float32)
w = jnp.ones(3)
for epoch in range(N):
    for x in batches(data, 32):
        w = step(w, x)
print(w)
