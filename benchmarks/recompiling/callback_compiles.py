# causes: <lambda>=function
import jax
import jax.numpy as jnp

N = 10


def policy(params, obs):
    return jnp.tanh(obs @ params)


def on_eval(step, params):
    act = jax.jit(lambda obs: policy(params, obs))
    obs = jnp.ones(3)
    for _ in range(4):
        obs = act(obs)
    return obs


def train(params, steps, callback):
    for step in range(steps):
        params = params * 0.99
        out = callback(step, params)
    return out


print(train(jnp.eye(3), N, on_eval))
