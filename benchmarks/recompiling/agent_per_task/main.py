# causes: policy=function
"""Meta-learning: an agent object for each task, each jits its own policy."""

import jax.numpy as jnp
from agent import Agent

N = 10

for task in range(N):
    agent = Agent(task)
    obs = jnp.ones(3)
    for _ in range(3):
        obs = agent.act(obs)
print(obs)
