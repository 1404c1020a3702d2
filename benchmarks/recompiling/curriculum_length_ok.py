# causes: loss_and_grad=
"""The sequence length grows by a mask."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


@jax.jit
def loss_and_grad(params, tokens, length):
    def loss(p):
        h = jnp.tanh(p["emb"][tokens])
        d = (h[:, 1:] - h[:, :-1]) ** 2
        keep = jnp.arange(d.shape[1])[None, :, None] < length
        return jnp.mean(jnp.where(keep, d, 0.0))

    return jax.value_and_grad(loss)(params)


def train(params, data, epochs):
    for epoch in range(epochs):
        length = 4 + 2 * epoch
        loss, grads = loss_and_grad(params, data, length)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, loss


params = {"emb": jnp.ones((16, 8))}
data = np.zeros((4, 64), dtype=np.int32)
print(train(params, data, N)[1])
