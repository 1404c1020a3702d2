"""Which functions are jitted, and with which arguments they are traced."""

from __future__ import annotations

import textwrap

import pytest

from jitlint.dynamic.plan import PROBES, CallSite, Plan, PlannedArgument, plan_target
from jitlint.dynamic.signature import array, format_signature, literal
from jitlint.dynamic.targets import Target, find_targets


def targets(text: str) -> dict[str, Target]:
    return {t.qualname: t for t in find_targets(textwrap.dedent(text))}


def plan(text: str, **more: object) -> Plan:
    (target,) = targets(text).values()
    return plan_target(target, "m", {}, **more)  # type: ignore[arg-type]


def test_every_common_form_of_jit_is_a_target() -> None:
    found = targets(
        """
        import functools, jax, equinox as eqx
        from jax import jit as compile_it
        from functools import partial

        @jax.jit
        def a(x): ...
        @partial(jax.jit, static_argnames=("n", "mode"))
        def b(x, n, mode): ...
        @jax.jit(static_argnums=1)
        def c(x, n): ...
        @compile_it
        def d(x): ...
        @eqx.filter_jit
        def e(x): ...
        def plain(x): ...
        f = jax.jit(plain, static_argnums=(0,))
        class Model:
            @functools.partial(jax.jit, static_argnums=0)
            def step(self, x): ...
        def make():
            @jax.jit
            def inner(x): ...
        @numba.jit
        def other(x): ...
        """
    )
    assert set(found) == {"a", "b", "c", "d", "e", "plain", "Model.step", "make.inner"}
    assert found["b"].statics == {"n", "mode"}
    assert found["c"].statics == {"n"}
    assert (found["plain"].reach, set(found["plain"].statics)) == ("f", {"x"})
    assert (found["Model.step"].owner, set(found["Model.step"].statics)) == ("Model", {"self"})
    assert found["make.inner"].reach == ""


def test_the_row_is_that_of_the_first_decorator() -> None:
    (target,) = find_targets("import jax\n\n@other\n@jax.jit\ndef f(x):\n    return x\n")
    assert (target.row, target.last_row) == (3, 6)


def test_a_text_that_does_not_parse_has_no_targets() -> None:
    assert find_targets("def f(:\n") == ()


def test_jaxtyping_dimensions_of_one_name_have_one_size() -> None:
    made = plan(
        """
        import jax
        @jax.jit
        def f(x: Float[Array, "batch dim"], w: Float32[Array, "dim 4"], n: Int[Array, ""], k: PRNGKeyArray,
              y: Bool[Array, "batch dim+1"], s: float, *, flag: bool): ...
        """
    )
    (job,) = made.jobs
    assert job.source == "annotations"
    assert format_signature(job.args, job.kwargs) == (
        "f32[4,3]",
        "f32[3,4]",
        "i32[]",
        "key",
        "bool[4,4]",
        "0.5",
        "flag=True",
    )


def test_containers_and_options_of_annotations() -> None:
    made = plan(
        """
        import jax
        @jax.jit
        def f(a: tuple[Float[Array, "3"], int], b: list[Float[Array, "3"]], c: Optional[Int[Array, "2"]],
              d: "Float[Array, '3'] | None", e: Literal["mean", "sum"]): ...
        """
    )
    (job,) = made.jobs
    assert format_signature(job.args, {}) == ("(f32[3], 2)", "[f32[3], f32[3]]", "i32[2]", "f32[3]", "'mean'")


def test_unknown_rank_is_probed_and_defaults_are_left_out() -> None:
    made = plan("import jax\n@jax.jit\ndef f(x, y: jax.Array, n: int, flag=True, *rest, **more): ...\n")
    assert [job.source for job in made.jobs] == ["probe"] * len(PROBES)
    assert made.jobs[0].args == (array("float32"), array("float32"), literal(2))
    assert made.jobs[2].args[0] == array("float32", [4, 4])
    assert all(not job.kwargs for job in made.jobs)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@partial(jax.jit, static_argnums=1)\ndef f(x, n): ...", "nothing says what its parameter `n` is"),
        ("def make():\n    @jax.jit\n    def f(x): ...", "it is defined inside a function"),
    ],
)
def test_why_nothing_is_planned(text: str, why: str) -> None:
    made = plan("import jax\nfrom functools import partial\n" + text)
    assert (made.jobs, made.reason) == ((), why)


def test_a_method_gets_an_instance_of_its_class() -> None:
    made = plan("import jax\nclass C:\n    @jax.jit\n    def f(self, x: float): ...\n")
    instance = {"made": "C", "calls": [], "subclasses": []}
    assert ([job.source for job in made.jobs], made.jobs[0].args[0]) == (["annotations"], instance)


def test_what_a_constructor_asks_for_is_a_guess() -> None:
    text = "import jax\nclass C:\n    def __init__(self, n): ...\n    @jax.jit\n    def f(self, x: float): ...\n"
    assert {job.source for job in plan(text).jobs} == {"probe"}


def test_keys_are_known_by_their_names() -> None:
    made = plan("import jax\n@jax.jit\ndef f(rng, dropout_key: jax.Array, keys): ...\n")
    assert format_signature(made.jobs[0].args, {}) == ("key", "key", "f32[]")


def test_complete_call_sites_win_over_annotations_and_equal_ones_are_tried_once() -> None:
    known, unknown = PlannedArgument(array("float32", [7])), PlannedArgument(None, "load()")
    sites = [
        CallSite("m.py", 10, (known,)),
        CallSite("m.py", 11, (unknown,)),
        CallSite("m.py", 12, (known,)),
        CallSite("m.py", 13, (), {"x": known}),
    ]
    made = plan("import jax\n@jax.jit\ndef f(x: float): ...\n", call_sites=sites)
    assert [(job.source, job.site) for job in made.jobs] == [("call site", ("m.py", 10)), ("call site", ("m.py", 13))]


def test_a_signature_of_the_configuration_wins() -> None:
    (target,) = find_targets("import jax\n@jax.jit\ndef f(x: float): ...\n")
    made = plan_target(target, "m", {"m.f": ["f32[2]"]}, [CallSite("m.py", 1, (PlannedArgument(literal(1)),))])
    assert [(job.source, job.args) for job in made.jobs] == [("signature", (array("float32", [2]),))]
    broken = plan_target(target, "m", {"m.f": ["f32[n]"]})
    assert not broken.jobs
    assert "cannot be read" in broken.reason


def test_leaks_are_looked_for_in_a_job_of_their_own() -> None:
    made = plan('import jax\n@jax.jit\ndef f(x: Float[Array, "2"]): ...\n', leaks=True)
    assert [job.leaks for job in made.jobs] == [False, True]
    assert len({job.id for job in made.jobs}) == 2


def test_guessed_arguments_are_not_tried_on_what_the_import_has_traced() -> None:
    made = plan("import jax\n@jax.jit\ndef f(x): ...\n")
    assert {job.encode()["unless_traced"] for job in made.jobs} == {made.target.row}
    called = plan(
        "import jax\n@jax.jit\ndef f(x): ...\n", call_sites=[CallSite("m.py", 1, (PlannedArgument(literal(1)),))]
    )
    assert "unless_traced" not in called.jobs[0].encode()
    assert called.jobs[0].encode()["unless_ran"] == ["m.py", 1]


def test_classes_of_the_program_are_left_to_the_worker() -> None:
    made = plan("import jax\n@jax.jit\ndef f(x: Params): ...\n")
    assert made.jobs[5].args[0] == {"hint": ["f", "x"], "otherwise": None}
    assert made.jobs[5].guess == (1, "int32")
