# causes: train_loss=function
"""Grid search: a partial per setting, jitted inside the objective."""

from functools import partial

import jax
import jax.numpy as jnp

N = 10


def train_loss(w, x, l2):
    return jnp.mean((x @ w) ** 2) + l2 * jnp.sum(w**2)


def objective(l2, x):
    grad = jax.jit(jax.grad(partial(train_loss, l2=l2)))
    w = jnp.ones(3)
    for _ in range(5):
        w = w - 0.1 * grad(w, x)
    return float(jnp.sum(w**2))


x = jnp.ones((8, 3))
scores = {}
for trial in range(N):
    l2 = 10.0 ** (-trial / 2)
    scores[l2] = objective(l2, x)
print(min(scores, key=scores.get))
