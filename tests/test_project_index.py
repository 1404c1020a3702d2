"""The index: statements as whole rows that parse alone, names, imports, and what is no Python."""

from __future__ import annotations

import sys
import textwrap

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitlint.project import index as index_module
from jitlint.project.index import Unparsable, index_source, split_rows
from jitlint.project.model import TopStatement


def statements(source: str) -> tuple[TopStatement, ...]:
    return index_source(textwrap.dedent(source)).statements


def only(source: str) -> TopStatement:
    (statement,) = statements(source)
    return statement


def test_statements_are_whole_rows_in_order() -> None:
    found = statements(
        '''
        import jax

        @jax.jit
        # why
        def f(x):  # note
            """Doc

            string."""
            return x

        # between
        TABLE = [
            1,
        ]  # end
        '''
    )
    assert [(s.kind, s.first_row, s.last_row) for s in found] == [("import", 2, 2), ("def", 4, 10), ("other", 13, 15)]
    assert found[1].text.startswith("@jax.jit\n# why\ndef f")
    assert found[2].text == "TABLE = [\n    1,\n]  # end\n"


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("a = 1; b = 2\nc = 3\n", ["a = 1; b = 2\n", "c = 3\n"]),
        ("a = '''\n'''; b = '''\n'''; c = 1\nd = 2\n", ["a = '''\n'''; b = '''\n'''; c = 1\n", "d = 2\n"]),
        ("a = 1; \\\nb = 2\nc = 3\n", ["a = 1; \\\nb = 2\n", "c = 3\n"]),
        ("a = 1;\nb = 2\n", ["a = 1;\n", "b = 2\n"]),
        ("a = 1 # \\\nb = 2\n", ["a = 1 # \\\n", "b = 2\n"]),
        ("é = 'é'; \\\nb = 2\n", ["é = 'é'; \\\nb = 2\n"]),
        ("x = 1", ["x = 1\n"]),
        ("\x0cx = 1\n\x0c\ny = 2\n", ["\x0cx = 1\n", "y = 2\n"]),
        ("x = 'a\x1cb'\ny = 1\n", ["x = 'a\x1cb'\n", "y = 1\n"]),
        ("x = 1\r\ny = (2,\r\n  3)\r\n", ["x = 1\r\n", "y = (2,\r\n  3)\r\n"]),
        ("x = 1\ry = 2\r", ["x = 1\r", "y = 2\r"]),
        ("if a:\n\tb = 1\nelse:\n\tc = 2\nd = 1\n", ["if a:\n\tb = 1\nelse:\n\tc = 2\n", "d = 1\n"]),
        ("if a: b = 1; c = 2\nd = 3\n", ["if a: b = 1; c = 2\n", "d = 3\n"]),
        ("@a\n@b\n\nclass C:\n  pass\n", ["@a\n@b\n\nclass C:\n  pass\n"]),
        ("await f()\n", ["await f()\n"]),
        ("", []),
        ("# only a comment", []),
    ],
)
def test_rows_of_statements_parse_alone(source: str, texts: list[str]) -> None:
    found = index_source(source).statements
    assert [statement.text for statement in found] == texts
    for statement in found:
        cst.parse_statement(statement.text)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b as c, d.e", ["c", "d"]),
        ("from a import b as c, d", ["c", "d"]),
        ("x = y = 1", ["x", "y"]),
        ("(a, [b, *c]), d.e, f[0] = v", ["a", "b", "c"]),
        ("x: int = 1", ["x"]),
        ("x: int", []),
        ("x += 1", ["x"]),
        ("for i, j in v:\n  k = i\nelse:\n  m = 1", ["i", "j", "k", "m"]),
        ("with a as b, c as (d, e):\n  f = 1", ["b", "d", "e", "f"]),
        ("try:\n  a = 1\nexcept E:\n  b = 1\nelse:\n  c = 1\nfinally:\n  d = 1", ["a", "c", "d", "b"]),
        ("if t:\n  import a\nelif u:\n  def b(): c = 1\nelse:\n  class d: e = 1", ["a", "b", "d"]),
        ("while t:\n  a = 1", ["a"]),
        ("match v:\n  case {'k': a, **b}:\n    c = 1\n  case [*d] | (1 as d):\n    pass", ["a", "b", "d", "c"]),
        ("if (n := f()) > 1:\n  pass", ["n"]),
        ("x = [y := 1, y]", ["x", "y"]),
        ("f = lambda: (z := 1)", ["f"]),
        ("a = 1; b = 2", ["a", "b"]),
        ("async def f(): pass", ["f"]),
        ("print(1)", []),
    ],
)
def test_names_bound_at_module_level(source: str, names: list[str]) -> None:
    statement = only(source)
    assert sorted(statement.binds) == sorted(names)
    assert len(set(statement.binds)) == len(statement.binds)


def test_mentions_are_what_is_read_anywhere_inside() -> None:
    statement = only(
        """
        @jax.jit
        def f(x: Array, n=DEFAULT):
            global counter
            from lib.sub import tool as used
            local = helper(x).shape
            self.state = 1
            total += x
            return f"{shown} and text", [y for y in xs if y]  # comment
        """
    )
    expected = {"jax", "jit", "Array", "DEFAULT", "counter", "lib", "sub", "tool", "helper", "x", "shape", "self"}
    assert set(statement.mentions) == expected | {"state", "total", "shown", "y", "xs"}


