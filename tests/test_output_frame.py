"""Code frames: carets under what they mark, whatever is in the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitlint.findings import Edit, Severity, Span
from jitlint.fix.text import Lines
from jitlint.output.colour import Palette, wants_colour
from jitlint.output.frame import code_frame, diff_frame
from jitlint.output.places import count, expand, one_line

PLAIN = Palette(enabled=False)


def frame(text: str, span: Span) -> list[str]:
    return code_frame(Lines(text), span, Severity.ERROR, PLAIN)


def test_tabs_wide_and_combining_characters() -> None:
    assert frame('\tx = "漢e\u0301" + y\n', Span(1, 14, 1, 15)) == [
        "  |",
        '1 |     x = "漢e\u0301" + y',
        "  |                 ^",
        "  |",
    ]


def test_a_span_of_several_rows_marks_each() -> None:
    assert frame("f(\n    x,\n\n    y,\n)\nz\n", Span(1, 1, 5, 2)) == [
        "  |",
        "1 | f(",
        "  | ^^",
        "2 |     x,",
        "  |     ^^",
        "3 |",
        "4 |     y,",
        "  |     ^^",
        "5 | )",
        "  | ^",
        "6 | z",
        "  |",
    ]


def test_a_long_span_is_shortened() -> None:
    text = "f(\n" + "    x,\n" * 100 + ")\n"
    shown = frame(text, Span(1, 1, 102, 2))
    assert len(shown) < 15
    assert "..." in shown


def test_a_very_long_line_is_cut_around_the_mark() -> None:
    text = "a = [" + "0, " * 1000 + "bad" + ", 0" * 1000 + "]\n"
    column = text.index("bad") + 1
    code, carets = frame(text, Span(1, column, 1, column + 3))[1:3]
    assert len(code) < 200
    assert code[carets.index("^") : carets.index("^") + 3] == "bad"
    assert carets.count("^") == 3


def test_a_span_that_ends_at_the_start_of_a_row_does_not_mark_it() -> None:
    assert frame("x\ny\nz\n", Span(1, 1, 2, 1))[1:4] == ["1 | x", "  | ^", "2 | y"]


def test_an_empty_span_has_one_caret() -> None:
    assert frame("x y\n", Span(1, 3, 1, 3))[2] == "  |   ^"


def test_blank_rows_at_the_rim_are_left_out() -> None:
    assert frame("a\nb\n\nx\n\nc\n", Span(4, 1, 4, 2)) == [
        "  |",
        "2 | b",
        "3 |",
        "4 | x",
        "  | ^",
        "5 |",
        "6 | c",
        "  |",
    ]
    assert frame("a\n\n\nx\n\n\n", Span(4, 1, 4, 2)) == ["  |", "4 | x", "  | ^", "  |"]


def test_control_characters_cannot_reach_the_terminal() -> None:
    line = "x = '\x1b[2J\u202e\u200b'"
    assert "\x1b" not in expand(line, 1)[0]
    assert one_line("a\r\nb\x07\u202e") == "a  b␇\ufffd"


@given(st.text(), st.integers(1, 30), st.integers(1, 30))
def test_a_frame_can_be_drawn_of_any_text(text: str, row: int, column: int) -> None:
    for line in frame(text, Span(row, column, row + 1, column)):
        assert "\n" not in line and "\r" not in line


@given(st.text())
def test_positions_and_offsets_are_inverse(text: str) -> None:
    lines = Lines(text)
    for offset in range(len(text) + 1):
        row, column = lines.position(offset)
        # The second half of a line ending is a position of its own only for the offset.
        if column <= len(lines.row(row)) + 1:
            assert lines.offset(row, column) == offset


def test_a_difference_has_the_row_numbers_of_the_result() -> None:
    text = "\n".join(f"row{i}" for i in range(1, 13)) + "\n"
    edits = [Edit("a", Span(2, 1, 2, 5), "new2"), Edit("a", Span(11, 1, 12, 1), "")]
    assert diff_frame(Lines(text), edits, PLAIN) == [
        "   |",
        " 1 | row1",
        "   - row2",
        " 2 + new2",
        " 3 | row3",
        "...",
        "10 | row10",
        "   - row11",
        "11 | row12",
    ]


@pytest.mark.parametrize(
    ("environ", "terminal", "choice", "wanted"),
    [
        ({}, True, "auto", True),
        ({}, False, "auto", False),
        ({"NO_COLOR": "1"}, True, "auto", False),
        ({"NO_COLOR": ""}, True, "auto", True),
        ({"FORCE_COLOR": "1"}, False, "auto", True),
        ({"FORCE_COLOR": "0"}, True, "auto", False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, "auto", False),
        ({"TERM": "dumb"}, True, "auto", False),
        ({"NO_COLOR": "1"}, False, "always", True),
        ({"FORCE_COLOR": "1"}, True, "never", False),
    ],
)
def test_when_to_colour(environ: dict[str, str], terminal: bool, choice: str, wanted: bool) -> None:
    assert wants_colour(environ, terminal=terminal, choice=choice) is wanted


def test_counts() -> None:
    assert [count(1, "file"), count(2, "file"), count(0, "fix", "fixes")] == ["1 file", "2 files", "0 fixes"]


def test_rows_that_an_edit_adds_shift_what_follows() -> None:
    text = "a\n\nb\n" + "x\n" * 10 + "c\n"
    edits = [
        Edit("a", Span(1, 1, 1, 1), "new\nrow\n"),
        Edit("a", Span(14, 1, 14, 2), "d\ne"),
        Edit("a", Span(3, 1, 3, 2), "B"),
    ]
    assert diff_frame(Lines(text), edits, PLAIN) == [
        "   |",
        " 1 + new",
        " 2 + row",
        " 3 | a",
        " 4 |",
        "   - b",
        " 5 + B",
        " 6 | x",
        "...",
        "15 | x",
        "   - c",
        "16 + d",
        "17 + e",
    ]


@given(
    st.lists(st.sampled_from(["", "a", "bb"]), min_size=1, max_size=12),
    st.lists(
        st.tuples(st.integers(1, 12), st.sampled_from(["", "n", "n\nm\n", "n\r\nm"])),
        max_size=4,
        unique_by=lambda e: e[0],
    ),
)
def test_a_difference_shows_rows_of_the_result(rows: list[str], changes: list[tuple[int, str]]) -> None:
    edits = [Edit("a", Span(row, 1, row, len(rows[row - 1]) + 1), text) for row, text in changes if row <= len(rows)]
    before = Lines("\n".join(rows))
    result = "\n".join(rows)
    for edit in sorted(edits, reverse=True):
        start, end = before.range(edit.span)
        result = result[:start] + edit.text + result[end:]
    after = Lines(result)
    for line in diff_frame(before, edits, PLAIN)[1:]:
        number = line.split()[0] if line[:1] != "." else ""
        if number.isdigit():
            shown = line.partition(number)[2][3:]
            assert shown == after.row(int(number))
