# causes: train_step=fresh
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

N = 10


class Optimizer(NamedTuple):
    init: Callable
    update: Callable


def momentum(lr):
    def init(p):
        return jnp.zeros_like(p)

    def update(g, s, p):
        s = 0.9 * s + g
        return p - lr * s, s

    return Optimizer(init, update)


@partial(jax.jit, static_argnames=("opt",))
def train_step(opt, p, s):
    return opt.update(jax.grad(lambda q: jnp.sum(q**2))(p), s, p)


def fit():
    opt = momentum(0.1)
    p = jnp.ones(3)
    s = opt.init(p)
    for _ in range(4):
        p, s = train_step(opt, p, s)
    return p


for fold in range(N):
    p = fit()
print(p)
