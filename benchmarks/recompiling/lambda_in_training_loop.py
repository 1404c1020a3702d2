# causes: <lambda>=function
import jax
import jax.numpy as jnp

N = 10


def loss(w, x):
    return jnp.mean((x @ w - 1.0) ** 2)


def train(w, x, steps):
    for _ in range(steps):
        w = w - 0.1 * jax.jit(lambda v: jax.grad(loss)(v, x))(w)
    return w


print(train(jnp.ones(3), jnp.ones((5, 3)), N))
