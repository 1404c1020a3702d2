# causes: _step=
import jax
import jax.numpy as jnp

N = 10


class Solver:
    def __init__(self, dt):
        self.dt = dt
        self.step = jax.jit(self._step)

    def _step(self, u):
        return u + self.dt * jnp.sin(u)

    def run(self, u, steps):
        for _ in range(steps):
            u = self.step(u)
        return u


print(Solver(0.1).run(jnp.ones(3), N))
