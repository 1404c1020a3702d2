# causes: reward=function
"""jit(vmap(f)) at each generation."""

import jax
import jax.numpy as jnp

N = 10


def reward(theta, obs):
    return -jnp.sum((theta - obs) ** 2)


class ES:
    def __init__(self, dim, pop):
        self.mean = jnp.zeros(dim)
        self.pop = pop

    def ask(self, key):
        return self.mean + 0.1 * jax.random.normal(key, (self.pop, self.mean.shape[0]))

    def tell(self, thetas, scores):
        w = jax.nn.softmax(scores)
        self.mean = w @ thetas


es = ES(3, 8)
key = jax.random.key(0)
obs = jnp.ones(3)
for gen in range(N):
    key, sub = jax.random.split(key)
    thetas = es.ask(sub)
    scores = jax.jit(jax.vmap(reward, in_axes=(0, None)))(thetas, obs)
    es.tell(thetas, scores)
print(es.mean)
