# causes: _energy=function
"""A property that jits on every access."""

import jax
import jax.numpy as jnp

N = 10


class Model:
    def __init__(self, k):
        self.k = k

    def _energy(self, x):
        return 0.5 * self.k * jnp.sum(x**2)

    @property
    def energy(self):
        return jax.jit(self._energy)


m = Model(2.0)
x = jnp.ones(3)
total = 0.0
for i in range(N):
    total += float(m.energy(x))
print(total)
