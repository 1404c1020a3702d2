# causes: forward=static
"""flax: a static flag, two values: fine."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp

N = 10


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Dense(8)(x)
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(1)(x)


model = MLP()
x = jnp.ones((4, 3))
params = model.init(jax.random.key(0), x, False)


@partial(jax.jit, static_argnames="train")
def forward(params, x, key, train):
    return model.apply(params, x, train, rngs={"dropout": key})


key = jax.random.key(1)
for epoch in range(N):
    key, sub = jax.random.split(key)
    a = forward(params, x, sub, train=True)
    b = forward(params, x, sub, train=False)
print(a.mean() - b.mean())
