# causes: fit=shape
"""Folds that differ in size by one."""

import jax
import numpy as np

N = 11


@jax.jit
def fit(x):
    return x.T @ x


data = np.ones((104, 2), dtype=np.float32)
bounds = np.linspace(0, 104, N + 1).astype(int)
for k in range(N):
    fold = data[bounds[k] : bounds[k + 1]]
    rest = np.concatenate([data[: bounds[k]], data[bounds[k + 1] :]])
    g = fit(rest)
print(g)
