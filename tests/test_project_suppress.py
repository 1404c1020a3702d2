"""Ignore comments: what they cover, which are idle, and the edits that take them out or write them."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitlint.findings import Certainty, Edit, Finding, Severity, Span
from jitlint.fix.text import Lines
from jitlint.project.index import split_rows
from jitlint.project.suppress import Suppressions, add_ignores

NAMES = {"JIT101": "traced-branch", "JIT102": "nonstatic-flag", "JIT404": "print-while-tracing"}
ACTIVE = frozenset(NAMES) | frozenset(NAMES.values())


def finding(row: int, code: str = "JIT101") -> Finding:
    span = Span(row, 1, row, 2)
    return Finding(code, NAMES.get(code, "other"), "", "m.py", span, Severity.ERROR, Certainty.DEFINITE)


def covered(source: str, code: str = "JIT101") -> list[int]:
    """The rows of ``source`` on which a finding of ``code`` is covered."""
    text = textwrap.dedent(source)
    suppressions = Suppressions.of(text)
    return [row for row in range(1, len(split_rows(text)) + 1) if suppressions.covers(finding(row, code))]


def apply(text: str, edits: list[Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        start, end = Lines(text).range(edit.span)
        text = text[:start] + edit.text + text[end:]
    return text


def cleaned(text: str, *findings: Finding, active: frozenset[str] = ACTIVE) -> tuple[list[str], str]:
    """The messages on idle comments, and ``text`` without them."""
    suppressions = Suppressions.of(text)
    for one in findings:
        suppressions.covers(one)
    unused = suppressions.unused(active, filename="m.py")
    assert all(idle.edit is None or idle.edit.filename == "m.py" for idle in unused)
    return [idle.message for idle in unused], apply(text, [idle.edit for idle in unused if idle.edit])


@pytest.mark.parametrize(
    "comment",
    [
        "# jitlint: ignore[JIT101]",
        "#jitlint:ignore[JIT101]",
        "# jitlint: ignore[JIT101] because it is so",
        "# jitlint: ignore[JIT404, JIT101]",
        "# jitlint: ignore[JIT404 JIT101]",
        "# jitlint: ignore[traced-branch]",
        "# jitlint: ignore[jit101]",
        "# JITLINT: IGNORE[JIT101]",
        "# jitlint: ignore",
        "# jitlint: ignore see #12",
        "# noqa",
        "# noqa: JIT101",
        "# NOQA:JIT101",
        "# noqa: E501, JIT101",
        "# noqa: E501 JIT101 text",
        "# type: ignore[attr]  # jitlint: ignore[JIT101]",
        "# type: ignore # noqa: JIT101 # more",
        "# jitlint: ignore[JIT404] # jitlint: ignore[JIT101]",
    ],
)
def test_comments_on_the_line(comment: str) -> None:
    assert covered(f"a = 1\nif x:  {comment}\n    b = 2\n") == [2]


@pytest.mark.parametrize(
    "comment",
    [
        "# jitlint: ignore[JIT102]",
        "# jitlint: ignore[]",
        "# jitlint: ignore[JIT101",
        "# jitlint: ingore[JIT101]",
        "# jitlint is fine",
        "# noqa: JIT102",
        "# noqa: E501",
        "# noqa:E501,W291",
        "# noqa-like",
        "# noqa_x",
        "'# jitlint: ignore[JIT101]'",
    ],
)
def test_what_covers_nothing(comment: str) -> None:
    assert covered(f"if x:  {comment}\n    b = 2\n") == []


def test_a_comment_at_the_end_of_a_statement_holds_for_its_rows() -> None:
    assert covered("y = f(\n    a,\n    b,\n)  # jitlint: ignore[JIT101]\nz = 1\n") == [1, 2, 3, 4]
    assert covered("if (a\n        and b):  # jitlint: ignore[JIT101]\n    c = 1\n") == [1, 2]
    assert covered("x = '''\n# jitlint: ignore\n'''  # jitlint: ignore\n") == [1, 2, 3]


def test_a_comment_within_a_statement_holds_for_its_row() -> None:
    assert covered("y = f(\n    a,  # jitlint: ignore[JIT101]\n    b,\n)\n") == [2]


def test_the_next_line() -> None:
    assert covered("# jitlint: ignore-next-line[JIT101]\n\n# more\nif (a\n    or b):\n    c = 1\n") == [4, 5]
    assert covered("a = 1  # jitlint: ignore-next-line\nb = 2\nc = 3\n") == [2]
    assert covered("# jitlint: ignore-next-line[JIT101]\n@jax.jit\n@other\ndef f(\n  x):\n    return x\n") == [
        2,
        3,
        4,
        5,
    ]
    assert covered("a = 1\n# jitlint: ignore-next-line\n") == []


def test_the_file() -> None:
    assert covered('"""Doc."""\n# jitlint: ignore-file[JIT101] generated\nx = 1\n') == [1, 2, 3]
    assert covered("# jitlint: ignore-file[JIT404]\nx = 1\n") == []


def test_blocks() -> None:
    source = """\
        a = 1
        # jitlint: disable[JIT101] why
        b = 2
        # jitlint: enable[JIT101]
        c = 3
        """
    assert covered(source) == [2, 3, 4]
    assert covered(source, "JIT102") == []
    assert covered("# jitlint: disable\na = 1\n# jitlint: enable\nb = 1\n", "JIT404") == [1, 2, 3]
    assert covered("# jitlint: disable[JIT101]\na = 1\n") == [1, 2]


def test_a_block_ends_with_the_indented_block_it_is_in() -> None:
    source = """\
        def f():
            a = 1
            # jitlint: disable[JIT101]
            if a:
                b = 1

            c = 2
        d = 1
        """
    assert covered(source) == [3, 4, 5, 6, 7]
    assert covered("def f():\n    a = 1  # jitlint: disable\n    b = 1\nc = 1\n") == [2, 3]


def test_part_of_a_block_can_be_enabled_again() -> None:
    source = "# jitlint: disable[JIT101, JIT102]\na = 1\n# jitlint: enable[JIT101]\nb = 1\n# jitlint: enable\nc = 1\n"
    assert covered(source, "JIT101") == [1, 2, 3]
    assert covered(source, "JIT102") == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "broken", ["x = (\ny = 1  # jitlint: ignore[JIT101]\n", "x = '''\ny = 1  # jitlint: ignore[JIT101]\n", "  x\n y\n"]
)
def test_text_that_does_not_tokenize(broken: str) -> None:
    text = f"a = 1  # jitlint: ignore[JIT101]\n{broken}"
    assert Suppressions.of(text).covers(finding(1))
    if "ignore" in broken:
        assert Suppressions.of(text).covers(finding(3))


def test_other_line_ends_and_form_feeds() -> None:
    assert covered("a = 1\r\nb = 2  # jitlint: ignore\r\nc = 3\r\n") == [2]
    assert covered("a = 1\rb = 2  # jitlint: ignore\rc = 3\r") == [2]
    assert covered("a = '\x1c'\n\x0c\nb = 2  # jitlint: ignore\n") == [3]


@pytest.mark.parametrize(
    ("text", "message", "left"),
    [
        ("a = 1  # jitlint: ignore[JIT101] why\nb\n", "`ignore` of JIT101 covers nothing", "a = 1\nb\n"),
        ("a = 1  # jitlint: ignore", "`ignore` covers nothing", "a = 1"),
        ("a = 1  # noqa: JIT101\r\n", "`noqa` of JIT101 covers nothing", "a = 1\r\n"),
        ("a = 1  # noqa: E501, JIT101\n", "`noqa` of JIT101 covers nothing", "a = 1  # noqa: E501\n"),
        ("a = 1  # type: ignore  # jitlint: ignore why\n", "`ignore` covers nothing", "a = 1  # type: ignore\n"),
        ("a = 1  # jitlint: ignore why # type: ignore\n", "`ignore` covers nothing", "a = 1  # type: ignore\n"),
        ("# jitlint: ignore-file[JIT404]\na\n", "`ignore-file` of JIT404 covers nothing", "a\n"),
        ("a\n  # jitlint: ignore-next-line", "`ignore-next-line` covers nothing", "a\n"),
        (
            "# jitlint: ignore[JIT101]\na\n",
            "`ignore` of JIT101 covers nothing; for the row below, write `ignore-next-line`",
            "a\n",
        ),
        ("# jitlint: enable[JIT101]\na\n", "`enable` without a `disable` before it", "a\n"),
    ],
)
def test_idle_comments_are_taken_out(text: str, message: str, left: str) -> None:
    messages, after = cleaned(text)
    assert messages[0] == message
    assert after == left


def test_two_idle_comments_go_one_after_the_other() -> None:
    text = "a  # jitlint: ignore[JIT101]  # noqa: JIT101\n"
    while unused := Suppressions.of(text).unused(ACTIVE):
        assert unused[0].edit is not None
        text = apply(text, [unused[0].edit])
    assert text == "a\n"


def test_only_the_idle_codes_are_taken_out() -> None:
    text = "a = 1  # jitlint: ignore[JIT101,JIT102 ,  JIT404] why, so\n"
    messages, after = cleaned(text, finding(1, "JIT102"))
    assert messages == ["`ignore` of JIT101, JIT404 covers nothing"]
    assert after == "a = 1  # jitlint: ignore[JIT102] why, so\n"


def test_a_block_goes_in_two_steps() -> None:
    messages, after = cleaned("# jitlint: disable[JIT101]\na\n# jitlint: enable[JIT101]\n")
    assert messages == ["`disable` of JIT101 covers nothing"]
    assert cleaned(after)[1] == "a\n"


def test_what_is_used_or_may_be_used_elsewhere_stays() -> None:
    text = "a  # jitlint: ignore[JIT101]\nb  # noqa\nc  # jitlint: ignore[JIT300]\nd  # noqa: E501\n"
    assert cleaned(text, finding(1)) == ([], text)


def test_a_name_that_is_used_is_used() -> None:
    text = "a  # jitlint: ignore[traced-branch]\nb  # jitlint: ignore[traced-branch]\n"
    assert cleaned(text, finding(1))[1] == "a  # jitlint: ignore[traced-branch]\nb\n"


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# jitlint: ingore[JIT101]", "there is no directive `ingore`; did you mean `ignore`?"),
        ("# jitlint: off[JIT101]", "there is no directive `off`; there are ignore, ignore-next-line"),
        ("# jitlint: ignore[JIT101", "the bracket of `ignore[` is not closed"),
        ("# jitlint: ignore[]", "`ignore[]` names no rule"),
        ("# jitlint: ignore[ , ]", "`ignore[]` names no rule"),
    ],
)
def test_faulty_comments(comment: str, message: str) -> None:
    (idle,) = Suppressions.of(f"a = 1  {comment}\n").unused(ACTIVE)
    assert idle.message.startswith(message)
    assert idle.span == Span(1, 8, 1, 8 + len(comment))
    assert idle.edit is None


def test_a_remark_is_no_directive() -> None:
    assert Suppressions.of("a  # jitlint: this is how it finds us\n").unused(ACTIVE) == []


def test_a_rule_that_does_not_exist() -> None:
    text = "a  # jitlint: ignore[JIT1O1]\nb  # noqa: JIT999\nc  # jitlint: ignore[trace-branch]\n"
    messages = [idle.message for idle in Suppressions.of(text).unused(ACTIVE, ACTIVE)]
    assert messages == [
        "there is no rule `JIT1O1`; did you mean `JIT101`?",
        "there is no rule `JIT999`",
        "there is no rule `trace-branch`; did you mean `traced-branch`?",
    ]


def test_reasons_are_kept() -> None:
    ignores = Suppressions.of("a  # jitlint: ignore[JIT101] see #12, really  # noqa: JIT102\n").ignores
    assert [(one.directive, one.codes, one.reason) for one in ignores] == [
        ("ignore", ("JIT101",), "see #12, really"),
        ("noqa", ("JIT102",), ""),
    ]


@pytest.mark.parametrize(
    ("before", "findings", "after"),
    [
        ("a = 1\n", [finding(1)], "a = 1  # jitlint: ignore[JIT101]\n"),
        ("a = 1", [finding(1, "JIT404"), finding(1), finding(1)], "a = 1  # jitlint: ignore[JIT101, JIT404]"),
        ("a = 1  \r\n", [finding(1)], "a = 1  # jitlint: ignore[JIT101]\r\n"),
        ("a = 1  # note\n", [finding(1)], "a = 1  # note  # jitlint: ignore[JIT101]\n"),
        ("a  # jitlint: ignore[JIT102] why\n", [finding(1)], "a  # jitlint: ignore[JIT102, JIT101] why\n"),
        ("a  # jitlint: ignore[JIT101]\n", [finding(1)], "a  # jitlint: ignore[JIT101]\n"),
        ("a  # jitlint: ignore\n", [finding(1)], "a  # jitlint: ignore\n"),
        ("f(\n  a,\n)\n", [finding(2)], "f(\n  a,  # jitlint: ignore[JIT101]\n)\n"),
        ("f('''\n  a\n''')\n", [finding(1)], "f('''\n  a\n''')  # jitlint: ignore[JIT101]\n"),
        ("f(a) + \\\n  b\n", [finding(1)], "f(a) + \\\n  b  # jitlint: ignore[JIT101]\n"),
        (
            "a\nb\n",
            [finding(2), finding(1, "JIT404")],
            "a  # jitlint: ignore[JIT404]\nb  # jitlint: ignore[JIT101]\n",
        ),
    ],
)
def test_writing_ignores(before: str, findings: list[Finding], after: str) -> None:
    edits = add_ignores(before, findings, filename="m.py")
    assert apply(before, edits) == after
    suppressions = Suppressions.of(after)
    assert all(suppressions.covers(one) for one in findings)
    assert add_ignores(after, findings, filename="m.py") == []


def test_writing_a_reason() -> None:
    assert apply("a\n", add_ignores("a\n", [finding(1)], reason="known")) == "a  # jitlint: ignore[JIT101] known\n"


@given(st.text(alphabet="a=()'\"\\\n\r\t #:[],", max_size=40), st.integers(1, 6))
def test_any_text_can_be_read_and_what_is_written_covers(text: str, row: int) -> None:
    source = "# jitlint: ignore[JIT404]\n" + text
    Suppressions.of(source).unused(ACTIVE)
    add_ignores(source, [finding(row)])
