# causes: train_step=
import jax
import jax.numpy as jnp

N = 10


@jax.jit
def train_step(params, batch, lr):
    grads = jax.grad(lambda p: jnp.mean((batch @ p["w"] + p["b"]) ** 2))(params)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


params = {"w": jnp.ones(3), "b": jnp.zeros(())}
batches = [jnp.ones((8, 3)) for _ in range(5)]
for epoch in range(N):
    for batch in batches:
        params = train_step(params, batch, 0.01)
print(params)
