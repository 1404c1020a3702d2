"""Places: what ``ast`` says of where nodes stand is what libcst says."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import libcst as cst
import pytest
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from jitlint.findings import Span
from jitlint.project.index import index_source
from jitlint.project.model import Module
from jitlint.semantics import bare
from jitlint.semantics.places import Places
from jitlint.semantics.source import Unit
from tests.test_bare_trees import STATEMENTS

ROOT = Path(__file__).resolve().parents[1]

MORE = (
    "f((a), (b), ((c)), (d),)\n",
    "f((a)); f(((a))); f(\n    (a + b)\n); f(  # words\n    (a + b),\n); f(not (a)); f(k=(a)); f(*(a), **(b))\n",
    "x = (\n\n    a + b\n)\ny = 1\n",
    "x = (  # words\n    a + b  # words\n)\n",
    "x = (a + b  # words\n)\n",
    "x = ((a).b)(c)[(d)] + ((e))\n",
    "class A((B)): pass\n",
    "class A(B.c(d), (E)): pass\n",
    "@(a)\n@b(\n    c\n)\nasync   def  f(): pass\n",
    "@a\nclass B:\n    @c.d\n    def e(self): pass\n    @f\n    class G: pass\n",
    "def f():\n    if a: x = g(b,\n        c); y = 2;\n    return h(\n    a,\n  b,\n\n        c)\n",
    "def f():\n    x = g('''\n    a''', b)\n    return g(a, [\n        b\n    ])\n",
    "def f():\n    with a:\n        b;\n",
    "if a:\n    pass\nelif b: c; d ;\n",
    "a and b and c or d or (e and f) and (g and h) or (i or j) or k\n",
    "x = y = z[1:a, (b)] = f(*a, *b)\n",
    "x[(a, b)], x[(a), (b)], x[(a)], x[a, b:(c)]\n",
    "{(a): (b), **(c)}, {(a), *b}, [(a)], ((a), b), (a,), ()\n",
    "lambda a=(b), *c: ((d), e)\n",
    "f'{a.b}' 'c' + f(f'{a(b)}', 'd' 'e', f'{c:{d}}')\n",
    "ä = f('ö', ü.ß(\n    'é', à, b\n)) or ñ\n",
    "def ﬁt(): pass\n",
    "x = 1 if (a) else (yield)\n",
    "if (n := f(a)) and (yield b): print((yield), await_)\n",
    "def f(a: (int) = (1), *, b: (str) = 's') -> (None): pass\n",
    "assert (a), (b); raise (a) from (b)\n",
    "for (a) in (b): pass\n",
    "with (a), (b) as (c): pass\n",
    "del (a); del (a), (b)\n",
    "x: (int) = (yield)\n",
    "x = a + \\\n    f(b) + ( \\\n c.d[0] \\\n )\n",
    "def f():\n    x = g(a, \\\n        b) \\\n    ; y\n",
    "def f():\r\n    return g(a,\r\n        b)\r\n",
    "match a(b):\n    case (C.d) | (-1) | [('e')] if f(g): h(i)\n    case {'k': (1), l.m: None, **r}: pass\n",
    "match (a):\n    case ('b', c) | D.E((f), g=h, i=('j')), *k:\n        l[m, n](o);\n",
    "def f():\n\n    # words (\n    (a)(b)\n    # words\n    (a + b)\n",
)


@pytest.mark.parametrize("text", [*STATEMENTS, *MORE])
def test_places_are_those_of_libcst(text: str) -> None:
    for statement in index_source(text).statements:
        assert known(statement.text)


@pytest.mark.parametrize("name", ["jitlint/fix", "jitlint/project", "rules", "benchmarks/recompiling", "fixtures"])
def test_whole_files(name: str) -> None:
    files = [path.read_text(encoding="utf-8") for path in sorted((ROOT / name).rglob("*.py"))]
    texts = {statement.text for file in files for statement in index_source(file).statements}
    assert sum(map(known, texts)) > 10 * len(texts)


def known(text: str) -> int:
    """Of how many nodes ``ast`` knows the place, which is that of libcst, as is the code."""
    unit = unit_of(text)
    assert unit.node is not None
    places = Places(text, unit.node)
    nodes = list(bare.nodes(unit.node))
    found = [(node, places.span(node), places.code(node, unit.around)) for node in nodes]
    assert unit.complete()
    whole = cst.parse_module(text).with_changes(body=[unit.node])
    theirs = MetadataWrapper(whole, unsafe_skip_copy=True).resolve(PositionProvider)
    for node, span, code in found:
        if node in theirs:  # whitespace may be shared
            assert unit.span(node) == place(theirs[node])
            assert span in (None, place(theirs[node]))
            assert code is None or code == whole.code_for_node(node)
    return sum(span is not None for _, span, _ in found)


def place(found: CodeRange) -> Span:
    return Span(found.start.line, found.start.column + 1, found.end.line, found.end.column + 1)


def unit_of(text: str) -> Unit:
    index = index_source(text)
    return Unit(Module("m", Path("m.py"), "m.py", text, False, index), index.statements[0])


TEXT = """\
@jax.jit
def ün(a, *, b=('ä', 1)):
    x = f(a.b, [
        b[0, 1:2],
    ], 'c' 'd', k=(not a)); y = {1: 2.0}
    for i in x:
        y += lambda c: -c if c and i and x else None
    return (x == y)
