"""What is in the wheel and the sdist, built as a release is: sdist first, from a clean copy."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# All that a build may see; leaving out build/ and caches, which a clean checkout does not have.
_SHIPPED = (
    "pyproject.toml",
    "MANIFEST.in",
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    ".pre-commit-hooks.yaml",
    "action.yml",
    "mkdocs.yml",
    "jitlint",
    "rules",
    "fixtures",
    "tests",
    "docs",
    "examples",
)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built without network."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in _SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", ".*_cache"))
        else:
            shutil.copy2(source, copy / name)
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(copy / "dist"), str(copy)],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "is absent from the `packages` configuration" not in built.stdout + built.stderr
    return copy / "dist"


@pytest.fixture(scope="module")
def wheel(dist: Path) -> set[str]:
    """The files in the wheel, without its metadata."""
    [path] = dist.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_nothing_but_jitlint_is_installed(wheel: set[str]) -> None:
    assert {name.split("/")[0] for name in wheel} == {"jitlint"}


def test_rules_are_those_of_the_checkout(wheel: set[str]) -> None:
    shipped = {name.removeprefix("jitlint/rules/") for name in wheel if name.startswith("jitlint/rules/")}
    assert shipped == {path.name for path in (ROOT / "rules").glob("*.py")}


def test_every_module_and_data_file_is_there(wheel: set[str]) -> None:
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "jitlint").rglob("*")
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(ROOT).parts)
    }
    assert {name for name in wheel if not name.startswith("jitlint/rules/")} == wanted


def test_the_sdist_can_be_tested_and_used_as_a_hook(dist: Path) -> None:
    [path] = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {".pre-commit-hooks.yaml", "LICENSE", "tests/test_distribution.py", "docs/index.md", "README.md"} <= names
    assert any(name.startswith("fixtures/") and name.endswith(".py") for name in names)
    assert any(name.startswith("examples/") and name.endswith(".py") for name in names)
    assert not any(name.endswith(".pyc") for name in names)


def test_the_wheel_runs_where_the_checkout_is_not(dist: Path, tmp_path: Path) -> None:
    [path] = dist.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "ok.py").write_text("x = 1\n")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import jitlint, jitlint.registry as r; "
        "assert jitlint.__file__.startswith(sys.argv[1]), jitlint.__file__; "
        "print(len(r.all_rules())); "
        "from jitlint.cli import main; main(['check', sys.argv[2]])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "site"), str(tmp_path / "ok.py")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    from jitlint.registry import all_rules

    assert run.stdout.splitlines()[0] == str(len(all_rules()))
