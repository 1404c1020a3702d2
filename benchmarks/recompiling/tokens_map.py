# causes: embed=shape
"""map over sentences of other lengths."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10
table = jnp.ones((30, 4))


@jax.jit
def embed(ids):
    return table[ids].sum(0)


def tokenize(sentence):
    return np.array([len(w) for w in sentence.split(" ")])


sentences = ["a " * k + "b" for k in range(1, N + 1)]
vectors = list(map(lambda s: embed(tokenize(s)), sentences))
print(len(vectors))
