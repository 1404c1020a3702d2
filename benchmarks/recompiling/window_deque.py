# causes: mean_reward=structure
"""A deque with a maximum length fills up: one program for each length until it is full."""

from collections import deque

import jax
import jax.numpy as jnp

N = 20


@jax.jit
def mean_reward(rewards):
    return jnp.mean(jnp.stack(rewards))


window = deque(maxlen=5)
for step in range(N):
    window.append(jnp.float32(step))
    r = mean_reward(list(window))
print(r)
