import jax
import jax.numpy as jnp

DAMPING = {"plain": 1.0, "damped": 0.5}
_made = {}


def solver(name):
    if name not in _made:
        damping = DAMPING[name]
        _made[name] = jax.jit(lambda x: x - damping * jnp.sin(x))
    return _made[name]
