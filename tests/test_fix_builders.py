"""What the builders write; JAX runs what it can judge."""

from __future__ import annotations

import ast
import contextlib
import io
import math
from typing import Any

import jax
import jax.numpy as jnp
import libcst as cst
import pytest

from jitlint.findings import NewImport
from jitlint.fix.code import Rewrite, code_of, string_literal
from jitlint.fix.debug_print import debug_print
from jitlint.fix.elementwise import elementwise, host_arithmetic, numpy_of_builtin, where_of_if, where_of_ternary
from jitlint.fix.literals import frozen_dataclass, list_as_tuple, respelled
from jitlint.fix.names import Names, Spelling
from jitlint.fix.updates import at_update, kept_update

NAMES = Names("m.py", {"jax": "jax", "jnp": "jax.numpy"})


def expression(source: str) -> Any:
    return cst.parse_expression(source)


def statement(source: str) -> Any:
    """The small statement, or the compound one, that the source holds."""
    node = cst.parse_statement(source)
    return node.body[0] if isinstance(node, cst.SimpleStatementLine) else node


def text(rewrite: Rewrite | None) -> str | None:
    if rewrite is None:
        return None
    ast.parse(rewrite.text)
    return rewrite.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x[i] = v", "x = x.at[i].set(v)"),
        ("x[i, ..., 1:2, None] = v + 1", "x = x.at[i, ..., 1:2, None].set(v + 1)"),
        ("x[i] += v", "x = x.at[i].add(v)"),
        ("x[i] -= 1", "x = x.at[i].add(-1)"),
        ("x[i] -= a + b", "x = x.at[i].add(-(a + b))"),
        ("x[i] *= v", "x = x.at[i].multiply(v)"),
        ("x[i] /= v", "x = x.at[i].divide(v)"),
        ("x[i] **= v", "x = x.at[i].power(v)"),
        ("x[i] //= a + b", "x = x.at[i].set(x[i] // (a + b))"),
        ("x[i] %= v", "x = x.at[i].set(x[i] % v)"),
        ("x[i] @= v", "x = x.at[i].set(x[i] @ v)"),
        ("x[i] &= v", "x = x.at[i].set(x[i] & v)"),
        ("x[i] |= v", "x = x.at[i].set(x[i] | v)"),
        ("x[i] ^= v", "x = x.at[i].set(x[i] ^ v)"),
        ("x[i] <<= v", "x = x.at[i].set(x[i] << v)"),
        ("x[i] >>= v", "x = x.at[i].set(x[i] >> v)"),
        ("self.x[i] = v", "self.x = self.x.at[i].set(v)"),
        ('params["w"][i] = v', 'params["w"] = params["w"].at[i].set(v)'),
        ("x[i] = 1, 2", "x = x.at[i].set((1, 2))"),
        ("x[i] = (yield)", "x = x.at[i].set((yield))"),
        ("x[i] = y[i] = v", None),
        ("f()[i] = v", None),
        ("f().x[i] = v", None),
        ("x[0][i] = v", None),
        ("x.y = v", None),
        ("x += v", None),
    ],
)
def test_item_assignments(before: str, after: str | None) -> None:
    assert text(at_update(statement(before))) == after


