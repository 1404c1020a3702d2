"""``static_argnames`` in every spelling of a jit site; JAX judges that the result does what it says."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import libcst as cst
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jitlint.findings import NewImport
from jitlint.fix.static_args import Kind, Parameter, Refusal, StaticEdit, StaticOptions, make_static, parameters_of

BINDINGS = {"jax": "jax", "jit": "jax.jit", "partial": "functools.partial"}
FUNCTOOLS = NewImport("m.py", "functools")


def parameters(signature: str) -> tuple[Parameter, ...]:
    node = cst.parse_expression(f"lambda {signature}: 0")
    assert isinstance(node, cst.Lambda)
    return parameters_of(node.params)


def change(
    expression: str, *names: str, signature: str = "x, n, train, *, mode=None", **options: Any
) -> StaticEdit | Refusal:
    settings = {"filename": "m.py", "decorator": False, "bindings": BINDINGS, **options}
    return make_static(expression, names, parameters(signature), **settings)


def text(expression: str, *names: str, **options: Any) -> str:
    edit = change(expression, *names, **options)
    assert isinstance(edit, StaticEdit), edit
    ast.parse(edit.text, mode="eval")
    again = change(edit.text, *names, **options)
    assert isinstance(again, StaticEdit)
    assert (again.text, again.imports) == (edit.text, ()), "not idempotent"
    return edit.text


def reason(expression: str, *names: str, **options: Any) -> str:
    edit = change(expression, *names, **options)
    assert isinstance(edit, Refusal), edit
    return edit.reason


def test_parameters() -> None:
    assert parameters("a, /, b, *args, c, **kw") == (
        Parameter("a", Kind.POSITIONAL_ONLY),
        Parameter("b", Kind.EITHER),
        Parameter("args", Kind.VARARGS),
        Parameter("c", Kind.KEYWORD_ONLY),
        Parameter("kw", Kind.KWARGS),
    )
    assert parameters("a, *, c") == (Parameter("a"), Parameter("c", Kind.KEYWORD_ONLY))


@pytest.mark.parametrize(
    ("expression", "bindings", "factory", "result", "imports"),
    [
        ("jax.jit", {}, True, 'jax.jit(static_argnames=("n",))', ()),
        ("jit", {}, True, 'jit(static_argnames=("n",))', ()),
        ("jax.jit", {}, False, 'functools.partial(jax.jit, static_argnames=("n",))', (FUNCTOOLS,)),
        ("jit", {"partial": "functools.partial"}, False, 'partial(jit, static_argnames=("n",))', ()),
        ("j.jit", {"j": "jax", "ft": "functools"}, False, 'ft.partial(j.jit, static_argnames=("n",))', ()),
        (
            "compile_",
            {"compile_": "jax.jit", "p": "functools.partial"},
            False,
            'p(compile_, static_argnames=("n",))',
            (),
        ),
        ("nnx.jit", {"nnx": "flax.nnx"}, False, 'nnx.jit(static_argnames=("n",))', ()),
        (
            "jax.jit",
            {"partial": "mylib.partial"},
            False,
            'functools.partial(jax.jit, static_argnames=("n",))',
            (FUNCTOOLS,),
        ),
    ],
)
def test_bare_decorators(
    expression: str, bindings: Mapping[str, str], factory: bool, result: str, imports: tuple[NewImport, ...]
) -> None:
    edit = change(expression, "n", decorator=True, bindings=bindings, factory=factory)
    assert edit == StaticEdit(result, imports)


@pytest.mark.parametrize(
    ("expression", "names", "result"),
    [
        pytest.param("partial(jax.jit)", "n", 'partial(jax.jit, static_argnames=("n",))', id="partial"),
        pytest.param(
            "functools.partial(jit, donate_argnums=(0,))",
            "n",
            'functools.partial(jit, donate_argnums=(0,), static_argnames=("n",))',
            id="partial with other options",
        ),
        pytest.param("jax.jit()", "n", 'jax.jit(static_argnames=("n",))', id="empty factory"),
        pytest.param(
            "jax.jit(f)", "train n", 'jax.jit(f, static_argnames=("n", "train"))', id="in order of parameters"
        ),
        pytest.param(
            "jax.jit(lambda x, n: x * n)", "n", 'jax.jit(lambda x, n: x * n, static_argnames=("n",))', id="lambda"
        ),
        pytest.param("partial(jax.jit)(f)", "n", 'partial(jax.jit, static_argnames=("n",))(f)', id="partial called"),
        pytest.param("jax.jit(fun=f)", "n", 'jax.jit(fun=f, static_argnames=("n",))', id="function by keyword"),
        pytest.param(
            "jax.jit(jax.value_and_grad(f))",
            "n",
            'jax.jit(jax.value_and_grad(f), static_argnames=("n",))',
            id="transformed function",
        ),
        pytest.param(
            "jax.jit(f, backend='cpu')", "n", "jax.jit(f, backend='cpu', static_argnames=('n',))", id="quotes"
        ),
        # Names are there.
        pytest.param("jit(f, static_argnames='train')", "n", "jit(f, static_argnames=('n', 'train'))", id="one name"),
        pytest.param("jit(f, static_argnames=('n',))", "train", "jit(f, static_argnames=('n', 'train'))", id="tuple"),
        pytest.param("jit(f, static_argnames=['n'])", "mode", "jit(f, static_argnames=['n', 'mode'])", id="list"),
        pytest.param("jit(f, static_argnames={'n'})", "mode", "jit(f, static_argnames={'n', 'mode'})", id="set"),
        pytest.param("jit(f, static_argnames=())", "n", 'jit(f, static_argnames=("n",))', id="empty tuple"),
        pytest.param("jit(f, static_argnames=None)", "n", 'jit(f, static_argnames=("n",))', id="None"),
        pytest.param("jit(f, static_argnames=('n'))", "mode", "jit(f, static_argnames=('n', 'mode'))", id="no tuple"),
        pytest.param(
            "jit(f, static_argnames=('train', 'n'))",
            "mode",
            "jit(f, static_argnames=('train', 'n', 'mode'))",
            id="own order stays",
        ),
        pytest.param(
            "jit(f, static_argnames=('n', 'train',))",
            "mode",
            "jit(f, static_argnames=('n', 'train', 'mode',))",
            id="trailing comma stays",
        ),
        # Numbers are there: names are inferred from them only while no names are given.
        pytest.param("jit(f, static_argnums=1)", "train", "jit(f, static_argnums=(1, 2))", id="one number"),
        pytest.param("jit(f, static_argnums=(2,))", "n", "jit(f, static_argnums=(1, 2))", id="numbers"),
        pytest.param("jit(f, static_argnums=[1])", "train", "jit(f, static_argnums=[1, 2])", id="list of numbers"),
        pytest.param(
            "jit(f, static_argnums=(1))", "train", "jit(f, static_argnums=(1, 2))", id="number in parentheses"
        ),
        pytest.param(
            "jit(f, static_argnums=-1)", "train", "jit(f, static_argnums=(2,))", id="negative, same parameter"
        ),
        pytest.param("jit(f, static_argnums=-1)", "n", "jit(f, static_argnums=(1, 2))", id="negative, other parameter"),
        pytest.param(
            "jit(f, static_argnums=(1,))", "mode", 'jit(f, static_argnames=("n", "mode"))', id="numbers become names"
        ),
        pytest.param(
            "jit(f, static_argnums=(1,), static_argnames=None)",
            "mode",
            'jit(f, static_argnames=("n", "mode"))',
            id="numbers become names where None stood",
        ),
        # Both are there: neither is inferred.
        pytest.param(
            "jit(f, static_argnums=1, static_argnames='n')",
            "mode",
            "jit(f, static_argnums=1, static_argnames=('n', 'mode'))",
            id="both, keyword-only",
        ),
        pytest.param(
            "jit(f, static_argnums=(1,), static_argnames=('n',))",
            "train",
            "jit(f, static_argnums=(1, 2), static_argnames=('n', 'train'))",
            id="both",
        ),
        pytest.param(
            "jit(f, static_argnums=(1,), static_argnames=('train',))",
            "n train",
            "jit(f, static_argnums=(1, 2), static_argnames=('n', 'train'))",
            id="both, inconsistent",
        ),
        # Static already.
        pytest.param("jit(f, static_argnames='n')", "n", "jit(f, static_argnames='n')", id="named already"),
        pytest.param("jit(f, static_argnums=(2, 1))", "n", "jit(f, static_argnums=(2, 1))", id="numbered already"),
    ],
)
def test_options_are_added_and_extended(expression: str, names: str, result: str) -> None:
    assert text(expression, *names.split()) == result


@pytest.mark.parametrize(
    ("expression", "names", "result"),
    [
        ("jax.jit(\n    f,\n)", "n", 'jax.jit(\n    f,\n    static_argnames=("n",),\n)'),
        ("jax.jit(\n    f\n)", "n", 'jax.jit(\n    f,\n    static_argnames=("n",)\n)'),
        (
            "partial(\n    jax.jit,  # compile\n    donate_argnums=0,  # frees x\n)",
            "n",
            'partial(\n    jax.jit,  # compile\n    donate_argnums=0,  # frees x\n    static_argnames=("n",),\n)',
        ),
        (
            "partial(jax.jit,\n        donate_argnums=0)",
            "n",
            'partial(jax.jit,\n        donate_argnums=0,\n        static_argnames=("n",))',
        ),
        (
            "jit(f, static_argnames=(\n    'n',  # size\n))",
            "mode",
            "jit(f, static_argnames=(\n    'n',  # size\n    'mode',\n))",
        ),
        (
            "jit(f, static_argnames=[\n    'n',\n    'mode'\n])",
            "train",
            "jit(f, static_argnames=[\n    'n',\n    'train',\n    'mode'\n])",
        ),
        (
            "jit(f, static_argnames=[\n    'n', 'train',  # both\n])",
            "mode",
            "jit(f, static_argnames=[\n    'n', 'train',  # both\n    'mode',\n])",
        ),
        ("jit( f , static_argnames = ( 'n' , ) )", "mode", "jit( f , static_argnames = ( 'n', 'mode' ) )"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_layout_and_comments_stay(expression: str, names: str, result: str, newline: str) -> None:
    spelled = expression.replace("\n", newline)
    changed = text(spelled, *names.split())
    assert changed.replace(newline, "\n") == result
    assert "\n" not in changed.replace(newline, "")


@pytest.mark.parametrize(
    ("signature", "expression", "names", "result"),
    [
        ("x, n, /", "jit(f)", "n", "jit(f, static_argnums=(1,))"),
        ("x, n, /, mode", "jit(f)", "n mode", "jit(f, static_argnums=(1, 2))"),
        ("x, n, /, *, mode", "jit(f)", "n mode", 'jit(f, static_argnums=(1,), static_argnames=("mode",))'),
        (
            "x, n, /, mode",
            "jit(f, static_argnames='mode')",
            "n",
            "jit(f, static_argnames='mode', static_argnums=(1, 2))",
        ),
        ("x, n, /, *, mode", "jit(f, static_argnums=1)", "mode", 'jit(f, static_argnums=1, static_argnames=("mode",))'),
        ("x, *args, mode", "jit(f, static_argnums=2)", "mode", 'jit(f, static_argnums=2, static_argnames=("mode",))'),
        ("x, **options", "jit(f)", "train", 'jit(f, static_argnames=("train",))'),
        ("x, n, **options", "jit(f, static_argnums=1)", "train", 'jit(f, static_argnames=("n", "train"))'),
    ],
)
def test_kinds_of_parameters(signature: str, expression: str, names: str, result: str) -> None:
    assert text(expression, *names.split(), signature=signature) == result


def test_a_bound_method_does_not_count_self() -> None:
    options: dict[str, Any] = {"signature": "self, x, n, /", "bound": True}
    assert text("jax.jit(self.step)", "n", **options) == "jax.jit(self.step, static_argnums=(1,))"
    assert text("jax.jit(self.step, static_argnums=0)", "n", **options) == "jax.jit(self.step, static_argnums=(0, 1))"
    assert text("jax.jit(f, static_argnums=0)", "x", signature="self, x") == "jax.jit(f, static_argnums=(0, 1))"


def test_what_an_alias_carries_is_written_out() -> None:
    options: dict[str, Any] = {"decorator": True, "bindings": {"fast": "jax.jit", "partial": "functools.partial"}}
    edit = change("fast", "n", inherited=StaticOptions(argnames=("mode",)), **options)
    assert edit == StaticEdit('partial(fast, static_argnames=("n", "mode"))')
    edit = change("fast", "n", inherited=StaticOptions(argnames=("n",)), **options)
    assert edit == StaticEdit("fast")
    # Numbers that the alias gives stay in force, so names must be given beside them.
    edit = change("fast", "mode", inherited=StaticOptions(argnums=(1,)), **options)
    assert edit == StaticEdit('partial(fast, static_argnames=("n", "mode"))')
    assert text("fast(f)", "n", inherited=StaticOptions(argnames=("mode",))) == (
        'fast(f, static_argnames=("n", "mode"))'
    )


@pytest.mark.parametrize(
    ("expression", "names", "why"),
    [
        ("jax.jit(f, static_argnames=STATICS)", "n", "static_argnames is not written out here"),
        ("jax.jit(f, static_argnames=('n', *MORE))", "mode", "static_argnames is not written out here"),
        ("jax.jit(f, static_argnums=tuple(range(2)))", "n", "static_argnums is not written out here"),
        ("jax.jit(f, static_argnames='n, train')", "n", "static_argnames is not valid as it is"),
        ("jax.jit(f, static_argnums='n')", "n", "static_argnums is not valid as it is"),
        ("jax.jit(f, donate_argnums=1)", "n", "n is donated"),
        ("jax.jit(f, donate_argnums=(-1,))", "train", "train is donated"),
        ("jax.jit(f, donate_argnames=('x', 'mode'))", "mode", "mode is donated"),
        ("jax.jit(f, donate_argnums=DONATED)", "n", "donate_argnums is not written out here"),
        ("jax.jit(f, **options)", "n", "unpacked from a variable"),
        ("jax.jit(f, in_shardings=s)", "n", "in_shardings counts"),
        ("jax.jit(f, (1,))", "n", "by position"),
        ("jax.jit(f)", "missing", "has no parameter missing"),
        ("eqx.filter_jit(f)", "n", "has no static_argnames"),
        ("jax.pmap(f)", "n", "has no static_argnames"),
        ("nn.jit(M)", "n", "flax.linen.jit has no static_argnames"),
        ("make()(f)", "n", "not jax.jit itself"),
        ("partial()", "n", "does not name jax.jit"),
        ("jits[0](f)", "n", "not a name"),
        ("jax.jit", "n", "passed on as a value"),
        ("[f]", "n", "not a call"),
        ("jax.jit(f", "n", "cannot be parsed"),
    ],
)
def test_refusals(expression: str, names: str, why: str) -> None:
    bindings = {**BINDINGS, "nn": "flax.linen"}
    assert why in reason(expression, *names.split(), bindings=bindings)


def test_refusals_by_signature() -> None:
    assert "*args cannot be static" in reason("jit(f)", "args", signature="x, *args")
    assert "**kwargs cannot be static" in reason("jit(f)", "kw", signature="x, **kw")
    assert "functools means something else" in reason(
        "jax.jit", "n", decorator=True, bindings={"jax": "jax", "functools": "local"}
    )


def test_in_shardings_none_is_no_obstacle() -> None:
    assert text("jit(f, in_shardings=None)", "n") == 'jit(f, in_shardings=None, static_argnames=("n",))'


# JAX judges.

NAMESPACE = {"jax": jax, "jit": jax.jit, "partial": functools.partial, "functools": functools}


def f(x: Any, n: Any, train: Any = False, *, mode: Any = 0) -> Any:
    """Every parameter but ``x`` is asked for its value by the caller's choice."""
    for value in asked:
        {"n": n, "train": train, "mode": mode}[value].__bool__()
    return x


