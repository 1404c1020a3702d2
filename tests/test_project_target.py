"""The lowest JAX a project supports, read from where projects say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitlint.project.config import Config
from jitlint.project.target import is_jax, jax_target, lowest_version, parse_version


def target(root: Path, **files: str) -> tuple[tuple[int, ...] | None, str]:
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text, encoding="utf-8")
    found = jax_target(Config(), root)
    return found.version, found.source


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("jax>=0.4.30", (0, 4, 30)),
        ("jax >= 0.4.30, < 0.6", (0, 4, 30)),
        ("jax[cuda12]>=0.4.20,!=0.4.25", (0, 4, 20)),
        ("jax[cuda12, k8s] ==0.5.0", (0, 5, 0)),
        ("jax===0.5", (0, 5)),
        ("jax==0.4.*", (0, 4)),
        ("jax~=0.4.30", (0, 4, 30)),
        ("jax>0.4", (0, 4)),
        ("jax (>=0.4.1)", (0, 4, 1)),
        ("JAX>=0.4.1rc1", (0, 4, 1)),
        ("jax>=0.4.1 ; python_version >= '3.11'", (0, 4, 1)),
        ("jax>=0.4.1 # why 9.9", (0, 4, 1)),
        ("jax >=0.3,>=0.4", (0, 4)),
        ("jax ^0.4.2", (0, 4, 2)),
        ("jax ~0.4", (0, 4)),
        ("jax 0.4.3", (0, 4, 3)),
        ("jax", None),
        ("jax<0.6", None),
        ("jax @ git+https://example.org/jax@v1.2", None),
        ("jax != 0.4.1", None),
    ],
)
def test_requirements(requirement: str, version: tuple[int, ...] | None) -> None:
    assert is_jax(requirement)
    assert lowest_version(requirement) == version


@pytest.mark.parametrize(
    "requirement", ["jaxlib>=0.4", "jax-md>=1", "jaxtyping", "jax_triton>=1", "flax>=1", "-r jax", ""]
)
def test_other_requirements(requirement: str) -> None:
    assert not is_jax(requirement)


def test_the_configuration_comes_first(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("jax>=0.5")
    found = jax_target(Config(jax_version="0.4.30"), tmp_path)
    assert (found.version, found.source) == ((0, 4, 30), "jax-version")
    assert not found.has_jit_factory


def test_pyproject(tmp_path: Path) -> None:
    text = '[project]\ndependencies = ["numpy>=1", "jax[cpu]>=0.8.1"]\noptional-dependencies = { old = ["jax>=0.4"] }\n'
    assert target(tmp_path, pyproject__toml=text) == ((0, 8, 1), "pyproject.toml: jax[cpu]>=0.8.1")
    assert jax_target(Config(), tmp_path).has_jit_factory


def test_optional_dependencies_and_groups(tmp_path: Path) -> None:
    text = '[project.optional-dependencies]\ngpu = ["jax>=0.5"]\ntpu = ["jax>=0.4.9"]\n'
    text += '[dependency-groups]\ndev = ["jax>=0.1"]\n'
    assert target(tmp_path, pyproject__toml=text) == ((0, 4, 9), "pyproject.toml: jax>=0.4.9")
    text = '[dependency-groups]\ndev = [{ include-group = "x" }, "jax>=0.6"]\n'
    assert target(tmp_path, pyproject__toml=text)[0] == (0, 6)


@pytest.mark.parametrize("constraint", ['"^0.4.2"', '{ version = ">=0.4.2", extras = ["cpu"] }', '"0.4.2"', '"~0.4.2"'])
def test_poetry(tmp_path: Path, constraint: str) -> None:
    assert target(tmp_path, pyproject__toml=f"[tool.poetry.dependencies]\njax = {constraint}\n")[0] == (0, 4, 2)
    assert target(tmp_path, pyproject__toml=f"[tool.poetry.group.dev.dependencies]\njax = {constraint}\n")[0] == (
        0,
        4,
        2,
    )


def test_poetry_without_a_bound(tmp_path: Path) -> None:
    assert target(tmp_path, pyproject__toml='[tool.poetry.dependencies]\njax = "*"\n')[0] is None


def test_requirement_files(tmp_path: Path) -> None:
    (tmp_path / "requirements-dev.txt").write_text("jax>=0.2\n")
    (tmp_path / "requirements.txt").write_text("# jax>=0.1\n-r other.txt\njax==0.4.28\n")
    assert target(tmp_path) == ((0, 2), "requirements-dev.txt: jax>=0.2")


def test_setup_cfg(tmp_path: Path) -> None:
    text = "[options]\ninstall_requires =\n    numpy\n    jax>=0.4.7\n[options.extras_require]\nx =\n    jax>=0.3\n"
    assert target(tmp_path, setup__cfg=text) == ((0, 4, 7), "setup.cfg: jax>=0.4.7")
    assert target(tmp_path, setup__cfg="[options.extras_require]\nx =\n    jax>=0.3\n")[0] == (0, 3)


def test_a_requirement_without_a_bound_leaves_it_to_the_others(tmp_path: Path) -> None:
    files = {"pyproject__toml": '[project]\ndependencies = ["jax"]\n', "requirements__txt": "jax==0.4.30\n"}
    assert target(tmp_path, **files)[0] == (0, 4, 30)
    (tmp_path / "requirements.txt").unlink()
    found = jax_target(Config(), tmp_path)
    assert (found.version, found.source) == (None, "default")
    assert found.notes == ["pyproject.toml requires jax without a lower bound"]
    assert not found.has_jit_factory


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg", "requirements.txt"])
@pytest.mark.parametrize("data", [b"", b"[", b"\xff", b"[project]\ndependencies = 3\n", b"[tool]\npoetry = 3\n"])
def test_broken_files_say_nothing(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert jax_target(Config(), tmp_path).version is None


def test_no_files(tmp_path: Path) -> None:
    assert target(tmp_path / "nowhere") == (None, "default")


def test_versions() -> None:
    assert parse_version(" v0.4.30rc1 ") == (0, 4, 30)
    with pytest.raises(ValueError, match="not a version"):
        parse_version("latest")
