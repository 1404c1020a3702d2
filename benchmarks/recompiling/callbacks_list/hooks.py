import jax
import jax.numpy as jnp


class Hook:
    def after_step(self, step, params):
        pass


class Norm(Hook):
    def after_step(self, step, params):
        def mean_abs(p):
            return jnp.mean(jnp.abs(p))

        value = jax.jit(mean_abs)(params)
        if step % 5 == 0:
            print(step, float(value))
