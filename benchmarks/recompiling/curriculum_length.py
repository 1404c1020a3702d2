# causes: loss_and_grad=shape
"""The sequence length grows with the epoch: each length compiles."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


@jax.jit
def loss_and_grad(params, tokens):
    def loss(p):
        h = jnp.tanh(p["emb"][tokens])
        return jnp.mean((h[:, 1:] - h[:, :-1]) ** 2)

    return jax.value_and_grad(loss)(params)


def train(params, data, epochs):
    for epoch in range(epochs):
        length = 4 + 2 * epoch
        loss, grads = loss_and_grad(params, data[:, :length])
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, loss


params = {"emb": jnp.ones((16, 8))}
data = np.zeros((4, 64), dtype=np.int32)
print(train(params, data, N)[1])
