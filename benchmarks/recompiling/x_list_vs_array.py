# causes: predict=structure
"""One caller passes a list, the other an array."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def predict(w, x):
    return jnp.dot(w, jnp.asarray(x))


def warm_up(w):
    return predict(w, [0.0, 0.0, 0.0])


def serve(w, n):
    out = None
    for i in range(n):
        out = predict(w, jnp.ones(3) * i)
    return out


w = jnp.ones(3)
warm_up(w)
print(serve(w, N))
