# causes: reset=spelling
"""One call by position, others by keyword."""

import jax

N = 10


class Env:
    def __init__(self, n):
        self.n = n

    def reset(self, key, scale):
        return jax.random.normal(key, (self.n,)) * scale


env = Env(4)
reset = jax.jit(env.reset)
key = jax.random.key(0)
obs = reset(key, 1.0)
total = 0.0
for episode in range(N):
    key, sub = jax.random.split(key)
    obs = reset(sub, scale=1.0)
    total += float(obs.sum())
print(total)
