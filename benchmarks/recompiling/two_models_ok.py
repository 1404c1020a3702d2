# causes: <lambda>=function
"""A dict of jitted functions made once for each of a few models."""

import jax
import jax.numpy as jnp

N = 10

models = {"a": 1.0, "b": 2.0, "c": 3.0}
fns = {name: jax.jit(lambda x, s=scale: x * s) for name, scale in models.items()}
x = jnp.ones(3)
for epoch in range(N):
    for name, fn in fns.items():
        x = fn(x)
print(x)
