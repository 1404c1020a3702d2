# causes: update=
"""A trainer that builds the jitted step once."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


class Trainer:
    def __init__(self, lr):
        self.lr = lr
        self.params = {"w": jnp.zeros((4, 1)), "b": jnp.zeros(1)}
        self.step = self.make_step()

    def loss(self, params, x, y):
        return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)

    def make_step(self):
        lr = self.lr

        @jax.jit
        def update(params, x, y):
            grads = jax.grad(self.loss)(params, x, y)
            return jax.tree.map(lambda p, g: p - lr * g, params, grads)

        return update

    def train_epoch(self, x, y, batch_size):
        for i in range(0, len(x), batch_size):
            self.params = self.step(self.params, x[i : i + batch_size], y[i : i + batch_size])


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 4)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    trainer = Trainer(0.1)
    for epoch in range(N):
        trainer.train_epoch(x, y, 8)
    print(trainer.params)


if __name__ == "__main__":
    main()