def test_imports_are_found_everywhere_and_made_absolute() -> None:
    index = index_source(
        "import a.b\nif t:\n  from c import d\ndef f():\n  from . import e\n  from .g import h\n  from ...i import j\n",
        package="top.inner",
    )
    assert index.imports == {"a.b", "c", "top.inner", "top.inner.g", "i"}


@pytest.mark.parametrize(
    "word", ["import jax", "from flax import nnx", "import equinox as eqx", "@compat.jit\ndef f(): 0"]
)
def test_the_gate_lets_jax_through(word: str) -> None:
    assert index_source(word).mentions_jax


def test_the_gate_stops_what_cannot_trace() -> None:
    assert not index_source("import numpy as np\ndef helper(x):\n    return np.sum(x)\n").mentions_jax


@pytest.mark.parametrize(
    ("source", "row", "message"),
    [
        ("x = 1\ny = (\n", 2, "'(' was never closed"),
        ("def f(:\n  pass\n", 1, "invalid syntax"),
        ("x = 1\ny = '\0'\n", 2, "null byte"),
        ("if x:\npass\n", 2, "expected an indented block"),
        ("x = " + "(" * 300 + ")" * 300, 1, "nested too deeply"),
        ("x = " + "-" * 30_000 + "1", 1, "nested too deeply"),
        ("x = a" + ".b" * 30_000, 1, "nested too deeply"),
        ("x = 1\ny = a" + " and a" * 20_000, 2, "nested too deeply"),
        ("".join(" " * i + "if x:\n" for i in range(2000)) + " " * 2000 + "pass\n", 101, "nested too deeply"),
        ("x = '\ud800'\n", 1, "surrogates"),
    ],
)
def test_what_is_not_python_says_where_and_why(source: str, row: int, message: str) -> None:
    with pytest.raises(Unparsable) as caught:
        index_source(source)
    assert message in caught.value.message
    assert caught.value.row == row
    assert caught.value.column >= 1


def test_the_column_of_a_null_byte() -> None:
    with pytest.raises(Unparsable) as caught:
        index_source("x = 1\r\nab\0")
    assert (caught.value.row, caught.value.column) == (2, 3)


def test_a_huge_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "MAX_BYTES", 10)
    with pytest.raises(Unparsable, match="larger"):
        index_source("x = 1234567890\n")


NEWER = """\
import jax
from .b import c as d

@jax.jit
def f[T](x: T) -> T:
    import e.f
    return x
# of the block

type Pair = tuple[int, int]
if t:
    (a, b), q = 1
    for i in v:
        w: int = 1
    with u as z:
        y += 1
match v:
    case {"k": m, **n} | [*o] | (1 as p):
        r = (s := 1)
class K[T]: inner = 1
"""


def test_newer_syntax_than_the_running_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str) -> None:
        raise SyntaxError("invalid syntax", ("<unknown>", 5, 6, ""))

    monkeypatch.setattr(index_module, "parse", refuse)
    index = index_source(NEWER, package="p")
    assert index.imports == {"jax", "p.b", "e.f"}
    assert index.mentions_jax
    rows = [(s.kind, s.first_row, s.last_row, "".join(sorted(s.binds))) for s in index.statements]
    assert rows == [
        ("import", 1, 1, "jax"),
        ("import", 2, 2, "d"),
        ("def", 4, 7, "f"),
        ("other", 10, 10, "Pair"),
        ("other", 11, 16, "abiqwyz"),
        ("other", 17, 19, "mnoprs"),
        ("class", 20, 20, "K"),
    ]
    assert {"jax", "jit", "x"} <= set(index.statements[2].mentions)
    assert "".join(split_rows(NEWER)[3:7]) == index.statements[2].text


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="known to this Python")
def test_newer_syntax_for_real() -> None:
    assert index_source("type X = int\n").statements[0].binds == ("X",)


@pytest.mark.parametrize("deep", ["(" * 250 + ")" * 250, "not " * 400 + "x", "2 ** " * 400 + "2"])
def test_deep_code_is_never_given_to_the_recursive_parser(deep: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str) -> None:
        raise SyntaxError("invalid syntax", ("<unknown>", 1, 1, ""))

    def fail(source: str) -> None:
        raise AssertionError("libcst was asked")

    monkeypatch.setattr(index_module, "parse", refuse)
    monkeypatch.setattr(cst, "parse_module", fail)
    with pytest.raises(Unparsable, match="invalid syntax"):
        index_source(f"x = {deep}\n")


@given(st.lists(st.sampled_from(["a", "\n", "\r", "\r\n", "\x0c", "\x1c", "\u2028", "é", " "])))
def test_split_rows_loses_nothing_and_splits_only_where_python_does(parts: list[str]) -> None:
    text = "".join(parts)
    rows = split_rows(text)
    assert "".join(rows) == text
    assert all(row.rstrip("\r\n").count("\n") == 0 for row in rows)
    assert all(row.endswith(("\n", "\r")) for row in rows[:-1])


@given(st.text(alphabet="ab=()[]:;\\\n \t'\"#@", max_size=60))
def test_any_text_gives_an_index_or_a_reason(text: str) -> None:
    try:
        index = index_source(text)
    except Unparsable as fault:
        assert fault.message
        return
    last_row = 0
    for statement in index.statements:
        assert last_row < statement.first_row <= statement.last_row
        last_row = statement.last_row
        cst.parse_statement(statement.text)
