# causes: step=
"""equinox: a module through filter_jit."""

import equinox as eqx
import jax
import jax.numpy as jnp

N = 10


class Linear(eqx.Module):
    w: jax.Array
    name: str = eqx.field(static=True, default="lin")

    def __call__(self, x):
        return self.w @ x


@eqx.filter_jit
def step(model, x):
    grads = eqx.filter_grad(lambda m: jnp.sum(m(x) ** 2))(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads))


model = Linear(jnp.eye(3))
x = jnp.ones(3)
for _ in range(N):
    model = step(model, x)
print(model.w)
