# causes: act=static
"""epsilon-greedy: the exploration rate as a static number by position."""

import jax
import jax.numpy as jnp

N = 10


def _act(q, key, epsilon):
    k1, k2 = jax.random.split(key)
    greedy = jnp.argmax(q @ jnp.ones(3))
    explore = jax.random.randint(k1, (), 0, 3)
    return jnp.where(jax.random.uniform(k2) < epsilon, explore, greedy)


act = jax.jit(_act, static_argnums=(2,))


def epsilon_at(step):
    return max(0.05, 1.0 - step / 200)


q = jnp.eye(3)
key = jax.random.PRNGKey(1)
for step in range(N):
    key, sub = jax.random.split(key)
    a = act(q, sub, epsilon_at(step))
print(a)
