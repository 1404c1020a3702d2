# causes: train_step=
import jax
import jax.numpy as jnp

N = 10
BATCH = 4


@jax.jit
def train_step(w, x):
    return w - 0.1 * jax.grad(lambda v: jnp.mean((x @ v) ** 2))(w)


data = jnp.ones((N * BATCH, 3))
w = jnp.ones(3)
for i in range(N):
    w = train_step(w, data[i * BATCH : (i + 1) * BATCH])
print(w)