@pytest.mark.parametrize(
    ("operator", "value"),
    [(op, 3) for op in ("+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "=")] + [("/=", 4), ("**=", 2)],
)
def test_updates_do_what_numpy_does(operator: str, value: int) -> None:
    import numpy as np

    dtype = float if operator in ("/=", "**=") else int
    source = f"x[1:3] {operator} {value}"
    there: dict[str, Any] = {"x": np.arange(4, dtype=dtype)}
    exec(source, there)
    here: dict[str, Any] = {"x": jnp.arange(4, dtype=dtype)}
    exec(text(at_update(statement(source))) or "", here)
    assert here["x"].tolist() == there["x"].tolist()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.at[i].set(v)", "x = x.at[i].set(v)"),
        ("self.x.at[i].add(1).at[j].set(2)", "self.x = self.x.at[i].add(1).at[j].set(2)"),
        ('p["w"].at[i].set(v)', 'p["w"] = p["w"].at[i].set(v)'),
        ("f().at[i].set(v)", None),
        ("x.sort()", None),
        ("x[0].at[i].set(v)", None),
    ],
)
def test_lost_updates(before: str, after: str | None) -> None:
    assert text(kept_update(statement(before))) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[1, 2]", "(1, 2)"),
        ("[1]", "(1,)"),
        ("[1,]", "(1,)"),
        ("[]", "()"),
        ("[*a]", "(*a,)"),
        ("[[1], [2, [3]]]", "((1,), (2, (3,)))"),
        ("[ 1, 2 ]", "( 1, 2 )"),
        ("[\n    1,  # one\n    2,\n]", "(\n    1,  # one\n    2,\n)"),
        ("([1, 2])", "(1, 2)"),
        ("[{}]", None),
        ("[{1}, 2]", None),
        ("[[x for x in y]]", None),
        ("[[{}]]", None),
    ],
)
def test_lists_become_tuples(before: str, after: str | None) -> None:
    assert text(list_as_tuple(expression(before))) == after
    if after is not None and "a" not in after:
        hash(eval(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jax.jit(f, static_argnames='trian')", "jax.jit(f, static_argnames='train')"),
        ("partial(jit, static_argnames=('n', 'trian'))", "partial(jit, static_argnames=('n', 'train'))"),
        ('partial(jit, donate_argnames=["trian"])(f)', 'partial(jit, donate_argnames=["train"])(f)'),
        (
            "jax.jit(f, static_argnames='n', donate_argnames='trian')",
            "jax.jit(f, static_argnames='n', donate_argnames='train')",
        ),
        ("jax.jit(f, static_argnames=NAMES)", None),
        ("jax.jit(f, name='trian')", None),
        ("jax.jit", None),
        ("jax.jit(", None),
    ],
)
def test_misspelt_names(before: str, after: str | None) -> None:
    assert text(respelled(before, "trian", "train")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("dataclass", "dataclass(frozen=True)"),
        ("dataclass()", "dataclass(frozen=True)"),
        ("dataclass(eq=True)", "dataclass(eq=True, frozen=True)"),
        ("dataclasses.dataclass(\n    order=True,\n)", "dataclasses.dataclass(\n    order=True,\n    frozen=True,\n)"),
        ("dataclass(frozen=False, eq=True)", "dataclass(frozen=True, eq=True)"),
        ("dataclass(frozen=True)", None),
        ("dataclass(frozen=FROZEN)", None),
        ("dataclass(eq=False)", None),
        ("dataclass(unsafe_hash=True)", None),
        ("dataclass(**options)", None),
        ("struct.dataclass", None),
        ("other(eq=True)", None),
    ],
)
def test_dataclasses_are_frozen(before: str, after: str | None) -> None:
    names = Names("m.py", {"dataclass": "dataclasses.dataclass", "struct": "flax.struct"})
    assert text(frozen_dataclass(expression(before), names)) == after


PRINTS = [
    ("print(x)", 'jax.debug.print("{}", x)'),
    ('print("loss", x)', 'jax.debug.print("loss {}", x)'),
    ('print("a", x, y, sep="")', 'jax.debug.print("a{}{}", x, y)'),
    ('print(x, y, sep=", ", flush=True)', 'jax.debug.print("{}, {}", x, y)'),
    ('print(x, sep=None, end="\\n")', 'jax.debug.print("{}", x)'),
    ('print(f"x = {x:.3f} {y!r}")', 'jax.debug.print("x = {:.3f} {!r}", x, y)'),
    ('print(f"{x=} {y = :>5}")', 'jax.debug.print("x={} y = {:>5}", x, y)'),
    ('print(f"{x} {{}}")', 'jax.debug.print("{} {{}}", x)'),
    ('print("{a}", x, "{b}")', 'jax.debug.print("{}{} {{b}}", "{a} ", x)'),
    ("print('it\\'s', x)", 'jax.debug.print("it\'s {}", x)'),
    ("print('say \"hi\"', x)", "jax.debug.print('say \"hi\" {}', x)"),
    ('print("a\\n" "b", x)', 'jax.debug.print("a\\nb {}", x)'),
    ('print(f"a\\t{x}" rf"\\n")', 'jax.debug.print("a\\t{}\\\\n", x)'),
    ('print(f"""two\nrows {x}""")', 'jax.debug.print("two\\nrows {}", x)'),
    ('print("started")', 'jax.debug.print("started")'),
    ("print((x, y))", 'jax.debug.print("{}", (x, y))'),
    ('print("é漢", x)', 'jax.debug.print("é漢 {}", x)'),
]


