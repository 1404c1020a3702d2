"""Small programs with one fault each."""

CLEAN = "import jax\n\n\n@jax.jit\ndef f(x):\n    return x + 1\n"

BRANCH = """\
import jax


@jax.jit
def f(x):
    if x > 0:
        return x
    return -x
"""
"""JIT101 on row 6."""

FLAG = """\
import jax


@jax.jit
def g(x, training: bool):
    if training:
        return x
    return -x


g(1.0, training=True)
"""
"""JIT102 on row 6, with a safe fix."""

BROKEN = "def f(:\n"
"""JIT900."""
