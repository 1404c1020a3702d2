# causes: <lambda>=function
"""flax: the apply is jitted anew for each evaluation."""

import flax.linen as nn
import jax
import jax.numpy as jnp

N = 10


class MLP(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(self.width)(x)))


model = MLP(8)
x = jnp.ones((4, 3))
params = model.init(jax.random.key(0), x)


def evaluate(params, batches):
    predict = jax.jit(lambda p, b: model.apply(p, b))
    return [predict(params, b).mean() for b in batches]


for epoch in range(N):
    scores = evaluate(params, [x, x])
print(scores)