@pytest.mark.parametrize(("before", "after"), PRINTS)
def test_prints(before: str, after: str) -> None:
    assert text(debug_print(expression(before), NAMES)) == after


@pytest.mark.parametrize(
    "before",
    [
        "print()",
        "print(*x)",
        "print(**x)",
        "print(x, file=f)",
        "print(x, end='')",
        "print(x, sep=s)",
        "print(f'{x:{w}}')",
        "print(f'{x:{{}}}')",
    ],
)
def test_prints_that_have_no_counterpart(before: str) -> None:
    try:
        node = expression(before)
    except cst.ParserSyntaxError:
        pytest.skip("not valid Python here")
    assert debug_print(node, NAMES) is None


@pytest.mark.parametrize(
    "before", [before for before, _ in PRINTS if "!r" not in before and "=" not in before.replace("end=", "")]
)
def test_jax_prints_what_python_prints(before: str, capfd: pytest.CaptureFixture[str]) -> None:
    rewrite = debug_print(expression(before), NAMES)
    assert rewrite is not None
    with contextlib.redirect_stdout(io.StringIO()) as wanted:
        exec(before, {"x": 3.0, "y": 4})

    @jax.jit
    def run(x: Any, y: Any) -> None:
        exec(rewrite.text, {"jax": jax, "x": x, "y": y})

    with contextlib.redirect_stdout(io.StringIO()) as got:
        run(3.0, 4)
        jax.effects_barrier()  # type: ignore[no-untyped-call]
    printed = got.getvalue() or capfd.readouterr().out
    # A tuple is printed with the arrays in it, which have a repr of their own.
    assert printed.replace("Array(", "") == wanted.getvalue() or "(x, y)" in before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("not x", "jnp.logical_not(x)"),
        ("not (a < b)", "jnp.logical_not(a < b)"),
        ("a and b", "jnp.logical_and(a, b)"),
        ("a and b or not c", "jnp.logical_or(jnp.logical_and(a, b), jnp.logical_not(c))"),
        ("(a < b) and (b < c)", "jnp.logical_and(a < b, b < c)"),
        ("a < b < c", "(a < b) & (b < c)"),
        ("0 <= self.i < -n <= 3", "(0 <= self.i) & (self.i < -n) & (-n <= 3)"),
        ("a + 1 < b < c * 2", "(a + 1 < b) & (b < c * 2)"),
        ("(a < b < c)", "(a < b) & (b < c)"),
        ("a < f(b) < c", None),
        ("a < b", None),
        ("x", None),
        ("x is not None and x > 0", None),
        ("isinstance(x, int) or x > 0", None),
        ("not x is None and x > 0", None),
        ("a in b", None),
        ("a < b in c", None),
    ],
)
def test_tests_become_array_operations(before: str, after: str | None) -> None:
    assert text(elementwise(expression(before), NAMES)) == after


