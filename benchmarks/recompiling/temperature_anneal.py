# causes: sample=static
"""The temperature is static, and annealed."""

from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnames=("temperature",))
def sample(key, logits, temperature):
    return jax.random.categorical(key, logits / temperature)


def rollout(key, logits, steps):
    temperature = 1.0
    out = []
    for step in range(steps):
        key, sub = jax.random.split(key)
        out.append(sample(sub, logits, temperature))
        temperature *= 0.95
    return jnp.stack(out)


print(rollout(jax.random.key(0), jnp.arange(5.0), N))
