# causes: learn=
"""Learning starts when a whole batch is there."""

import jax
import jax.numpy as jnp
import numpy as np

N = 12
BATCH = 8


@jax.jit
def learn(w, batch):
    return w - 0.1 * batch.mean(0)


buffer = []
w = jnp.zeros(2)
rng = np.random.default_rng(0)
for t in range(N):
    buffer.append(np.ones(2, dtype=np.float32) * t)
    if len(buffer) < BATCH:
        continue
    picks = rng.choice(len(buffer), size=BATCH, replace=False)
    w = learn(w, np.stack([buffer[i] for i in picks]))
print(w)
