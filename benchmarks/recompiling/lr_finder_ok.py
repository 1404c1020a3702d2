# causes: loss_at=
import jax
import jax.numpy as jnp

N = 10


@jax.jit
def loss_at(w, lr):
    g = jax.grad(lambda w: jnp.sum(w**2))(w)
    return jnp.sum((w - lr * g) ** 2)


w = jnp.ones(3)
losses = [float(loss_at(w, 10.0 ** (-6 + k / 2))) for k in range(N)]
print(losses)
