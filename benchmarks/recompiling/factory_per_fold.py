# causes: step=function
import jax
import jax.numpy as jnp

N = 10


def make_step(lr):
    @jax.jit
    def step(w, x):
        return w - lr * x

    return step


for fold in range(N):
    step = make_step(0.1)
    w = jnp.ones(3)
    for _ in range(3):
        w = step(w, w)
print(w)
