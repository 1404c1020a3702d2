# causes: step=weak
"""The clock of the state starts as a Python number."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

N = 10


class State(NamedTuple):
    x: jax.Array
    v: jax.Array
    t: jax.Array


@jax.jit
def step(s, dt):
    a = -s.x
    v = s.v + dt * a
    return State(s.x + dt * v, v, s.t + dt)


dt = jnp.asarray(0.01, dtype=jnp.float32)
s = State(jnp.ones(3), jnp.zeros(3), 0.0)
for _ in range(N):
    s = step(s, dt)
print(s.t)