asked: list[str] = []

options = st.sampled_from(
    [
        "",
        "static_argnames='n'",
        "static_argnames=('train', 'mode')",
        "static_argnames=['mode']",
        "static_argnums=1",
        "static_argnums=(2,)",
        "static_argnums=(1, 2)",
        "static_argnums=-1",
        "static_argnums=1, static_argnames='n'",
        "static_argnums=1, static_argnames='mode'",
        "static_argnums=(1,), static_argnames=('train',)",
        "donate_argnums=0",
    ]
)
spellings = st.sampled_from(["jax.jit(f{})", "partial(jax.jit{})(f)", "functools.partial(jit{})(f)"])
wanted = st.lists(st.sampled_from(["n", "train", "mode"]), min_size=1, max_size=3, unique=True)


@settings(deadline=None)
@given(options, spellings, wanted)
def test_jax_takes_the_parameters_as_static_however_they_are_passed(
    option: str, spelling: str, names: list[str]
) -> None:
    expression = spelling.format(f", {option}" if option else "")
    edit = change(expression, *names, signature="x, n, train=False, *, mode=0")
    assert isinstance(edit, StaticEdit)
    jitted = eval(edit.text, {**NAMESPACE, "f": f})
    asked[:] = names
    x = jnp.zeros(1)
    # A tracer has no truth: each of these raises unless the parameters are static.
    jitted(x, True, True, mode=True)
    jitted(jnp.zeros(1), n=True, train=True, mode=True)
    jitted(jnp.zeros(1), True, train=True, mode=True)


@settings(deadline=None)
@given(options, wanted)
def test_what_was_static_stays_static(option: str, names: list[str]) -> None:
    # A negative number means another parameter in each style of call.
    assume("-" not in option)
    expression = f"jax.jit(f, {option})"
    edit = change(expression, *names, signature="x, n, train=False, *, mode=0")
    assert isinstance(edit, StaticEdit)
    for positional in (True, False):
        before, after = (_static(eval(source, {**NAMESPACE, "f": f}), positional) for source in (expression, edit.text))
        assert before <= after


def _static(jitted: Any, positional: bool) -> set[str]:
    """Which parameters JAX does not trace in a call of this style."""
    found = set()
    for name in ("n", "train", "mode"):
        asked[:] = [name]
        try:
            if positional:
                jitted(jnp.zeros(1), True, True, mode=True)
            else:
                jitted(jnp.zeros(1), n=True, train=True, mode=True)
        except jax.errors.TracerBoolConversionError:
            continue
        found.add(name)
    return found
