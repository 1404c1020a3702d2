# causes: apply=fresh
"""A module with a Python function as field, made anew in each turn, through filter_jit."""

import equinox as eqx
import jax
import jax.numpy as jnp

N = 10


class Layer(eqx.Module):
    w: jax.Array
    act: callable = eqx.field(static=True)

    def __call__(self, x):
        return self.act(self.w @ x)


@eqx.filter_jit
def apply(layer, x):
    return layer(x)


w = jnp.eye(3)
x = jnp.ones(3)
for t in range(N):
    layer = Layer(w, lambda v: jnp.tanh(v))
    x = apply(layer, x)
print(x)
