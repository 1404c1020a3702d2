"""A program on standard input."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, BROKEN, CLEAN, FLAG


def test_findings_name_standard_input(run: Run) -> None:
    outcome = run("check", "-", "--output-format", "concise", stdin=BRANCH)
    assert outcome.code == 1
    assert outcome.out.startswith("-:6:8: JIT101")


def test_a_name_can_be_given(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('per-file-ignores = { "gen/*" = ["JIT101"] }\n')
    outcome = run("check", "-", "--stdin-filename", "src/a.py", "--output-format", "concise", stdin=BRANCH)
    assert outcome.out.startswith("src/a.py:6:8: JIT101")
    assert run("check", "-", "--stdin-filename", "gen/a.py", stdin=BRANCH).code == 0


def test_fix_writes_the_program_and_nothing_else(run: Run, here: Path) -> None:
    outcome = run("check", "-", "--fix", stdin=FLAG)
    assert outcome.code == 0
    assert "static_argnames" in outcome.out
    assert outcome.out.endswith("g(1.0, training=True)\n")
    assert "All checks" not in outcome.out
    assert list(here.iterdir()) == []


def test_fix_with_findings_left_tells_them_on_the_side(run: Run) -> None:
    outcome = run("check", "-", "--fix", stdin=BRANCH)
    assert outcome.code == 1
    assert outcome.out == BRANCH
    assert "JIT101" in outcome.err


def test_fix_gives_back_what_it_cannot_read(run: Run) -> None:
    outcome = run("check", "-", "--fix", stdin=BROKEN)
    assert outcome.code == 1
    assert outcome.out == BROKEN
    assert "JIT900" in outcome.err


def test_line_ends_stay(run: Run) -> None:
    outcome = run("check", "-", "--fix", stdin=CLEAN.replace("\n", "\r\n"))
    assert outcome.out == CLEAN.replace("\n", "\r\n")


def test_diff_shows_the_change(run: Run) -> None:
    outcome = run("check", "-", "--diff", stdin=FLAG)
    assert outcome.code == 1
    assert outcome.out.startswith("--- -\n+++ -\n")


def test_empty_input_is_a_clean_program(run: Run) -> None:
    assert run("check", "-", stdin="").code == 0


def test_input_that_is_no_text_is_refused(run: Run) -> None:
    outcome = run("check", "-", stdin="\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    assert outcome.code in (0, 1)
