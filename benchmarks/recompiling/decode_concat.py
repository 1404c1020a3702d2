# causes: next_logits=shape
"""Greedy decoding without a fixed cache."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def next_logits(params, tokens):
    h = params["emb"][tokens].mean(axis=0)
    return h @ params["out"]


def generate(params, prompt, max_new):
    tokens = jnp.array(prompt)
    while tokens.shape[0] < len(prompt) + max_new:
        logits = next_logits(params, tokens)
        nxt = jnp.argmax(logits)
        tokens = jnp.append(tokens, nxt)
    return tokens


key = jax.random.key(0)
params = {"emb": jax.random.normal(key, (11, 4)), "out": jnp.ones((4, 11))}
print(generate(params, [1, 2, 3], N))
