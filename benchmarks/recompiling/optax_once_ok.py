# causes: step=
"""optax: one optimizer with a schedule."""

from functools import partial

import jax
import jax.numpy as jnp
import optax

N = 10


@partial(jax.jit, static_argnums=0)
def step(opt, params, state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, state = opt.update(grads, state, params)
    return optax.apply_updates(params, updates), state


params = jnp.ones(3)
x = jnp.ones((8, 3))
opt = optax.sgd(optax.exponential_decay(0.1, 10, 0.9))
state = opt.init(params)
for epoch in range(N):
    params, state = step(opt, params, state, x)
print(params)
