# causes: step=static
"""Population based training with hyperparameters in a static NamedTuple."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

N = 10


class Hyper(NamedTuple):
    lr: float
    momentum: float


@partial(jax.jit, static_argnames="hyper")
def step(w, v, hyper):
    v = hyper.momentum * v - hyper.lr * w
    return w + v, v


rng = np.random.default_rng(0)
w = v = jnp.ones(2)
hyper = Hyper(0.1, 0.9)
for generation in range(N):
    w, v = step(w, v, hyper)
    hyper = Hyper(hyper.lr * rng.uniform(0.8, 1.2), hyper.momentum)
print(w)
