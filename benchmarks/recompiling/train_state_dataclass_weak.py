# causes: train_step=weak
"""A flax struct whose step counter and loss scale start as Python numbers."""

import flax.struct
import jax
import jax.numpy as jnp

N = 10


@flax.struct.dataclass
class TrainState:
    params: jax.Array
    loss_scale: jax.Array


@jax.jit
def train_step(state, x):
    g = jax.grad(lambda p: jnp.mean((x @ p) ** 2) * state.loss_scale)(state.params)
    finite = jnp.all(jnp.isfinite(g))
    scale = jnp.where(finite, state.loss_scale * jnp.float32(2.0), state.loss_scale / jnp.float32(2.0))
    return state.replace(params=state.params - 1e-3 * g, loss_scale=scale)


x = jnp.ones((4, 3))
state = TrainState(params=jnp.ones(3), loss_scale=1.0)
for _ in range(N):
    state = train_step(state, x)
print(state.loss_scale)
