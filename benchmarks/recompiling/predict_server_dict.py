# causes: predict=structure
"""Requests carry other keys."""

import jax
import jax.numpy as jnp

N = 6


@jax.jit
def predict(w, features):
    return sum(jnp.sum(v) for v in features.values()) * w


def handle(w, request):
    return predict(w, request)


requests = [{"age": jnp.ones(2)}, {"age": jnp.ones(2), "height": jnp.ones(2)}, {"height": jnp.ones(2)}]
for turn in range(N):
    for request in requests:
        out = handle(2.0, request)
print(out)
