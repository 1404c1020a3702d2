"""Bare trees: what ``ast`` says as libcst nodes, and what completes them."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from jitlint.project.index import index_source
from jitlint.project.model import Module
from jitlint.semantics import bare
from jitlint.semantics.hoist import calls_unknown
from jitlint.semantics.source import Unit

ROOT = Path(__file__).resolve().parents[1]

STATEMENTS = (
    "x = 1\n",
    "a, (b, *c) = d = e\n",
    "x: int\n",
    "x: 'T' = 0x1F; y = .5; z = 1j; w = -1_000\n",
    "del a, b[0], c.d\n",
    "del (a, b)\n",
    "s = 'a' \"b\" r'\\c' f'{d!r:>{e}}' # words\n",
    "s = '''one\n'two' three''' + \"\"\"four\"\"\"\n",
    "s = b'\\x00' + ''\n",
    "t = 'ünï' + 'cödé', naïve['ключ'], f'{ö}'\n",
    "x[1:2, ::3, ...], x[a,], x[(a, b)], x[(a), (b)], x[:], x[()], x[*a, b]\n",
    "f(*a, b, c=1, **d)\n",
    "f(a=1, *b)\n",
    "f(x for x in y)\n",
    "not a or b and c or d\n",
    "a < b <= c is not d not in e\n",
    "(lambda a, /, b=1, *c, d, e=2, **f: a)(1)\n",
    "lambda *, a: (yield)\n",
    "[x for x in y if a if b for z in x]; {x: y for x, y in z}; {x for x in y}; {**a, 'b': c}; {a, *b}\n",
    "x = (y := f(10)) if a else -b ** +c @ ~d // e\n",
    "a += 1; b @= c; d >>= 2; e //= f\n",
    "from . import a\n",
    "from ..b.c import (d as e, f,)\n",
    "from g import *\n",
    "import a.b.c as d, e.f\n",
    "if a: pass\nelif b:\n    c\nelse: d; e\n",
    "if a:\n    b\nelse:\n    if c:\n        d\n",
    "for x, in y:\n    continue\nelse:\n    break\n",
    "while True: x = 1; break\n",
    "with a as b, c, d as (e, f): g\n",
    "with (a as b, c):\n    pass\n",
    "try:\n    a\nexcept (B, C) as d:\n    raise E from d\nexcept:\n    raise\nelse:\n    f\nfinally:\n    g\n",
    "try:\n    a\nexcept* B:\n    pass\n",
    "@a.b(c)\n@d\ndef f(x: int, /, y: 'T' = 1, *args: int, z, **kw) -> None:\n    '''doc'''\n    global a, b\n    return\n",
    "def f(*, a): nonlocal_ = 1; yield from a; return a, b\n",
    "async def f():\n    async with a as b:\n        async for c in d:\n            await e\n    return [x async for x in y]\n",
    "class A(B, *C, metaclass=D, **E):\n\n    # words\n    x = 1\n\n    def f(self): ...\n",
    "assert a, 'b'\n",
    "def f():\n\tif a:\n\t\treturn b  # tabs\n",
    "def f():\r\n    return '''a\r\nb'''\r\n",
    "match a, b:\n    case [c, *d] | (e,) | f, (g): pass\n    case (h), (i):\n        j\n    case (k, l), m:\n        n\n",
    "match a:\n    case {'b': 1, **c} if d: e\n    case A.B(1, x=y, z=[]) as w:\n        pass\n    case -1 | 1 + 2j: f\n",
    "match a:\n    case None | True | 'b' 'c' | d.e:\n        pass\n    case (), *_: f\n    case {}: g; h\n    case _: i\n",
    "def f():\n    r'''doc \\\\\n    more'''\n    with a, \\\n            b:\n        return c + \\\n            d\n",
)


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_bare_tree_completes_to_what_libcst_makes_of_the_text(text: str) -> None:
    check(text)


@pytest.mark.parametrize("name", ["jitlint/semantics", "jitlint/fix", "rules", "benchmarks/recompiling", "fixtures"])
def test_whole_files(name: str) -> None:
    read = 0
    for path in sorted((ROOT / name).rglob("*.py")):
        for statement in index_source(path.read_text(encoding="utf-8")).statements:
            read += check(statement.text, may_be_none=True)
    assert read > 100


def check(text: str, *, may_be_none: bool = False) -> bool:
    """Is there a bare tree of the text? Then it completes to a tree with that code, and keeps its nodes."""
    made = bare.parse(text)
    if made is None and may_be_none:
        return False
    assert made is not None
    before = list(bare.nodes(made))
    whole = cst.parse_module(text)
    bare.complete(made, whole.body[0])
    assert made.deep_equals(whole.body[0])
    assert whole.with_changes(body=[made]).code == text
    after = list(bare.nodes(made))
    assert len(before) == len(after)
    assert all(one is other for one, other in zip(before, after, strict=True))
    return True


@pytest.mark.parametrize(
    "text",
    [
        "match a:\n    case ('b', c): pass\n",
        "if a: \\\n  b\n",
        "a; \\\nb\n",
        "a \\\n; b\n",
        "type X = int\n",
        "def f[T](): pass\n",
    ],
)
def test_libcst_is_asked_for_the_rest(text: str) -> None:
    assert bare.parse(text) is None


def test_the_fields_are_those_that_libcst_visits() -> None:
    for kind, names in bare.FIELDS.items():
        assert set(names) <= kind.__dataclass_fields__.keys(), kind


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("a.b[0]", "a . b [ 0 ]", True),
        ("(a)", "a", True),
        ("a.b", "a.c", False),
        ("f(a, b)", "f(b, a)", False),
        ("a + b", "a - b", False),
        ("'x'", "'y'", False),
        ("f'{a}x'", "f'{a}y'", False),
        ("f(a)", "f(a, b)", False),
    ],
)
def test_what_means_the_same(one: str, other: str, alike: bool) -> None:
    first, second = (bare.parse(text + "\n") for text in (one, other))
    assert first is not None
    assert second is not None
    assert bare.same(first, second) is alike


@pytest.mark.parametrize(("text", "unknown"), [("table[0](f)", True), ("jax.jit(jit(f))", False), ("f()()", True)])
def test_what_a_bare_statement_calls(text: str, unknown: bool) -> None:
    made = bare.parse(f"step = {text}\n")
    assert made is not None
    assert calls_unknown(made) is unknown


def test_nodes_come_in_the_order_of_the_text() -> None:
    made = bare.parse("@d\ndef f(a=b) -> c:\n    return e if g else [h for i in j if k]\n")
    assert made is not None
    assert "".join(n.value for n in bare.nodes(made) if isinstance(n, cst.Name)) == "dfabceghijk"


def test_a_unit_has_places_and_code_and_whitespace_once_somebody_asks() -> None:
    text = "\n\nx = f(a.b , 'c')  # words\n"
    index = index_source(text)
    module = Module("m", Path("m.py"), "m.py", text, False, index)
    unit = Unit(module, index.statements[0])
    assert unit.node is not None
    call = next(n for n in bare.nodes(unit.node) if isinstance(n, cst.Call))
    span = unit.span(call)
    assert (span.row, span.column, span.end_row, span.end_column) == (3, 5, 3, 17)
    assert unit.code(call) == "f(a.b , 'c')"
    assert unit.code(call.args[0].value) == "a.b"
    with pytest.raises(AttributeError):
        _ = call.lpar
    assert unit.complete()
    assert call.lpar == ()
