"""The judge itself: that it reads marks, runs programs as JAX does, and complains when the two disagree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jitlint.findings import Certainty, Finding, Severity, Span
from tests.judge.findings_verdict import finding_complaints
from tests.judge.fixtures import Fixture
from tests.judge.marks import Expectation, MarkError, read_marks, strip_marks
from tests.judge.pool import Pool, ProgramCrashedError
from tests.judge.verdict import complaints, contradictions, same_output

HEAD = "import jax\nimport jax.numpy as jnp\n"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.close()


def program(folder: Path, text: str, name: str = "bad_it.py") -> Fixture:
    path = folder / name
    path.write_text(HEAD + text, encoding="utf-8")
    return Fixture(path)


BRANCH = """
@jax.jit
def f(x):
    if x > 0:{mark}
        return x
    return -x
f(1.0)
"""


def test_a_marked_exception_is_accepted(pool: Pool, tmp_path: Path) -> None:
    assert complaints(program(tmp_path, BRANCH.format(mark="  # raises: TracerBoolConversionError")), pool) == []


def test_an_unmarked_exception_is_told_with_its_line(pool: Pool, tmp_path: Path) -> None:
    [text] = complaints(program(tmp_path, BRANCH.format(mark="")), pool)
    assert text.startswith("bad_it.py:6: TracerBoolConversionError") and "no `raises` mark" in text


def test_another_class_than_marked(pool: Pool, tmp_path: Path) -> None:
    [text] = complaints(program(tmp_path, BRANCH.format(mark="  # raises: ValueError")), pool)
    assert "another class" in text


def test_an_exception_in_a_good_twin(pool: Pool, tmp_path: Path) -> None:
    mark = "  # raises: TracerBoolConversionError"
    [text] = complaints(program(tmp_path, BRANCH.format(mark=mark), "good_it.py"), pool)
    assert "in a good twin" in text


def test_a_marked_exception_that_does_not_come(pool: Pool, tmp_path: Path) -> None:
    [text] = complaints(program(tmp_path, "x = 1  # raises: ValueError\n"), pool)
    assert text == "bad_it.py:3: ValueError is marked and not raised there"


def test_traces_are_counted_by_place_of_definition(pool: Pool, tmp_path: Path) -> None:
    text = """
for i in range(3):
    @jax.jit
    def local(x):{mark}
        return x + 1
    local(1.0)
once = jax.jit(lambda x: x * 2)
print(once(1.0), once(2.0))
"""
    assert complaints(program(tmp_path, text.format(mark="  # traces: 3")), pool) == []
    [unmarked] = complaints(program(tmp_path, text.format(mark=""), "bad_unmarked.py"), pool)
    assert unmarked == "bad_unmarked.py:6: jitted and traced 3 times, and no `traces` mark says so"
    [wrong] = complaints(program(tmp_path, text.format(mark="  # traces: 2"), "bad_other.py"), pool)
    assert wrong == "bad_other.py:6: traced 3 times, marked 2"


def test_counting_does_not_disturb_what_jax_caches(pool: Pool, tmp_path: Path) -> None:
    text = """
def f(x):
    return x + 1
for i in range(3):
    jax.jit(f)(jnp.float32(1.0))
    jax.grad(jax.jit(f))(jnp.float32(1.0))
    jax.vmap(jax.jit(f))(jnp.ones(2))
"""
    assert complaints(program(tmp_path, text), pool) == []


def test_grad_and_partial_lead_to_the_function_that_is_traced(pool: Pool, tmp_path: Path) -> None:
    text = """
from functools import partial
def loss(w, x):
    return w * x
for i in range(2):
    jax.jit(jax.grad(partial(loss, x=1.0)))(2.0)
"""
    [found] = complaints(program(tmp_path, text), pool)
    assert found == "bad_it.py:5: jitted and traced 2 times, and no `traces` mark says so"


STALE = """
scale = 2.0
@jax.jit
def f(x):
    return x * scale
print(f(1.0))
scale = 3.0
print(f(1.0)){mark}
"""


def test_another_value_than_without_jit(pool: Pool, tmp_path: Path) -> None:
    assert complaints(program(tmp_path, STALE.format(mark="  # wrong")), pool) == []
    [text] = complaints(program(tmp_path, STALE.format(mark=""), "bad_unmarked.py"), pool)
    assert text.startswith("10: prints '2.0") and "without jit '3.0" in text


def test_a_value_marked_wrong_that_is_right(pool: Pool, tmp_path: Path) -> None:
    [text] = complaints(program(tmp_path, "print(jax.jit(lambda x: x + 1)(1.0))  # wrong\n"), pool)
    assert "prints the same" in text


def test_leaks(pool: Pool, tmp_path: Path) -> None:
    text = """