@pytest.mark.parametrize("source", ["not a", "a and b", "a or b", "a and b or not c", "0 < a < 2", "a <= b < c"])
def test_array_operations_have_the_truth_of_the_test(source: str) -> None:
    rewrite = elementwise(expression(source), NAMES)
    assert rewrite is not None
    for values in ((0, 1, 2), (2, 1, 0), (1, 1, 1), (0, 0, 0)):
        scope = dict(zip("abc", values, strict=True))
        traced = jax.jit(lambda a, b, c: eval(rewrite.text, {"jnp": jnp, "a": a, "b": b, "c": c}))
        assert bool(traced(*values)) is bool(eval(source, scope))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a if t else b", "jnp.where(t, a, b)"),
        ("a + 1 if x > 0 else -b", "jnp.where(x > 0, a + 1, -b)"),
        ("jnp.sin(a) if not t else 0.0", "jnp.where(jnp.logical_not(t), jnp.sin(a), 0.0)"),
        ("(x[0] if a < b < c else self.y)", "jnp.where((a < b) & (b < c), x[0], self.y)"),
        ("f(a) if t else b", None),
        ("a if t else None", None),
        ("(a, b) if t else c", None),
        ("a if t else (b if u else c)", None),
        ("'x' if t else 'y'", None),
        ("a if x is None else b", None),
        ("not a if t else b", None),
    ],
)
def test_ternaries(before: str, after: str | None) -> None:
    assert text(where_of_ternary(expression(before), NAMES)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if t:\n    return a\nelse:\n    return b\n", "return jnp.where(t, a, b)"),
        ("if t: return a\n", "return jnp.where(t, a, after)"),
        ("if x > 0 and y:\n    x = a\nelse:\n    x = b\n", "x = jnp.where(jnp.logical_and(x > 0, y), a, b)"),
        ("if t:\n    x = a\n", "x = jnp.where(t, a, x)"),
        ("if t:\n    self.x -= a + 1\n", "self.x = jnp.where(t, self.x - (a + 1), self.x)"),
        ("if t:\n    x += 1\nelse:\n    x *= 2\n", "x = jnp.where(t, x + 1, x * 2)"),
        ("if t:\n    x = a\nelse:\n    y = a\n", None),
        ("if t:\n    x = a\nelse:\n    return b\n", None),
        ("if t:\n    return a\nelif u:\n    return b\n", None),
        ("if t:\n    x = a\nelif u:\n    x = b\n", None),
        ("if t:\n    x = a\n    y = b\n", None),
        ("if t:\n    x = a; y = b\n", None),
        ("if t:\n    return\n", None),
        ("if t:\n    pass\n", None),
        ("if t:\n    # why\n    x = a\n", None),
        ("if t:\n    x = a  # why\n", None),
        ("if t:\n    x = f(a)\n", None),
        ("if t:\n    x[0] = a\n", None),
    ],
)
def test_branches(before: str, after: str | None) -> None:
    following = cst.parse_statement("return after\n")
    rewrite = where_of_if(statement(before), NAMES, following=following)
    assert (None if rewrite is None else rewrite.text) == after


def test_a_branch_without_else_needs_a_return_behind_it() -> None:
    node = statement("if t: return a\n")
    assert where_of_if(node, NAMES) is None
    assert where_of_if(node, NAMES, following=cst.parse_statement("x = 1\n")) is None
    assert where_of_if(node, NAMES, following=cst.parse_statement("# why\nreturn b\n")) is None


@pytest.mark.parametrize(
    ("before", "array", "after"),
    [
        ("max(a, b)", False, "jnp.maximum(a, b)"),
        ("min(a, b + 1, c)", False, "jnp.minimum(jnp.minimum(a, b + 1), c)"),
        ("max(x)", True, "jnp.max(x)"),
        ("any(x)", True, "jnp.any(x)"),
        ("sorted(x)", True, "jnp.sort(x)"),
        ("max(x)", False, None),
        ("max(a, b, key=f)", False, None),
        ("max(*x)", True, None),
        ("max()", True, None),
        ("abs(x)", True, None),
        ("float(x)", True, None),
        ("x.max(a, b)", False, None),
    ],
)
def test_builtins(before: str, array: bool, after: str | None) -> None:
    assert text(numpy_of_builtin(expression(before), NAMES, array_argument=array)) == after


