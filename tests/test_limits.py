"""The options that say what is much decide what is found."""

from __future__ import annotations

import jitlint

UNROLLED = """
import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    for _ in range(40):
        x = jnp.sin(x) + jnp.cos(x) * jnp.tanh(x) - 1.0
    return x


f(jnp.ones(3))
"""

CAPTURED = """
import jax
import jax.numpy as jnp

table = jnp.zeros((512, 600))


@jax.jit
def f(x):
    return x + table.sum() + (table * 2.0).mean()


f(jnp.ones(3))
"""

STATIC = """
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("n",))
def f(x, n):
    return x * n


for n in (1, 2, 3, 4, 5):
    f(jnp.ones(3), n)
"""


def found(text: str, code: str, **options: int) -> int:
    named = {name.replace("_", "-"): value for name, value in options.items()}
    report = jitlint.check_source(text, select=[code], options=named, isolated=True)
    return len(report.findings)


def test_turns_of_an_unrolled_loop() -> None:
    assert found(UNROLLED, "JIT308") == 1
    assert found(UNROLLED, "JIT308", unroll_threshold=41) == 0


def test_bytes_of_a_captured_constant() -> None:
    assert found(CAPTURED, "JIT409") > 0
    assert found(CAPTURED, "JIT409", captured_constant_bytes=2_000_000) == 0


def test_values_of_a_static_parameter() -> None:
    assert found(STATIC, "JIT204") == 1
    assert found(STATIC, "JIT204", max_variants=5) == 0
