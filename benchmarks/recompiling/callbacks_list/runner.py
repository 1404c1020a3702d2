import jax


class Runner:
    def __init__(self, hooks):
        self.hooks = hooks

    def run(self, params, steps):
        update = jax.jit(lambda p: p * 0.9)
        for step in range(steps):
            params = update(params)
            for hook in self.hooks:
                hook.after_step(step, params)
        return params
