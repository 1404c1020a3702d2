"""Exit codes, the other commands, and what users do wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jitlint
from jitlint.cli.app import COMMANDS
from jitlint.registry import known_codes
from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, BROKEN, CLEAN


def test_version(run: Run) -> None:
    assert run("--version").out == f"jitlint {jitlint.__version__}\n"


def test_help_names_every_command(run: Run) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in outcome.out
        assert run(name, "--help").code == 0


def test_clean_is_zero(run: Run, here: Path) -> None:
    (here / "a.py").write_text(CLEAN)
    outcome = run("check")
    assert outcome.code == 0
    assert "All checks passed" in outcome.out


def test_a_finding_is_one(run: Run, here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    outcome = run("check", "a.py")
    assert outcome.code == 1
    assert "JIT101" in outcome.out
    assert "a.py:6:8" in outcome.out


def test_exit_zero(run: Run, here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    outcome = run("check", "--exit-zero")
    assert outcome.code == 0
    assert "JIT101" in outcome.out


def test_a_file_that_does_not_parse_is_a_finding_and_the_rest_is_checked(run: Run, here: Path) -> None:
    (here / "bad.py").write_text(BROKEN)
    (here / "a.py").write_text(BRANCH)
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 1
    assert "bad.py:1:" in outcome.out
    assert "JIT900" in outcome.out
    assert "JIT101" in outcome.out


def test_no_file_at_all_is_fine_and_said(run: Run) -> None:
    outcome = run("check")
    assert outcome.code == 0
    assert "no Python files" in outcome.err


def test_no_file_at_all_still_writes_valid_json(run: Run) -> None:
    assert json.loads(run("check", "--output-format", "json").out) == []


def test_a_missing_path_is_reported(run: Run, here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    outcome = run("check", "nowhere.py", "a.py", "--output-format", "concise")
    assert outcome.code == 1
    assert "nowhere.py" in outcome.out + outcome.err
    assert "JIT101" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["check", "--select", "JIT1O1"], "did you mean 'JIT1"),
        (["check", "--ignore", "E501"], "unknown rule 'E501'"),
        (["check", "--extend-select", "nonsense"], "unknown rule 'nonsense'"),
        (["check", "--extend-ignore", "nonsense"], "unknown rule 'nonsense'"),
        (["check", "--per-file-ignores", "tests"], "GLOB:CODE"),
        (["check", "--per-file-ignores", "tests/*:JIT1O1"], "did you mean 'JIT1"),
        (["check", "--output-format", "yaml"], "yaml"),
        (["check", "--min-severity", "bad"], "bad"),
        (["check", "--config", "selekt=['JIT1']"], "select"),
        (["check", "--config", "nowhere.toml"], "nowhere.toml"),
        (["check", "--unknown"], "--unknown"),
        (["check", "--fix", "--diff"], "--diff"),
        (["check", "--add-ignore", "--fix"], "--add-ignore"),
        (["check", "--write-baseline", "--fix"], "--write-baseline"),
        (["check", "--diff-base", "HEAD"], "git"),
        (["check", "--baseline", "nowhere.txt"], "--write-baseline"),
        (["check", "-", "a.py"], "standard input"),
        (["check", "--stdin-filename", "a.py"], "-"),
        (["chekc"], "chekc"),
        (["rule"], "--all"),
        (["rule", "JIT1O1"], "did you mean 'JIT1"),
        (["rule", "JIT101", "--all"], "--all"),
        (["config", "selekt"], "select"),
    ],
)
def test_wrong_usage_is_two_and_says_what_to_do(arguments: list[str], complaint: str, run: Run) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert complaint in outcome.err
    assert outcome.out == ""


def test_a_configuration_that_is_wrong_is_two(run: Run, here: Path) -> None:
    (here / "pyproject.toml").write_text('[tool.jitlint]\nselekt = ["JIT1"]\n')
    (here / "a.py").write_text(CLEAN)
    outcome = run("check")
    assert outcome.code == 2
    assert "pyproject.toml" in outcome.err
    assert "select" in outcome.err


def test_rule_explains_by_code_and_by_name(run: Run) -> None:
    assert run("rule", "JIT900").out.startswith("# JIT900: unreadable-file\n")
    assert run("rule", "unreadable-file").out == run("rule", "jit900").out


def test_rule_all_explains_every_code(run: Run) -> None:
    records = json.loads(run("rule", "--all", "--output-format", "json").out)
    assert [record["code"] for record in records] == list(known_codes())
    assert all(record.keys() >= {"name", "severity", "fix", "since", "status", "explanation"} for record in records)


def test_module_execution_is_the_same_program(here: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "jitlint", "--version"], capture_output=True, text=True, cwd=here)
    assert done.stdout == f"jitlint {jitlint.__version__}\n"


def test_completion_knows_commands_and_options(here: Path) -> None:
    environment = {
        **os.environ,
        "_JITLINT_COMPLETE": "bash_complete",
        "COMP_WORDS": "jitlint check --outp",
        "COMP_CWORD": "2",
    }
    program = "import sys; sys.argv[0] = 'jitlint'; from jitlint.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=here)
    assert "--output-format" in done.stdout


def test_a_closed_pipe_is_no_error(here: Path) -> None:
    for number in range(300):
        (here / f"m{number}.py").write_text(BROKEN)
    process = subprocess.Popen(
        [sys.executable, "-m", "jitlint", "check", "."], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() in (0, 1)


def test_ctrl_c_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("jitlint.cli.session.run_check", interrupted)
    outcome = run("check")
    assert outcome.code == 130
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        ('[library]\nname = "mylib"\n[functions.f]\nefect = "log"\n', "unknown key 'efect'"),
        ('[library]\nname = "mylib"\n[functions.f]\neffect = "logs"\n', "'logs' is not one of"),
        ("[library\n", "mylib.toml"),
        (None, "cannot be read"),
    ],
)
def test_a_library_model_that_is_wrong_is_the_users_to_correct(
    model: str | None, complaint: str, run: Run, here: Path
) -> None:
    (here / "jitlint.toml").write_text('extra-models = ["mylib.toml"]\n')
    (here / "a.py").write_text(CLEAN)
    if model is not None:
        (here / "mylib.toml").write_text(model)
    for arguments in (("check",), ("explain", "a.py:f")):
        outcome = run(*arguments)
        assert outcome.code == 2
        assert complaint in outcome.err
        assert "extra-models" in outcome.err
        assert "report" not in outcome.err


def test_a_server_without_pygls_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    outcome = run("server")
    assert outcome.code == 2
    assert "pip install 'jitlint[lsp]'" in outcome.err