@pytest.mark.parametrize(
    ("before", "after", "imports"),
    [
        ("jnp.prod(x.shape)", "math.prod(x.shape)", (NewImport("m.py", "math"),)),
        ("jnp.prod(jnp.array(x.shape))", "math.prod(x.shape)", (NewImport("m.py", "math"),)),
        ("jax.numpy.sqrt(x.shape[-1])", "math.sqrt(x.shape[-1])", (NewImport("m.py", "math"),)),
        ("jnp.max(x.shape)", "max(x.shape)", ()),
        ("jnp.prod(x.shape, axis=0)", None, ()),
        ("jnp.cumsum(x.shape)", None, ()),
        ("np.prod(x.shape)", None, ()),
        ("jnp.prod(*shapes)", None, ()),
    ],
)
def test_arithmetic_on_the_host(before: str, after: str | None, imports: tuple[NewImport, ...]) -> None:
    rewrite = host_arithmetic(expression(before), NAMES)
    assert text(rewrite) == after
    assert (rewrite.imports if rewrite else ()) == imports


def test_arithmetic_on_the_host_is_static() -> None:
    rewrite = host_arithmetic(expression("jnp.prod(x.shape)"), NAMES)
    assert rewrite is not None
    scope = {"math": math}
    assert jax.jit(lambda x: jnp.zeros(eval(rewrite.text, {**scope, "x": x})))(jnp.zeros((2, 3))).shape == (6,)


@pytest.mark.parametrize(
    ("bindings", "dotted", "spelling"),
    [
        ({"jnp": "jax.numpy"}, "jax.numpy.where", Spelling("jnp.where")),
        ({"jax": "jax"}, "jax.numpy.where", Spelling("jax.numpy.where")),
        ({"jax": "jax", "where": "jax.numpy.where"}, "jax.numpy.where", Spelling("where")),
        ({"j": "jax", "jax": "jax"}, "jax.debug.print", Spelling("j.debug.print")),
        ({}, "math.prod", Spelling("math.prod", (NewImport("m.py", "math"),))),
        ({"math": "a variable"}, "math.prod", None),
        ({"m": "math"}, "mathx.prod", Spelling("mathx.prod", (NewImport("m.py", "mathx"),))),
    ],
)
def test_how_names_are_spelled(bindings: dict[str, str], dotted: str, spelling: Spelling | None) -> None:
    assert Names("m.py", bindings).spell(dotted) == spelling


def test_a_shadowed_builtin_is_not_written() -> None:
    names = Names("m.py", {"jnp": "jax.numpy", "max": "a variable"})
    assert host_arithmetic(expression("jnp.max(x.shape)"), names) is None
    assert numpy_of_builtin(expression("max(a, b)"), names) is None


INDENTED = """\
class A:
    def f(self):
        x[
            i,
        ] = g(
            1,
        )
"""


def test_lines_inside_brackets_keep_their_indentation() -> None:
    module = cst.parse_module(INDENTED)
    found: list[cst.Assign] = []

    class Find(cst.CSTVisitor):
        def visit_Assign(self, node: cst.Assign) -> None:
            found.append(node)

    module.visit(Find())
    rewrite = at_update(found[0], indent=" " * 8)
    assert rewrite is not None
    assert rewrite.text == "x = x.at[\n            i,\n        ].set(g(\n            1,\n        ))"


@pytest.mark.parametrize("source", ["f(\n    x,\n)", "(a\n    + b)", "x", "[\n    1,  # one\n]"])
@pytest.mark.parametrize("indent", ["", "    ", "\t"])
def test_code_of_a_fresh_node_is_its_source(source: str, indent: str) -> None:
    assert code_of(cst.parse_expression(source), indent).replace(f"\n{indent}", "\n") == source


@pytest.mark.parametrize("value", ["", "a", "it's", 'say "x"', "both ' and \"", "\\", "\n", "漢", "\u202e"])
def test_string_literals_read_back(value: str) -> None:
    assert ast.literal_eval(string_literal(value)) == value


@pytest.mark.parametrize("source", ["not a", "a and b", "a < b < c", "not (a or b)"])
def test_a_rewritten_test_is_not_rewritten_again(source: str) -> None:
    rewrite = elementwise(expression(source), NAMES)
    assert rewrite is not None
    assert elementwise(expression(rewrite.text), NAMES) is None