"""


@pytest.mark.parametrize(
    ("kind", "row", "code"),
    [
        (cst.AugAssign, 7, "y += lambda c: -c if c and i and x else None"),
        (cst.BooleanOperation, 7, "c and i and x"),
        (cst.Call, 3, "f(a.b, [\n    b[0, 1:2],\n], 'c' 'd', k=(not a))"),
        (cst.ConcatenatedString, 5, "'c' 'd'"),
        (cst.Dict, 5, "{1: 2.0}"),
        (cst.IfExp, 7, "-c if c and i and x else None"),
        (cst.List, 3, "[\n    b[0, 1:2],\n]"),
        (cst.Subscript, 4, "b[0, 1:2]"),
    ],
)
def test_what_ast_knows(monkeypatch: pytest.MonkeyPatch, kind: type[cst.CSTNode], row: int, code: str) -> None:
    unit = unit_of(TEXT)
    monkeypatch.delattr(cst, "parse_module")
    node = first(unit, kind)
    assert unit.span(node).row == row
    assert unit.code(node) == code


@pytest.mark.parametrize(
    ("kind", "span", "code"),
    [
        (cst.Arg, Span(3, 11, 3, 14), "a.b, "),
        (cst.Assign, Span(3, 5, 5, 27), "x = f(a.b, [\n    b[0, 1:2],\n], 'c' 'd', k=(not a)); "),
        (cst.Comparison, Span(8, 13, 8, 19), "(x == y)"),
        (cst.Param, Span(2, 8, 2, 9), "a, "),
        (cst.Tuple, Span(2, 17, 2, 23), "('ä', 1)"),
        (cst.UnaryOperation, Span(5, 20, 5, 25), "(not a)"),
    ],
)
def test_what_libcst_is_asked_for(kind: type[cst.CSTNode], span: Span, code: str) -> None:
    unit = unit_of(TEXT)
    node = first(unit, kind)
    assert Places(TEXT, unit.node).code(node, unit.around) is None
    assert unit.span(node) == span
    assert unit.code(node) == code


def test_the_name_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = unit_of(TEXT)
    monkeypatch.delattr(cst, "parse_module")
    function = first(unit, cst.FunctionDef)
    assert unit.span(function) == Span(2, 1, 8, 20)
    assert unit.span(function.name) == Span(2, 5, 2, 7)


_Node = TypeVar("_Node", bound=cst.CSTNode)


def first(unit: Unit, kind: type[_Node]) -> _Node:
    assert unit.node is not None
    return next(node for node in bare.nodes(unit.node) if isinstance(node, kind))
