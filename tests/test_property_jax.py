"""Random programs: what jitlint says against what JAX does. See ``tests/judge/property.py`` for the long run."""

from __future__ import annotations

import ast

import pytest

from tests.judge.grammar import program
from tests.judge.property import Verdict, compare, counts, disagreement, reductions, undefined, under_jax

SEEDS = range(150)


def test_jitlint_agrees_with_jax_on_random_programs() -> None:
    comparison = compare(SEEDS)
    told = [f"\nseed {wrong.seed}, {wrong.kind}: {wrong.what}" for wrong in comparison.disagreements]
    assert comparison.share >= 0.99, "".join(told)


def test_the_programs_say_something_about_jit() -> None:
    verdicts = [under_jax(program(seed)) for seed in SEEDS]
    raising = sum(verdict.kind is not None for verdict in verdicts)
    assert sum(map(counts, verdicts)) > 0.95 * len(SEEDS)
    assert 0.3 * len(SEEDS) < raising < 0.7 * len(SEEDS)


def test_a_seed_is_a_program() -> None:
    assert program(3) == program(3)
    assert len({program(seed) for seed in range(50)}) == 50


@pytest.mark.parametrize(
    ("body", "kind", "row"),
    [
        ("    if x > 0:\n        return x\n    return -x", "TracerBoolConversionError", 4),
        ("    return float(x)", "ConcretizationTypeError", 4),
        ("    return x * 2", None, 0),
        ("    return x * missing", "NameError", 4),
    ],
)
def test_jax_is_asked_for_class_and_line(body: str, kind: str | None, row: int) -> None:
    verdict = under_jax(f"import jax\n@jax.jit\ndef f(x):\n{body}\nf(1.0)\n")
    assert (verdict.kind, verdict.row) == (kind, row)
    assert counts(verdict) == (kind != "NameError")


def test_silence_on_a_line_that_raises_is_a_disagreement() -> None:
    assert disagreement(0, "", Verdict("TypeError", 3), []) is not None
    assert disagreement(0, "", Verdict(), []) is None


def test_reductions_are_shorter_and_keep_the_call() -> None:
    text = ast.unparse(ast.parse(program(1))) + "\n"
    shorter = list(reductions(text))
    assert shorter
    assert all(len(each) < len(text) and each.splitlines()[-1] == text.splitlines()[-1] for each in shorter)
    assert undefined("import a\ndef f(b):\n    c = b\n    return c + len(a.d) + e\n") == {"e"}
