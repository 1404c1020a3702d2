# causes: decay=dtype
import jax
import jax.numpy as jnp

N = 10


@jax.jit
def decay(y, t):
    return y * jnp.exp(-t)


y = jnp.ones(3)
for k in range(N):
    y = decay(y, k)
    y = decay(y, k + 0.5)
print(y)
