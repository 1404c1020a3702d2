"""Training: ``python -m spirals.train``."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from spirals import data, model, utils
from spirals.config import Config

loss_scale = 1.0


def set_loss_scale(value: float) -> None:
    global loss_scale
    loss_scale = value


def loss_fn(params: model.Params, x: jax.Array, y: jax.Array, key: jax.Array, training: bool) -> jax.Array:
    logits = model.apply(params, x, key, training)
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1)
    return -picked.mean()


@jax.jit
def train_step(params: model.Params, x: jax.Array, y: jax.Array, key: jax.Array, rate: float, training: bool = True):
    """One step of gradient descent."""
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y, key, training)
    grads = utils.clip_by_norm(grads, 1.0)
    params = jax.tree.map(lambda p, g: p - rate * g, params, grads)
    return utils.decay(params, None), loss


@jax.jit
def scaled_loss(params: model.Params, x: jax.Array, y: jax.Array) -> jax.Array:
    """The loss times the current scale."""
    return loss_scale * loss_fn(params, x, y, jax.random.key(0), training=False)


@jax.jit
def accuracy(params: model.Params, x: jax.Array, y: jax.Array) -> jax.Array:
    return (model.predict(params, x) == y).mean()


def pick_rate(params: model.Params, x: jax.Array, y: jax.Array, rates: list[float]) -> float:
    """The learning rate whose first step lowers the loss most."""
    results = {}
    for rate in rates:
        step = jax.jit(
            lambda p, x, y: jax.tree.map(
                lambda a, g: a - rate * g, p, jax.grad(loss_fn)(p, x, y, jax.random.key(0), False)
            )
        )
        results[rate] = float(scaled_loss(step(params, x, y), x, y))
    return min(results, key=results.__getitem__)


def evaluate(params: model.Params, x: np.ndarray, y: np.ndarray) -> float:
    """Conversion to a Python number outside of jit is fine."""
    return float(accuracy(params, jnp.asarray(x), jnp.asarray(y)))


def run(config: Config) -> float:
    """Train and return the accuracy."""
    x, y = data.make_spirals(1024, noise=0.2, seed=config.seed)
    x = np.asarray(data.standardise(x))
    key = jax.random.key(config.seed)
    key, sub = jax.random.split(key)
    params = model.init(sub, config)
    rate = pick_rate(params, x[: config.batch], y[: config.batch], [1e-1, 1e-2, 1e-3])
    losses = []
    for epoch in range(config.steps // 16):
        set_loss_scale(1.0 / (1 + epoch))
        for batch_x, batch_y in data.batches(x, y, config.batch, seed=epoch):
            key, sub = jax.random.split(key)
            params, loss = train_step(params, batch_x, batch_y, sub, rate, training=True)
            losses.append(loss)
        print(epoch, utils.summarise(jnp.stack(losses)), float(scaled_loss(params, batch_x, batch_y)))
    labels = utils.one_hot(jnp.asarray(y), config.classes)
    print("class balance", labels.mean(axis=0), "smoothed", utils.smooth(jnp.stack(losses), window=8)[-1])
    return evaluate(params, x, y)


if __name__ == "__main__":
    print("accuracy", run(Config()))
