# causes: rollout=static
"""The horizon of the curriculum is a static int."""

from functools import partial

import jax
import jax.numpy as jnp

N = 10


@partial(jax.jit, static_argnames=("horizon",))
def rollout(w, x0, *, horizon):
    def body(x, _):
        x = jnp.tanh(w @ x)
        return x, x

    return jax.lax.scan(body, x0, None, length=horizon)[1].sum()


grad = jax.grad(lambda w, x, h: rollout(w, x, horizon=h))
w = jnp.eye(3) * 0.5
for it in range(N):
    h = 2 + it // 2
    w = w - 0.1 * grad(w, jnp.ones(3), h)
print(w)
