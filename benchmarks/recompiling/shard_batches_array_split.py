# causes: device_step=shape
import jax
import jax.numpy as jnp
import numpy as np

N = 10


@jax.jit
def device_step(w, x):
    return w + x.sum()


w = jnp.zeros(())
data = np.ones((10, 2), dtype=np.float32)
for epoch in range(N):
    for chunk in np.array_split(data, 3):
        w = device_step(w, chunk)
print(w)
