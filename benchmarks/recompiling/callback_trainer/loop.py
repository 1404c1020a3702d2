import jax


@jax.jit
def update(p):
    return 0.9 * p


def fit(p, steps, callbacks):
    for step in range(steps):
        p = update(p)
        for cb in callbacks:
            cb(p, step)
    return p
