# causes: next_token=
"""Greedy decoding into a fixed buffer."""

import jax
import jax.numpy as jnp

N = 10
MAX = 64


@jax.jit
def next_token(params, tokens, n):
    keep = (jnp.arange(tokens.shape[0]) < n)[:, None]
    h = jnp.sum(params["emb"][tokens] * keep, axis=0) / n
    return tokens.at[n].set(jnp.argmax(h @ params["out"]).astype(tokens.dtype))


def generate(params, prompt, max_new):
    tokens = jnp.zeros(MAX, dtype=jnp.int32).at[: len(prompt)].set(jnp.array(prompt))
    for n in range(len(prompt), len(prompt) + max_new):
        tokens = next_token(params, tokens, n)
    return tokens


key = jax.random.key(0)
params = {"emb": jax.random.normal(key, (11, 4)), "out": jnp.ones((4, 11))}
print(generate(params, [1, 2, 3], N))
