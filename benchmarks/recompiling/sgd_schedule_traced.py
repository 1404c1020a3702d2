# causes: update=
import jax
import jax.numpy as jnp

N = 10


@jax.jit
def update(w, grad, lr):
    return w - lr * grad


w = jnp.ones(4)
for epoch in range(N):
    w = update(w, 2 * w, 0.1 / (epoch + 1))
print(w)
