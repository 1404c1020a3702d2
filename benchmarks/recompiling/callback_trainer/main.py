# causes: evaluate=function
"""The callback object jits in its __call__."""

import jax
import jax.numpy as jnp
from loop import fit

N = 10


class EvalCallback:
    def __init__(self, x):
        self.x = x

    def __call__(self, params, step):
        def evaluate(p):
            return jnp.mean(self.x @ p)

        return jax.jit(evaluate)(params)


fit(jnp.ones(3), N, [EvalCallback(jnp.ones((2, 3)))])
