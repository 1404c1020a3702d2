# causes: mean_return=
import jax
import jax.numpy as jnp

N = 10


@jax.jit
def mean_return(rewards, gamma):
    return jnp.sum(rewards * gamma ** jnp.arange(rewards.shape[0]))


rewards = jnp.zeros(64)
for t in range(N):
    value = mean_return(rewards, 0.9)
    rewards = rewards.at[t].set(value)
print(rewards.shape)
