# causes: predict=spelling
import jax
import jax.numpy as jnp

N = 10


@jax.jit
def predict(w, x):
    return x @ w


w, x = jnp.ones(3), jnp.ones((4, 3))
for step in range(N):
    y = predict(w, x)
print(predict(w, x=x))
