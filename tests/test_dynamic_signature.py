"""The notation of arguments in the configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitlint.dynamic.signature import Node, SignatureError, array, format_signature, literal, parse_signature


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("f32[32,784]", array("float32", [32, 784])),
        ("float32[8,3]", array("float32", [8, 3])),
        ("bf16[4]", array("bfloat16", [4])),
        ("u8[]", array("uint8")),
        ("pred[2]", array("bool", [2])),
        ("f32[]~", array("float32", weak=True)),
        ("key", {"key": "typed"}),
        ("-1.5", literal(-1.5)),
        ("'mean'", literal("mean")),
        ("None", literal(None)),
        ("(f32[], 3)", {"tuple": [array("float32"), literal(3)]}),
        ("{w: f32[3]}", {"dict": [[literal("w"), array("float32", [3])]]}),
        ("models.DEFAULT", {"ref": "models.DEFAULT"}),
        ("models.P(n=2)", {"call": {"ref": "models.P"}, "args": [], "kwargs": {"n": literal(2)}}),
        ("make(3).x", {"attr": {"call": {"ref": "make"}, "args": [literal(3)], "kwargs": {}}, "name": "x"}),
        ("pair[0]", {"item": {"ref": "pair"}, "index": 0}),
    ],
)
def test_reads(text: str, node: Node) -> None:
    assert parse_signature([text]) == ((node,), {})
    assert parse_signature([f"x={text}"]) == ((), {"x": node})


@pytest.mark.parametrize(
    "text", ["", "f32[n]", "f32[3", "x y", "**rest", "f32[3], f32[4]", "lambda: 0", "f32[-1]", "*xs"]
)
def test_refuses_with_the_text_in_the_message(text: str) -> None:
    with pytest.raises(SignatureError, match=r".") as caught:
        parse_signature([text])
    assert repr(text) in str(caught.value)


def test_a_named_argument_comes_last() -> None:
    with pytest.raises(SignatureError, match="after an argument passed by name"):
        parse_signature(["flag=True", "f32[]"])


_names = st.from_regex(r"[a-z]{2,6}", fullmatch=True).filter(lambda n: n not in ("key", "is", "in", "if", "or", "as"))
_leaves = st.one_of(
    st.builds(array, st.sampled_from(["float32", "bfloat16", "int8", "uint32", "bool"]), st.lists(st.integers(0, 99))),
    st.builds(literal, st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))),
    st.just({"key": "typed"}),
)
_nodes = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: {"list": items}),
        st.lists(inner, max_size=3).map(lambda items: {"tuple": items}),
        st.lists(st.tuples(st.text(max_size=4).map(literal), inner), max_size=3).map(
            lambda pairs: {"dict": [list(pair) for pair in pairs]}
        ),
    ),
    max_leaves=6,
)


@given(st.lists(_nodes, max_size=3), st.dictionaries(_names, _nodes, max_size=2))
def test_what_is_written_reads_back(args: list[Node], kwargs: dict[str, Node]) -> None:
    assert parse_signature(format_signature(args, kwargs)) == (tuple(args), kwargs)
