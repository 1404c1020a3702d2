# causes: advance=static
import jax.numpy as jnp
from machine import Machine

N = 10

m = Machine()
x = jnp.ones(2)
for _ in range(N):
    x = m.advance_by_one(x)
print(x)
