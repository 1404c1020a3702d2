# causes: ema=weak
import jax
import jax.numpy as jnp

N = 10


@jax.jit
def ema(state, x):
    return 0.9 * state + 0.1 * x


state = jnp.array(0.0)
x = jnp.ones(())
for _ in range(N):
    state = ema(state, x)
print(state)
