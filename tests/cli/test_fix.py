"""Repairs: what is written, what is said, and what is never broken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jitlint import repair
from jitlint.cache import FOLDER
from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, BROKEN, FLAG


def test_fix_repairs_and_is_content(run: Run, here: Path) -> None:
    path = here / "a.py"
    path.write_text(FLAG)
    outcome = run("check", "--fix")
    assert outcome.code == 0
    assert "static_argnames" in path.read_text()
    assert "fixed a.py:6:8: JIT102" in outcome.err
    assert "1 finding fixed" in outcome.out
    again = path.read_text()
    assert run("check", "--fix").code == 0
    assert path.read_text() == again


def test_what_is_left_decides_the_exit_code(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    (here / "b.py").write_text(BRANCH)
    outcome = run("check", "--fix")
    assert outcome.code == 1
    assert "JIT101" in outcome.out
    assert "JIT102" not in outcome.out


def test_a_hook_can_ask_to_be_told_of_repairs(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    assert run("check", "--fix", "--exit-non-zero-on-fix").code == 1
    assert run("check", "--fix", "--exit-non-zero-on-fix").code == 0


def test_fix_only_reports_nothing(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    (here / "b.py").write_text(BRANCH)
    outcome = run("check", "--fix-only")
    assert outcome.code == 0
    assert outcome.out == ""
    assert "static_argnames" in (here / "a.py").read_text()


def test_show_fixes_says_what_was_done(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    assert "static" in run("check", "--fix", "--show-fixes").err


def test_diff_writes_nothing(run: Run, here: Path) -> None:
    path = here / "a.py"
    path.write_text(FLAG)
    outcome = run("check", "--diff")
    assert outcome.code == 1
    assert outcome.out.startswith("--- a.py\n+++ a.py\n@@")
    assert "\n+" in outcome.out
    assert "Would fix 1 finding." in outcome.err
    assert path.read_text() == FLAG
    path.write_text(BRANCH)
    nothing = run("check", "--diff")
    assert (nothing.code, nothing.out) == (0, "")


def test_a_rule_that_may_not_be_fixed_is_reported(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('unfixable = ["JIT102"]\n')
    (here / "a.py").write_text(FLAG)
    outcome = run("check", "--fix")
    assert outcome.code == 1
    assert (here / "a.py").read_text() == FLAG


def test_an_idle_comment_is_taken_out(run: Run, here: Path) -> None:
    (here / "a.py").write_text("import jax  # jitlint: ignore[JIT101] old\n")
    outcome = run("check", "--fix")
    assert outcome.code == 0
    assert (here / "a.py").read_text() == "import jax\n"


@pytest.mark.parametrize("text", [FLAG.replace("\n", "\r\n"), "\ufeff" + FLAG, "# coding: latin-1\n# \xe9\n" + FLAG])
def test_everything_else_stays_byte_for_byte(text: str, run: Run, here: Path) -> None:
    path = here / "a.py"
    encoding = "latin-1" if "coding" in text else "utf-8"
    path.write_bytes(text.encode(encoding))
    assert run("check", "--fix").code == 0
    new = path.read_bytes().decode(encoding)
    assert "static_argnames" in new
    newline = "\r\n" if "\r\n" in text else "\n"
    kept = [row for row in text.removeprefix("\ufeff").split(newline) if row and "@jax.jit" not in row]
    assert [row for row in new.removeprefix("\ufeff").split(newline) if row in kept] == kept
    assert new.startswith("\ufeff") is text.startswith("\ufeff")


def test_permissions_and_links_stay(run: Run, here: Path) -> None:
    real = here / "real"
    real.mkdir()
    path = real / "a.py"
    path.write_text(FLAG)
    path.chmod(0o750)
    link = here / "link.py"
    link.symlink_to(path)
    assert run("check", "--fix", "link.py").code == 0
    assert link.is_symlink()
    assert "static_argnames" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o750


def test_a_full_disk_leaves_the_file_whole(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here / "a.py"
    path.write_text(FLAG)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    outcome = run("check", "--fix")
    assert outcome.code == 2
    assert "a.py was not repaired: No space left on device" in outcome.err
    assert path.read_text() == FLAG
    assert sorted(entry.name for entry in here.iterdir()) == [FOLDER, "a.py"]


def test_a_file_that_changes_meanwhile_is_left_alone(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here / "a.py"
    path.write_text(FLAG)
    write = repair.write

    def late(document: repair.Document) -> str | None:
        path.write_text("edited = 1\n")
        return write(document)

    monkeypatch.setattr(repair, "write", late)
    outcome = run("check", "--fix")
    assert outcome.code == 2
    assert "changed since it was read" in outcome.err
    assert path.read_text() == "edited = 1\n"


def test_a_file_that_does_not_parse_does_not_stop_the_others(run: Run, here: Path) -> None:
    (here / "a.py").write_text(FLAG)
    (here / "bad.py").write_text(BROKEN)
    outcome = run("check", "--fix")
    assert outcome.code == 1
    assert "JIT900" in outcome.out
    assert "static_argnames" in (here / "a.py").read_text()
    assert (here / "bad.py").read_text() == BROKEN


def test_a_repair_stays_within_the_files_that_were_named(run: Run, here: Path) -> None:
    (here / "helpers.py").write_text("def scale(x, training):\n    if training:\n        return x * 2\n    return x\n")
    main = FLAG.replace("import jax\n", "import jax\n\nfrom helpers import scale\n")
    main = main.replace("    if training:\n        return x\n    return -x\n", "    return scale(x, training)\n")
    (here / "main.py").write_text(main)
    run("check", "--fix", "helpers.py")
    assert (here / "main.py").read_text() == main
    assert run("check", "--fix", "main.py", "helpers.py").code == 0
    assert "static_argnames" in (here / "main.py").read_text()


def test_add_ignore_silences_what_is_found(run: Run, here: Path) -> None:
    path = here / "a.py"
    path.write_text(BRANCH)
    outcome = run("check", "--add-ignore", "--reason", "known")
    assert outcome.code == 0
    assert "Wrote 1 ignore comment into 1 file" in outcome.err
    assert "if x > 0:  # jitlint: ignore[JIT101] known\n" in path.read_text()
    written = path.read_text()
    assert run("check").code == 0
    assert run("check", "--add-ignore").code == 0
    assert path.read_text() == written
