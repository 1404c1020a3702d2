"""The library API gives what the command line gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import jitlint
from jitlint.project.config import ConfigError
from tests.cli.programs import BRANCH, BROKEN, CLEAN, FLAG


def test_check_paths_finds_and_sorts(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(BRANCH)
    (tmp_path / "a.py").write_text(FLAG)
    (tmp_path / "c.py").write_text(BROKEN)
    report = jitlint.check_paths([tmp_path])
    assert [(Path(found.filename).name, found.code) for found in report.findings] == [
        ("a.py", "JIT102"),
        ("b.py", "JIT101"),
        ("c.py", "JIT900"),
    ]
    assert [Path(name).name for name in report.files] == ["a.py", "b.py"]
    assert report.internal_errors == ()


def test_check_source_needs_no_file() -> None:
    [found] = jitlint.check_source(BRANCH).findings
    assert (found.code, found.filename, found.span.row, found.qualname) == ("JIT101", "<stdin>", 6, "f")
    assert jitlint.check_source(CLEAN, "model.py").findings == ()


def test_check_source_finds_neighbours_of_the_name_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("def positive(x):\n    return x > 0\n")
    text = "import jax\nfrom helpers import positive\n\n\n@jax.jit\ndef f(x):\n    return 1 if positive(x) else 2\n"
    [found] = jitlint.check_source(text, str(tmp_path / "m.py")).findings
    assert (found.code, found.span.row) == ("JIT101", 7)


def test_selection_and_options() -> None:
    assert jitlint.check_source(BRANCH, select=["JIT9"]).findings == ()
    assert jitlint.check_source(BRANCH, ignore=["traced-branch"]).findings == ()
    [found] = jitlint.check_source(BRANCH, options={"severity": {"JIT101": "info"}}, isolated=True).findings
    assert found.severity == "info"


def test_a_configuration_file(tmp_path: Path) -> None:
    (tmp_path / "jitlint.toml").write_text('ignore = ["JIT101"]\n')
    (tmp_path / "a.py").write_text(BRANCH)
    assert jitlint.check_paths([tmp_path / "a.py"]).findings == ()
    assert len(jitlint.check_paths([tmp_path / "a.py"], isolated=True).findings) == 1
    assert jitlint.check_source(BRANCH, config=tmp_path / "jitlint.toml").findings == ()


def test_wrong_requests_raise() -> None:
    with pytest.raises(ValueError, match="unknown rule 'JIT8'"):
        jitlint.check_source(CLEAN, select=["JIT8"])
    with pytest.raises(ConfigError, match="select"):
        jitlint.check_source(CLEAN, options={"selekt": []})
