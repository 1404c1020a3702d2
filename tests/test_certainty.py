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
    assert not jitlint.check_source(NOT_GIVEN.format(test="size is None"), select=["JIT104"]).findings
    for test, told in (("size == 0", ("warning", "possible")), ("True", ("error", "definite"))):
        [found] = jitlint.check_source(NOT_GIVEN.format(test=test), select=["JIT104"]).findings
        assert (found.severity, found.certainty) == told


TESTED = """
import sys

import jax
import jax.numpy as jnp


@jax.jit
def scaled(x):
    if x > 0:
        x = x * 2
    if {inner}:
        x = int(x)
    return x


if {outer}:
    scaled(jnp.ones(()))
    jnp.sum([1.0, 2.0])
"""


def test_what_nobody_knows_to_be_reached_is_possible() -> None:
    """Tests around the call of a traced function say whether it is traced, not what happens then."""
    for inner, outer, told in (
        ("True", "True", ["definite", "definite", "definite"]),
        ("True", "len(sys.argv) > 1", ["definite", "definite", "possible"]),
        ("len(sys.argv) > 1", "True", ["definite", "possible", "definite"]),
    ):
        report = jitlint.check_source(TESTED.format(inner=inner, outer=outer), select=["JIT101", "JIT104", "JIT108"])
        assert [found.certainty for found in report.findings] == told

AHEAD = """
import jax
import jax.numpy as jnp


def scaled(x, doubled):
    return x * 2 if doubled else x


print({call})
"""


def test_a_static_argument_is_no_safe_repair_of_what_is_compiled_ahead_of_time() -> None:
    """The compiled program is called without its static arguments: that call would have to change, too."""
    for call, safety in (
        ("jax.jit(scaled)(jnp.ones(3), True)", "safe"),
        ("jax.jit(scaled).lower(jnp.ones(3), True).compile()(jnp.ones(3))", "unsafe"),
    ):
        [found] = jitlint.check_source(AHEAD.format(call=call), select=["JIT102"]).findings
        assert found.fix is not None
        assert found.fix.applicability == safety

TWO_KINDS = """
import jax.numpy as jnp
from jax import Array


def mean(values, labels=None):
    if labels is None:
        return jnp.mean(values, axis=0)
    return jnp.array([jnp.mean(v, axis=0) for v in values])


def summary(x, labels: Array = None):
    if labels is None:
        values = x
    else:
        values = [x * label for label in labels]
    return mean(values, labels)
"""


def test_what_is_not_given_may_decide_the_type_of_another_argument() -> None:
    assert {f.severity for f in jitlint.check_source(TWO_KINDS, select=["JIT108"]).findings} <= {"warning"}


DECLARED = """
import dataclasses
from collections.abc import Mapping

import jax


@dataclasses.dataclass
class Settings:
    n: int


def scaled(x, settings):
    return x


static = jax.jit(scaled, static_argnums=1)


def run(x, declared: {annotation}):
    static(x, declared)


static(1.0, {given})
"""


def test_an_annotation_is_no_certainty() -> None:
    """A tuple is often given where a list is declared, and a frozen dict where a dict is."""
    for annotation, given in (("dict[str, int]", "dict(n=1)"), ("list[int]", "[1]"), ("Settings", "Settings(1)")):
        report = jitlint.check_source(DECLARED.format(annotation=annotation, given=given), select=["JIT201"])
        assert [found.certainty for found in report.findings] == ["possible", "definite"]
    [found] = jitlint.check_source(
        DECLARED.format(annotation="Mapping[str, int]", given="dict(n=1)"), select=["JIT201"]
    ).findings
    assert found.certainty == "definite"