kept = []
@jax.jit
def f(x):
    kept.append(x)
    return x
f(1.0){mark}
"""
    assert complaints(program(tmp_path, text.format(mark="  # leaks")), pool) == []
    text = "print(jax.jit(lambda x: x + 1)(1.0))  # leaks\n"
    [found] = complaints(program(tmp_path, text, "bad_not.py"), pool)
    assert "and does not" in found


def test_a_folder_is_one_program(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "def relu(x):\n    if x > 0:  # raises: TracerBoolConversionError\n        return x\n    return 0.0\n"
    )
    (tmp_path / "main.py").write_text("import jax\nfrom helper import relu\njax.jit(relu)(1.0)\n")
    assert complaints(Fixture(tmp_path), pool) == []


def test_a_program_that_ends_its_process_is_told(pool: Pool, tmp_path: Path) -> None:
    with pytest.raises(ProgramCrashedError, match="ended with status"):
        complaints(program(tmp_path, "import os\nos._exit(3)\n"), pool)


def test_reveals_are_held_against_what_jax_has(pool: Pool, tmp_path: Path) -> None:
    text = """
@jax.jit
def f(x, n=3):
    reveal(x)  # reveal: traced
    reveal((x, n))  # reveal: tuple(traced, static 3)
    reveal({"w": x})  # reveal: dict(w: traced)
    reveal(x.shape)  # reveal: static (2,)
    return x
reveal(f(jnp.ones(2)))  # reveal: concrete
reveal(f)  # reveal: traced
"""
    [found] = complaints(program(tmp_path, text), pool)
    assert found.startswith("bad_it.py:12: marked `traced`, and JAX has ['static'")


def test_reveal_values() -> None:
    assert not list(contradictions("maybe traced", [["traced"], ["static", "1", "", "int"]]))
    assert list(contradictions("maybe traced", [["traced"]]))
    assert not list(contradictions("instance Point", [["static", "<Point>", "", "Point"]]))
    assert list(contradictions("static 3", [["static", "4", "", "int"]]))
    assert list(contradictions("list(traced)", [["list", ["traced"], ["traced"]]]))


def test_marks_are_read() -> None:
    marks = read_marks(
        'if x:  # expect: JIT101, JIT304 possible "x\\[:i\\], y"  # raises: TypeError\n# wrong\nprint()\n'
    )
    assert marks.expect == [Expectation(1, "JIT101"), Expectation(1, "JIT304", "possible", "x\\[:i\\], y")]
    assert marks.raises == {1: "TypeError"}
    assert marks.wrong == {3}


@pytest.mark.parametrize("comment", ["expects: JIT101", "expect: 101", "raise: TypeError", "traces: many", "wrong: x"])
def test_what_is_almost_a_mark_is_refused(comment: str) -> None:
    with pytest.raises(MarkError, match=":1:"):
        read_marks(f"x = 1  # {comment}\n")


def test_marks_are_stripped_and_other_comments_kept() -> None:
    text = "x = 1  # a reason  # expect: JIT101\ny = '# wrong'\n    # raises: TypeError\nz = 2  # wrong\n"
    assert strip_marks(text) == "x = 1  # a reason\ny = '# wrong'\n    #\nz = 2\n"


def test_outputs_are_compared_up_to_rounding() -> None:
    assert same_output("Array(1.0000001, dtype=float32, weak_type=True)", "Array(1., dtype=float32)")
    assert not same_output("1.0", "2.0")
    assert not same_output("a 1.0", "b 1.0")


def test_findings_are_held_against_marks(tmp_path: Path) -> None:
    fixture = program(tmp_path, 'if x:  # expect: JIT101 definite "if"\n    pass\ny = 1  # todo: JIT103\n')

    def finding(code: str, row: int, message: str = "`if` on a traced value") -> Finding:
        span = Span(row, 1, row, 2)
        return Finding(code, "name", message, str(fixture.path), span, Severity.ERROR, Certainty.DEFINITE)

    known = {"JIT101", "JIT103"}
    assert finding_complaints(fixture, [finding("JIT101", 3)], known) == []
    assert finding_complaints(fixture, [finding("JIT101", 3), finding("JIT999", 9)], known) == []
    assert "expected and not found" in finding_complaints(fixture, [], known)[0]
    assert "expected and not found" in finding_complaints(fixture, [finding("JIT101", 3, "no")], known)[0]
    assert "not expected" in finding_complaints(fixture, [finding("JIT101", 3)] * 2, known)[0]
    assert "is found now" in finding_complaints(fixture, [finding("JIT101", 3), finding("JIT103", 5)], known)[0]
