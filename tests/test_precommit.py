"""The hooks, under the real pre-commit, in a scratch repository, without network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]

FAULTY = """\
import jax


@jax.jit
def f(x):
    if x > 0:
        return x
    return -x
"""

SOUND = """\
import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    return jnp.where(x > 0, x, -x)
"""

FLAG = """\
import jax


@jax.jit
def f(x, training: bool):
    if training:
        return x
    return -x


f(1.0, training=True)
"""


def run(*command: str, cwd: Path, check: bool = False, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    if home is not None:
        environment["PRE_COMMIT_HOME"] = str(home)
    identity = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org"}
    identity |= {"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org"}
    return subprocess.run(
        command, cwd=cwd, env={**environment, **identity}, capture_output=True, text=True, check=check
    )


def manifest() -> list[dict[str, object]]:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert isinstance(hooks, list)
    return hooks


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with both hooks of the manifest, as ``language: system`` so that nothing is downloaded."""
    root = tmp_path / "repo"
    root.mkdir()
    run("git", "init", "-q", cwd=root, check=True)
    hooks = []
    for hook in manifest():
        entry = str(hook["entry"]).replace("jitlint", f"{sys.executable} -m jitlint", 1)
        hooks.append({**hook, "entry": entry, "language": "system", "stages": ["pre-commit"]})
    (root / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": hooks}]}))
    return root


def pre_commit(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "pre_commit", *arguments)
    return run(*command, cwd=repository, home=repository.parent / "home")


def stage(repository: Path, name: str, text: str) -> Path:
    path = repository / name
    path.write_text(text)
    run("git", "add", "-A", cwd=repository, check=True)
    return path


def test_the_manifest_is_valid() -> None:
    done = run(sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml", cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [hook["id"] for hook in manifest()] == ["jitlint", "jitlint-fix"]
    for hook in manifest():
        assert hook["types_or"] == ["python", "pyi", "jupyter"]
        assert hook["require_serial"] is True
        assert hook["language"] == "python"


def test_a_commit_is_refused_until_the_fault_is_gone(repository: Path) -> None:
    assert pre_commit(repository, "install").returncode == 0
    stage(repository, "model.py", FAULTY)
    refused = run("git", "commit", "-qm", "one", cwd=repository)
    assert refused.returncode != 0
    assert "JIT101" in refused.stdout + refused.stderr
    stage(repository, "model.py", SOUND)
    accepted = run("git", "commit", "-qm", "one", cwd=repository)
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr


def test_the_fix_hook_repairs_and_stops_the_commit_once(repository: Path) -> None:
    path = stage(repository, "model.py", FLAG)
    first = pre_commit(repository, "run", "jitlint-fix")
    assert first.returncode == 1
    assert "static_argnames" in path.read_text()
    run("git", "add", "-A", cwd=repository, check=True)
    second = pre_commit(repository, "run", "jitlint-fix")
    assert second.returncode == 0, second.stdout


def test_a_commit_without_python_passes(repository: Path) -> None:
    stage(repository, "notes.txt", "nothing")
    done = pre_commit(repository, "run", "jitlint", "--all-files")
    assert done.returncode == 0, done.stdout
    forced = run(sys.executable, "-m", "jitlint", "check", "--force-exclude", cwd=repository)
    assert forced.returncode == 0, forced.stderr


def test_excluded_files_are_left_alone_even_when_named(repository: Path) -> None:
    (repository / "jitlint.toml").write_text('exclude = ["generated.py"]\n')
    stage(repository, "generated.py", FAULTY)
    done = pre_commit(repository, "run", "jitlint", "--all-files")
    assert done.returncode == 0, done.stdout
