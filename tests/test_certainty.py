"""What decides whether an error is certain."""

from __future__ import annotations

import jitlint

NOT_GIVEN = """
import jax
import jax.numpy as jnp


def update(x, neighbours):
    def rebuild(x):
        size = neighbours.size
        if {test}:
            size = int(jnp.sum(x > 0))
        return x[:3] * size

    return jax.lax.cond(jnp.any(x > 0), rebuild, lambda x: x[:3], x)
"""


def test_code_for_what_was_not_given_may_be_meant_for_the_host() -> None:
    [found] = jitlint.check_source(NOT_GIVEN.format(test="size is None"), select=["JIT104"]).findings
    assert (found.severity, found.certainty) == ("warning", "possible")
    [found] = jitlint.check_source(NOT_GIVEN.format(test="size == 0"), select=["JIT104"]).findings
    assert (found.severity, found.certainty) == ("error", "definite")
