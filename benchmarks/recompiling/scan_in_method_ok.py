# causes: smooth=
"""lax.scan with a closure inside a jitted method."""

import jax
import jax.numpy as jnp
from jax import lax

N = 10


class Filter:
    def __init__(self, a, q):
        self.a = a
        self.q = q
        self.run = jax.jit(self.smooth)

    def smooth(self, xs):
        def body(carry, x):
            carry = self.a * carry + (1 - self.a) * x
            return carry, carry

        return lax.scan(body, jnp.zeros(()), xs)[1]


filt = Filter(0.9, 0.1)
xs = jnp.arange(20.0)
for it in range(N):
    xs = filt.run(xs)
print(xs[-1])
