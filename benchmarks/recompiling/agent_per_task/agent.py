import jax
import jax.numpy as jnp


class Agent:
    def __init__(self, task):
        self.task = task
        self.w = jnp.eye(3)
        self._policy = jax.jit(self.policy)

    def policy(self, w, obs):
        return jnp.tanh(obs @ w) + self.task

    def act(self, obs):
        return self._policy(self.w, obs)
