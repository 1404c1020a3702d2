# causes: sgd=function
import functools

import jax
import jax.numpy as jnp

N = 10


def sgd(params, grads, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


params = [jnp.ones(3), jnp.zeros(2)]
rates = [0.1 / (k + 1) for k in range(N)]
for epoch, rate in enumerate(rates):
    apply = jax.jit(functools.partial(sgd, lr=rate))
    params = apply(params, params)
print(params)
