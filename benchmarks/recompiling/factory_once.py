# causes: step=
import jax
import jax.numpy as jnp

N = 10


def make_step(lr):
    @jax.jit
    def step(w, x):
        return w - lr * x

    return step


step = make_step(0.1)
w = jnp.ones(3)
for _ in range(N):
    w = step(w, w)
print(w)
