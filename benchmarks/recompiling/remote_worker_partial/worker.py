from functools import partial

import jax
from simulator import simulate


class Worker:
    def run(self, config, x):
        sim = jax.jit(partial(simulate, **config))
        return sim(x)
