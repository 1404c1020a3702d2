# causes: step=static
"""equinox: a counter in a static field."""

import equinox as eqx
import jax
import jax.numpy as jnp

N = 10


class State(eqx.Module):
    x: jax.Array
    n: int = eqx.field(static=True)


@eqx.filter_jit
def step(state):
    return state.x * 0.9


state = State(jnp.ones(3), 0)
for i in range(N):
    state = State(step(state), i + 1)
print(state.x)
