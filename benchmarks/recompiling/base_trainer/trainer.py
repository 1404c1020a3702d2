import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, params):
        self.params = params

    def build(self):
        raise NotImplementedError

    def fit(self, x, epochs):
        for epoch in range(epochs):
            update = self.build()
            self.params = update(self.params, x)


class SGDTrainer(Trainer):
    def __init__(self, lr, params):
        super().__init__(params)
        self.lr = lr

    def build(self):
        @jax.jit
        def update(params, x):
            return params - self.lr * jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)

        return update
