"""Where findings are written, and what is said besides."""

from __future__ import annotations

import json
import xml.etree.ElementTree
from pathlib import Path

import pytest

from jitlint.cli.check_command import FORMATS
from jitlint.output import FORMATS as WRITERS
from jitlint.project.config import OUTPUT_FORMATS
from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, CLEAN


@pytest.fixture(autouse=True)
def program(here: Path) -> Path:
    (here / "a.py").write_text(BRANCH)
    return here


def test_every_format_can_be_chosen() -> None:
    assert set(FORMATS) == set(WRITERS) == set(OUTPUT_FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_names_the_finding(name: str, run: Run) -> None:
    outcome = run("check", "--output-format", name)
    assert outcome.code == 1
    assert "JIT101" in outcome.out
    assert "a.py" in outcome.out


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_say_nothing(name: str, run: Run, here: Path) -> None:
    (here / "a.py").write_text(CLEAN)
    assert run("check", "--output-format", name).code == 0


def test_the_environment_and_the_configuration_choose_a_format(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "jitlint.toml").write_text('output-format = "concise"\n')
    assert run("check").out.startswith("a.py:6:8: JIT101")
    monkeypatch.setenv("JITLINT_OUTPUT_FORMAT", "json")
    assert json.loads(run("check").out)[0]["code"] == "JIT101"
    assert run("check", "--output-format", "concise").out.startswith("a.py:6:8: JIT101")


def test_several_formats_in_one_run(run: Run, here: Path) -> None:
    outcome = run("check", "--output-format", "json", "-o", "out.json", "--output-format", "junit", "-o", "out.xml",
                  "--output-format", "concise")  # fmt: skip
    assert outcome.out.startswith("a.py:6:8: JIT101")
    assert json.loads((here / "out.json").read_text())[0]["code"] == "JIT101"
    assert xml.etree.ElementTree.parse(here / "out.xml").getroot().tag == "testsuites"


def test_a_file_that_cannot_be_written_is_said(run: Run) -> None:
    outcome = run("check", "--output-format", "json", "-o", "no/such/folder.json")
    assert outcome.code == 2
    assert "no/such/folder.json" in outcome.err


def test_statistics_count_by_rule(run: Run, here: Path) -> None:
    (here / "b.py").write_text(BRANCH)
    outcome = run("check", "--statistics")
    assert outcome.code == 1
    assert outcome.out == "2  JIT101  traced-branch\n"
    records = json.loads(run("check", "--statistics", "--output-format", "json").out)
    assert records == [{"code": "JIT101", "name": "traced-branch", "count": 2}]


def test_colour_is_for_terminals_and_those_who_ask(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in run("check").out
    assert "\x1b[" in run("check", "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("check").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("check").out
    assert "\x1b[" not in run("check", "--color", "always", "--output-format", "json").out


def test_verbose_says_what_was_skipped_and_why(run: Run, here: Path) -> None:
    (here / ".venv").mkdir()
    (here / ".venv" / "x.py").write_text(BRANCH)
    outcome = run("check", "--verbose")
    assert "skipped .venv: excluded" in outcome.err


def test_quiet_says_nothing_on_the_side(run: Run, here: Path) -> None:
    (here / "a.py").unlink()
    assert run("check", "--quiet").err == ""
    (here / "a.py").write_text(CLEAN)
    outcome = run("check", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_the_path_is_told_from_the_current_folder(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    outcome = run("check", here / "a.py", "--output-format", "concise")
    assert outcome.out.startswith(str(here / "a.py"))
