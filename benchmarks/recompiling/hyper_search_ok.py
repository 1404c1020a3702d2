# causes: train_loss=
"""Grid search: the setting is an argument."""

import jax
import jax.numpy as jnp

N = 10


def train_loss(w, x, l2):
    return jnp.mean((x @ w) ** 2) + l2 * jnp.sum(w**2)


grad = jax.jit(jax.grad(train_loss))


def objective(l2, x):
    w = jnp.ones(3)
    for _ in range(5):
        w = w - 0.1 * grad(w, x, l2)
    return float(jnp.sum(w**2))


x = jnp.ones((8, 3))
scores = {}
for trial in range(N):
    l2 = 10.0 ** (-trial / 2)
    scores[l2] = objective(l2, x)
print(min(scores, key=scores.get))
