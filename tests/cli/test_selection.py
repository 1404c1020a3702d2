"""Which findings are reported: rules, files, severities, configuration files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, FLAG


@pytest.fixture(autouse=True)
def program(here: Path) -> Path:
    """Two faults in two files: JIT101 in src/a.py, JIT102 in tests/b.py."""
    (here / "src").mkdir()
    (here / "tests").mkdir()
    (here / "src" / "a.py").write_text(BRANCH)
    (here / "tests" / "b.py").write_text(FLAG)
    return here


def codes(run: Run, *arguments: str) -> list[str]:
    outcome = run("check", *arguments, "--output-format", "json")
    assert outcome.code in (0, 1), outcome.err
    return sorted(record["code"] for record in json.loads(outcome.out))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["JIT101", "JIT102"]),
        (["--select", "JIT101"], ["JIT101"]),
        (["--select", "JIT101,JIT102"], ["JIT101", "JIT102"]),
        (["--select", "JIT101", "--select", "nonstatic-flag"], ["JIT101", "JIT102"]),
        (["--select", "JIT9"], []),
        (["--select", "JIT9", "--extend-select", "JIT102"], ["JIT102"]),
        (["--ignore", "JIT101"], ["JIT102"]),
        (["--ignore", "JIT1", "--extend-ignore", "JIT9"], []),
        (["--extend-ignore", "JIT102"], ["JIT101"]),
        (["--per-file-ignores", "tests/*:JIT1"], ["JIT101"]),
        (["--per-file-ignores", "tests/*:JIT1,src/*:JIT101"], []),
        (["--per-file-ignores", "b.py:JIT102"], ["JIT101"]),
        (["--exclude", "tests"], ["JIT101"]),
        (["--extend-exclude", "src,tests"], []),
        (["src"], ["JIT101"]),
        (["tests/b.py", "--exclude", "tests"], ["JIT102"]),
        (["tests/b.py", "--exclude", "tests", "--force-exclude"], []),
        (["--config", "ignore = ['JIT101']"], ["JIT102"]),
        (["--config", "severity.JIT101='info'", "--min-severity", "warning"], ["JIT102"]),
    ],
)
def test_options_choose(arguments: list[str], expected: list[str], run: Run) -> None:
    assert codes(run, *arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["JIT102"]),
        (["--ignore", "JIT102"], []),
        (["--select", "JIT101"], ["JIT101"]),
        (["--select", "JIT1"], ["JIT102"]),
        (["--extend-select", "JIT101"], ["JIT101", "JIT102"]),
        (["--isolated"], ["JIT101", "JIT102"]),
        (["--config", "other.toml"], ["JIT101"]),
        (["--extend-exclude", "tests"], []),
    ],
)
def test_options_stand_above_the_configuration(arguments: list[str], expected: list[str], run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('ignore = ["JIT101"]\n')
    (here / "other.toml").write_text('ignore = ["JIT102"]\n')
    assert codes(run, *arguments) == expected


def test_the_nearest_configuration_decides_file_by_file(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('ignore = ["JIT101"]\n')
    (here / "src" / "jitlint.toml").write_text("")
    (here / "tests" / "jitlint.toml").write_text('ignore = ["JIT102"]\n')
    assert codes(run) == ["JIT101"]


def test_extend_exclude_adds_to_that_of_the_configuration(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('extend-exclude = ["tests"]\n')
    assert codes(run, "--extend-exclude", "src") == []


def test_git_decides_unless_told_otherwise(run: Run, here: Path) -> None:
    (here / ".git").mkdir()
    (here / ".gitignore").write_text("tests/\n")
    assert codes(run) == ["JIT101"]
    assert codes(run, "--no-respect-gitignore") == ["JIT101", "JIT102"]


def test_severity_of_the_configuration_decides_the_exit_code(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('severity = { JIT101 = "info", JIT102 = "info" }\n')
    outcome = run("check")
    assert outcome.code == 0
    assert "JIT101" in outcome.out


def test_an_unknown_rule_in_a_configuration_names_the_file(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('ignore = ["JIT777"]\n')
    outcome = run("check")
    assert outcome.code == 2
    assert "jitlint.toml" in outcome.err
    assert "JIT777" in outcome.err


def test_a_finding_in_an_ignored_line_is_silent_and_an_idle_comment_is_not(run: Run, here: Path) -> None:
    (here / "src" / "a.py").write_text(BRANCH.replace("x > 0:", "x > 0:  # jitlint: ignore[JIT101] only on the host"))
    assert codes(run, "src") == []
    (here / "src" / "a.py").write_text(BRANCH.replace("import jax", "import jax  # jitlint: ignore[JIT101]"))
    assert codes(run, "src") == ["JIT101", "JIT901"]


def test_an_idle_comment_for_a_rule_that_is_off_is_left_alone(run: Run, here: Path) -> None:
    (here / "src" / "a.py").write_text("import jax  # jitlint: ignore[JIT101]\n")
    assert codes(run, "src") == ["JIT901"]
    assert codes(run, "src", "--ignore", "JIT101") == []


def test_show_files_lists_and_stops(run: Run, here: Path) -> None:
    (here / "notes.txt").write_text("no")
    outcome = run("check", "--show-files")
    assert outcome.code == 0
    assert outcome.out.splitlines() == [str(Path("src/a.py")), str(Path("tests/b.py"))]


def test_show_settings_shows_what_is_in_force(run: Run, here: Path) -> None:
    (here / "jitlint.toml").write_text('ignore = ["JIT101"]\n')
    outcome = run("check", "--show-settings", "--ignore", "JIT102", "--config", "max-variants=3")
    shown = json.loads(outcome.out)
    assert shown["source"].endswith("jitlint.toml")
    assert shown["settings"]["ignore"] == ["JIT101", "JIT102"]
    assert shown["settings"]["max-variants"] == 3
