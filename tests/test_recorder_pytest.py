"""The pytest plugin: budgets by mark, the fixture, and that it does nothing unless asked."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.recorder_runs import Ran, plain_environment

pytest.importorskip("jax")

ROOT = Path(__file__).parent.parent

TESTS = """
import jax, jax.numpy as jnp, pytest

@jax.jit
def step(x): return x + 1

@pytest.mark.jit_budget(step=1)
def test_once(): step(1.0); step(2.0)

@pytest.mark.jit_budget(step=1)
def test_twice(): step(jnp.ones(2)); step(jnp.ones(3))

@pytest.mark.jit_budget(total=1)
def test_total(): jax.jit(lambda x: x)(1.0); jax.jit(lambda x: x)(2.0)

def test_fixture(jit_traces):
    assert jit_traces.count() == 0
    step(jnp.ones(4)); step(jnp.ones(4))
    assert jit_traces.count("step") == jit_traces.count() == 1
    assert [cause.kind for cause in jit_traces.of("step")[0].causes] in (["shape"], ["first"])
    assert jit_traces.compiles >= 1

@pytest.mark.jit_budget(1)
def test_wrong_mark(): pass

@pytest.mark.jit_budget(step=0)
def test_fails_by_itself():
    step(jnp.ones(7))
    assert 1 == 2
"""


def run_pytest(folder: Path, *args: str, tests: str = TESTS) -> Ran:
    """pytest with the plugin, whether or not jitlint is installed with its entry points."""
    (folder / "test_it.py").write_text(tests)
    installed = any(entry.name == "jitlint_budget" for entry in entry_points(group="pytest11"))
    loaded = [] if installed else ["-p", "jitlint.recorder.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *loaded, *args],
        cwd=folder,
        env=plain_environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_budgets(workers: tuple[str, ...], tmp_path: Path) -> None:
    if workers:
        pytest.importorskip("xdist")
    ran = run_pytest(tmp_path, "--jit-budget", *workers)
    assert ran.code == 1, ran.out + ran.err
    assert "2 passed" in ran.out
    assert "4 failed" in ran.out
    assert "step: 2 traces, allowed 1" in ran.out
    assert "all functions: 2 traces, allowed 1" in ran.out
    assert "jit_budget takes numbers by name" in ran.out
    assert "assert 1 == 2" in ran.out
    assert "step: 1 trace, allowed 0" not in ran.out


def test_the_setting_does_what_the_option_does(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\njit_budget = true\n")
    assert "4 failed, 2 passed" in run_pytest(tmp_path).out


def test_a_conftest_that_imports_jax_is_seen(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import jax\n@jax.jit\ndef shared(x): return x\n")
    tests = (
        "import pytest\nfrom conftest import shared\n@pytest.mark.jit_budget(shared=0)\ndef test_it(): shared(1.0)\n"
    )
    assert "shared: 1 trace, allowed 0" in run_pytest(tmp_path, "--jit-budget", tests=tests).out


def test_without_the_option_nothing_is_recorded_or_loaded(tmp_path: Path) -> None:
    tests = (
        "import sys, jax, pytest\n"
        "@pytest.mark.jit_budget(f=0)\n"
        "def test_mark():\n"
        "    jax.jit(lambda x: x)(1.0)\n"
        "    assert 'jitlint.recorder.runtime' not in sys.modules\n"
        "def test_fixture(jit_traces): raise AssertionError\n"
    )
    ran = run_pytest(tmp_path, "-rs", "--strict-markers", tests=tests)
    assert ran.code == 0, ran.out
    assert "1 passed, 1 skipped" in ran.out
    assert "run pytest with --jit-budget" in ran.out


def test_under_jitlint_trace_there_is_one_recorder(tmp_path: Path) -> None:
    tests = "import jax\ndef test_it(jit_traces):\n    jax.jit(lambda x: x)(1.0)\n    assert jit_traces.count() == 1\n"
    (tmp_path / "test_it.py").write_text(tests)
    installed = any(entry.name == "jitlint_budget" for entry in entry_points(group="pytest11"))
    loaded = [] if installed else ["-p", "jitlint.recorder.pytest_plugin"]
    main = "import sys; from jitlint.cli import main; main(sys.argv[1:])"
    traced = [sys.executable, "-c", main, "trace", "-q", "-o", "r", "--"]
    done = subprocess.run(
        [*traced, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--jit-budget", *loaded],
        cwd=tmp_path,
        env=plain_environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    from jitlint.recorder.record import load_record

    assert [trace.label for trace in load_record(tmp_path / "r").traces] == ["test_it.<locals>.<lambda>"]
