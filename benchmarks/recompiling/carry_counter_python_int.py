# causes: step=
"""The state has a step counter that starts as a Python int and comes back as an array: weak both times, one program."""

import jax
import jax.numpy as jnp

N = 10


@jax.jit
def step(state):
    return {"w": state["w"] * 0.9, "count": state["count"] + 1}


state = {"w": jnp.ones(3), "count": 0}
for _ in range(N):
    state = step(state)
print(state)
