"""Fixes are applied whole or not at all, together, and never to something that does not parse."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jitlint.findings import Applicability, Edit, Finding, Fix, NewImport, Severity, Span
from jitlint.fix.apply import OVERLAPS, apply_fixes, edits_of, parses, unified_diff
from jitlint.output.context import no_sources

TEXT = "import jax\n\nx = 1\ny = 2\nz = 3\n"


def edit(row: int, start: int, end: int, text: str, filename: str = "a.py") -> Edit:
    return Edit(filename, Span(row, start, row, end), text)


def finding(
    *edits: Edit, applicability: Applicability = Applicability.SAFE, imports: tuple[NewImport, ...] = (), row: int = 1
) -> Finding:
    fix = Fix("change it", edits, applicability, imports)
    return Finding("JIT101", "traced-branch", "m", "a.py", Span(row, 1, row, 2), Severity.ERROR, fix=fix)


def test_edits_of_several_findings_are_applied_together() -> None:
    found = [finding(edit(5, 5, 6, "30")), finding(edit(3, 1, 2, "first"), edit(4, 5, 6, "20"))]
    applied = apply_fixes(found, {"a.py": TEXT}.get)
    assert applied.texts == {"a.py": "import jax\n\nfirst = 1\ny = 20\nz = 30\n"}
    assert len(applied.fixed) == 2
    assert applied.skipped == ()


def test_an_overlap_skips_the_whole_of_the_later_fix() -> None:
    first = finding(edit(3, 1, 6, "x = 10"))
    second = finding(edit(3, 5, 6, "11"), edit(5, 5, 6, "31"), row=3)
    applied = apply_fixes([second, first], {"a.py": TEXT}.get)
    assert applied.texts == {"a.py": TEXT.replace("x = 1", "x = 10")}
    assert applied.fixed == (first,)
    assert [(skip.finding, skip.reason) for skip in applied.skipped] == [(second, OVERLAPS)]


def test_the_same_edit_of_two_findings_is_made_once_and_repairs_both() -> None:
    twins = [finding(edit(3, 5, 6, "10"), row=row) for row in (3, 4)]
    insertions = [finding(edit(5, 1, 1, "w = 0\n"), row=row) for row in (3, 4)]
    applied = apply_fixes(twins + insertions, {"a.py": TEXT}.get)
    assert applied.texts == {"a.py": "import jax\n\nx = 10\ny = 2\nw = 0\nz = 3\n"}
    assert len(applied.fixed) == 4


def test_different_insertions_at_one_place_overlap_and_touching_edits_do_not() -> None:
    clash = [finding(edit(3, 1, 1, "a = 0\n")), finding(edit(3, 1, 1, "b = 0\n"), row=2)]
    assert len(apply_fixes(clash, {"a.py": TEXT}.get).skipped) == 1
    touching = [finding(edit(3, 1, 2, "xx")), finding(edit(3, 2, 3, "  "), row=2)]
    assert apply_fixes(touching, {"a.py": TEXT}.get).texts["a.py"].splitlines()[2] == "xx  = 1"


@pytest.mark.parametrize(
    ("applicability", "unsafe", "done"),
    [
        (Applicability.SAFE, False, True),
        (Applicability.UNSAFE, False, False),
        (Applicability.UNSAFE, True, True),
        (Applicability.DISPLAY, True, False),
    ],
)
def test_safety(applicability: Applicability, unsafe: bool, done: bool) -> None:
    applied = apply_fixes([finding(edit(3, 5, 6, "9"), applicability=applicability)], {"a.py": TEXT}.get, unsafe=unsafe)
    assert bool(applied.texts) is done
    assert bool(applied.fixed) is done
    assert applied.skipped == ()


def test_findings_without_a_fix_are_in_neither_list() -> None:
    plain = Finding("JIT101", "n", "m", "a.py", Span(1, 1, 1, 2), Severity.ERROR)
    applied = apply_fixes([plain], {"a.py": TEXT}.get)
    assert (applied.texts, applied.fixed, applied.skipped) == ({}, (), ())


def test_the_fix_that_breaks_the_syntax_is_dropped_and_the_others_stay() -> None:
    broken = finding(edit(4, 5, 6, "("))
    good = [finding(edit(3, 5, 6, "10")), finding(edit(5, 5, 6, "30"))]
    applied = apply_fixes([*good, broken], {"a.py": TEXT}.get)
    assert applied.texts == {"a.py": "import jax\n\nx = 10\ny = 2\nz = 30\n"}
    assert [skip.finding for skip in applied.skipped] == [broken]
    assert "valid Python" in applied.skipped[0].reason


def test_a_fix_of_two_files_is_all_or_nothing() -> None:
    both = finding(edit(3, 5, 6, "10"), edit(1, 1, 2, "(", "b.py"))
    applied = apply_fixes([both], {"a.py": TEXT, "b.py": "x = 1\n"}.get)
    assert applied.texts == {}
    assert [skip.finding for skip in applied.skipped] == [both]


def test_files_that_are_missing_or_shorter_are_reported() -> None:
    gone = finding(edit(1, 1, 2, "y", "gone.py"))
    needs = finding(edit(3, 5, 6, "10"), imports=(NewImport("gone.py", "math"),))
    short = finding(edit(99, 1, 2, "y"))
    wide = finding(edit(3, 50, 51, "y"))
    applied = apply_fixes([gone, needs, short, wide], {"a.py": TEXT}.get)
    assert applied.texts == {}
    assert sorted(skip.reason for skip in applied.skipped) == [
        "a.py has changed since it was checked",
        "a.py has changed since it was checked",
        "gone.py cannot be read",
        "gone.py cannot be read",
    ]


def test_imports_of_several_fixes_are_merged() -> None:
    functools = NewImport("a.py", "functools")
    found = [
        finding(edit(3, 5, 6, "functools.partial(f)"), imports=(functools,)),
        finding(edit(4, 5, 6, "math.pi"), imports=(NewImport("a.py", "math"), functools)),
    ]
    applied = apply_fixes(found, {"a.py": TEXT}.get)
    assert applied.texts["a.py"].startswith("import functools\nimport math\n\nimport jax\n\nx = functools.partial(f)\n")


def test_line_endings_byte_order_mark_and_missing_newline_stay() -> None:
    text = "\ufeff" + TEXT.replace("\n", "\r\n").removesuffix("\r\n")
    found = [finding(edit(5, 1, 6, "z = (\n    3,\n)"), imports=(NewImport("a.py", "math"),))]
    applied = apply_fixes(found, {"a.py": text}.get)
    assert applied.texts["a.py"] == (
        "\ufeffimport math\r\n\r\nimport jax\r\n\r\nx = 1\r\ny = 2\r\nz = (\r\n    3,\r\n)"
    )


def test_form_feeds_and_unicode_separators_are_no_line_ends() -> None:
    text = "x = 'a\u2028b\x0c'\n\x0cy = 1\n"
    applied = apply_fixes([finding(edit(2, 6, 7, "2"))], {"a.py": text}.get)
    assert applied.texts == {"a.py": "x = 'a\u2028b\x0c'\n\x0cy = 2\n"}


def test_a_fix_that_changes_nothing_gives_no_text() -> None:
    applied = apply_fixes([finding(edit(3, 5, 6, "1"))], {"a.py": TEXT}.get)
    assert applied.texts == {}


def test_syntax_that_only_libcst_knows_is_accepted() -> None:
    assert parses("x = 1\n")
    assert not parses("x = (\n")
    assert parses("\ufeffx = 1\n")


def test_edits_of_a_fix_include_its_imports() -> None:
    fix = Fix("f", (edit(3, 5, 6, "math.pi"),), imports=(NewImport("a.py", "math"),))
    assert edits_of(fix, {"a.py": TEXT}.get) == (
        Edit("a.py", Span(1, 1, 1, 1), "import math\n\n"),
        edit(3, 5, 6, "math.pi"),
    )
    assert edits_of(fix, {"a.py": "import math\n"}.get) == fix.edits
    assert edits_of(fix, {"a.py": "x = (\n"}.get) == fix.edits
    assert edits_of(fix, no_sources) == fix.edits


ROWS = 8
numbers = st.integers(1, ROWS)
texts = st.sampled_from(["0", "(1,\n 2)", "(", "'a'", ""])
edits = st.builds(
    lambda row, start, width, text: edit(row, start, min(start + width, 7), text),
    numbers,
    st.integers(1, 6),
    st.integers(0, 6),
    texts,
)
findings = st.lists(
    st.builds(lambda chosen, row: finding(*chosen, row=row), st.lists(edits, min_size=1, max_size=3), numbers),
    max_size=6,
)


@given(findings)
def test_any_fixes_give_valid_python_and_each_is_fixed_or_skipped(found: list[Finding]) -> None:
    text = "".join(f"v{row} = 5\n" for row in range(1, ROWS + 1))
    applied = apply_fixes(found, {"a.py": text}.get)
    ast.parse(applied.texts.get("a.py", text))
    assert len(applied.fixed) + len(applied.skipped) == len(found)
    touched = {edit.span.row for done in applied.fixed if done.fix for edit in done.fix.edits}
    rows = {row for row in range(1, ROWS + 1) if f"v{row} = 5\n" in applied.texts.get("a.py", text)}
    assert rows >= set(range(1, ROWS + 1)) - touched


@given(findings)
def test_line_endings_make_no_difference(found: list[Finding]) -> None:
    text = "".join(f"v{row} = 5\n" for row in range(1, ROWS + 1))
    plain = apply_fixes(found, {"a.py": text}.get)
    windows = apply_fixes(found, {"a.py": text.replace("\n", "\r\n")}.get)
    assert {name: new.replace("\n", "\r\n") for name, new in plain.texts.items()} == windows.texts


@given(st.permutations(range(4)), findings)
@example([1, 0, 2, 3], [finding(edit(2, 2, 4, "0"), row=2), finding(edit(2, 2, 4, "0"), edit(2, 3, 3, "0"), row=2)])
def test_the_order_of_the_findings_does_not_matter(order: list[int], found: list[Finding]) -> None:
    text = "".join(f"v{row} = 5\n" for row in range(1, ROWS + 1))
    shuffled = [found[i] for i in order if i < len(found)] + found[4:]
    sources = {"a.py": text}.get
    assert apply_fixes(found, sources).texts == apply_fixes(shuffled, sources).texts


def test_unified_diff() -> None:
    assert unified_diff("a\nb\n", "a\nc", "m.py") == (
        "--- m.py\n+++ m.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
    )
    assert unified_diff("a\n", "a\n", "m.py") == ""


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@settings(deadline=None)
@given(
    old=st.lists(st.sampled_from(["a", "b", "\x0c", "\u2028", ""]), max_size=6),
    new=st.lists(st.sampled_from("abc"), max_size=6),
)
def test_git_applies_the_difference(
    tmp_path_factory: pytest.TempPathFactory, newline: str, old: list[str], new: list[str]
) -> None:
    before, after = newline.join(old), newline.join(new)
    if before and after and before != after:
        folder = tmp_path_factory.mktemp("repo")
        (folder / "m.py").write_bytes(before.encode())
        patch = unified_diff(before, after, "m.py")
        subprocess.run(["git", "apply", "-p0", "-"], cwd=folder, input=patch.encode(), check=True, capture_output=True)
        assert (folder / "m.py").read_bytes() == after.encode()


def test_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    apply_fixes([finding(edit(3, 5, 6, "10"))], {"a.py": TEXT}.get)
    assert path.read_text() == TEXT
