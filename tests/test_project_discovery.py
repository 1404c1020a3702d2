"""Which files are found, under which names, and which are left alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jitlint.project.config import Config, ConfigResolver, load_config
from jitlint.project.discovery import Discovery, GlobSet, discover, display_path, is_excluded
from jitlint.project.options import Glob

Make = Callable[..., None]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make files below the current directory; what is written as ``name=text`` gives it a text."""
    monkeypatch.chdir(tmp_path)

    def make(*names: str) -> None:
        for name in names:
            path, _, text = name.partition("=")
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")

    return make


def found(*paths: str | Path, config: Config | ConfigResolver | None = None) -> list[str]:
    return [Path(display_path(file)).as_posix() for file in search(*paths, config=config).files]


def search(*paths: str | Path, config: Config | ConfigResolver | None = None) -> Discovery:
    return discover(paths or ["."], config or ConfigResolver())


def test_python_files_stubs_and_notebooks_in_the_order_of_paths(make: Make) -> None:
    make("b.py", "a/z.py", "a/b/c.pyi", "n.ipynb", "a.py", "a/readme.md", "data.pyc", "script")
    assert found() == ["a/b/c.pyi", "a/z.py", "a.py", "b.py", "n.ipynb"]


def test_what_is_named_is_checked_whatever_its_name_and_place(make: Make) -> None:
    make("script", "build/x.py", ".gitignore=ignored.py", "ignored.py")
    assert found("script", "build/x.py", "ignored.py") == ["build/x.py", "ignored.py", "script"]


def test_a_named_directory_is_searched_even_if_excluded(make: Make) -> None:
    make("build/x.py", "build/venv/y.py")
    assert found("build") == ["build/x.py"]


@pytest.mark.parametrize("name", [".git", ".venv", "venv", "node_modules", "build", "dist", "__pycache__", ".tox"])
def test_default_excludes(make: Make, name: str) -> None:
    make(f"{name}/x.py", f"deep/{name}/x.py", f"not{name}/x.py")
    assert found() == [f"not{name}/x.py"]


def test_each_file_once(make: Make) -> None:
    make("a/x.py")
    assert found("a", "a/x.py", ".", "./a/../a/x.py") == ["a/x.py"]


def test_links(make: Make, tmp_path: Path) -> None:
    make("a/x.py", "a/b/y.py")
    (tmp_path / "a/b/loop").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "z.py").symlink_to(tmp_path / "a/x.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    assert found() == ["a/b/y.py", "a/x.py"]
    assert found("a/b/loop") == ["a/b/loop/b/y.py", "a/b/loop/x.py"]
    missing = search("dangling.py", "self.py").missing
    assert [(fault.display, fault.message) for fault in missing] == [
        ("dangling.py", "a link to nothing, or to itself"),
        ("self.py", "a link to nothing, or to itself"),
    ]


def test_a_path_that_is_not_there(make: Make) -> None:
    make("a.py")
    result = search("a.py", "nowhere", "no.py")
    assert [Path(file).name for file in result.files] == ["a.py"]
    assert [(fault.display, fault.row, fault.message) for fault in result.missing] == [
        ("nowhere", 1, "no such file or directory"),
        ("no.py", 1, "no such file or directory"),
    ]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold")
def test_a_directory_that_cannot_be_read(make: Make, tmp_path: Path) -> None:
    make("a/x.py", "b/y.py")
    (tmp_path / "a").chmod(0)
    try:
        result = search(".")
    finally:
        (tmp_path / "a").chmod(0o755)
    assert [fault.display for fault in result.missing] == ["a"]
    assert len(result.files) == 1


def test_no_file_at_all(make: Make) -> None:
    assert found() == []


def test_gitignore_nested_and_from_above(make: Make, tmp_path: Path) -> None:
    (tmp_path / ".git/info").mkdir(parents=True)
    (tmp_path / ".git/info/exclude").write_text("private.py\n")
    make(
        ".gitignore=*.tmp.py\n/out/\n# comment\n\ngen_*.py\n!gen_keep.py\n",
        "a/.gitignore=/local.py\nsub/\n!gen_here.py\n",
        "a/.ignore=by_ignore.py\n",
        "x.tmp.py", "out/x.py", "a/out/x.py", "gen_a.py", "gen_keep.py", "private.py", "a/private.py",
        "a/local.py", "a/b/local.py", "a/sub/x.py", "a/gen_here.py", "a/gen_there.py", "a/by_ignore.py",
    )  # fmt: skip
    expected = ["a/b/local.py", "a/gen_here.py", "a/out/x.py"]
    assert found() == [*expected, "gen_keep.py"]
    assert found("a") == expected
    reasons = {Path(display_path(skip.path)).as_posix(): skip.reason for skip in search().skipped}
    assert reasons["out"] == "ignored by git"
    assert reasons["a/by_ignore.py"] == "ignored by git"


def test_gitignore_above_the_repository_does_not_count(make: Make, tmp_path: Path) -> None:
    make(".gitignore=*.py\n", "repo/x.py", "repo/a/y.py")
    (tmp_path / "repo/.git").mkdir()
    assert found("repo") == ["repo/a/y.py", "repo/x.py"]
    assert found("repo/a") == ["repo/a/y.py"]


def test_gitignore_can_be_disregarded(make: Make) -> None:
    make(".gitignore=x.py\n", "x.py", "y.py")
    assert found() == ["y.py"]
    assert found(config=Config(respect_gitignore=False)) == ["x.py", "y.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("a", ["b/x.py", "b/y_pb2.py", "x.py"]),
        ("a/b", ["a/x.py", "b/x.py", "b/y_pb2.py", "x.py"]),
        ("/x.py", ["a/b/x.py", "a/x.py", "b/x.py", "b/y_pb2.py"]),
        ("./x.py", ["a/b/x.py", "a/x.py", "b/x.py", "b/y_pb2.py"]),
        ("*_pb2.py", ["a/b/x.py", "a/x.py", "b/x.py", "x.py"]),
        ("a/*.py", ["a/b/x.py", "b/x.py", "b/y_pb2.py", "x.py"]),
        ("a/**", ["b/x.py", "b/y_pb2.py", "x.py"]),
        ("**/b/x.py", ["a/x.py", "b/y_pb2.py", "x.py"]),
        ("a/", ["b/x.py", "b/y_pb2.py", "x.py"]),
    ],
)
def test_patterns(make: Make, tmp_path: Path, pattern: str, left: list[str]) -> None:
    make("x.py", "a/x.py", "a/b/x.py", "b/x.py", "b/y_pb2.py", f'jitlint.toml=exclude = ["{pattern}"]')
    assert found() == left


def test_an_absolute_pattern(make: Make, tmp_path: Path) -> None:
    make("x.py", "a/x.py", f'jitlint.toml=exclude = ["{(tmp_path / "a").as_posix()}"]')
    assert found() == ["x.py"]


def test_exclude_replaces_and_extend_exclude_adds(make: Make) -> None:
    make("x.py", "build/x.py", "old/x.py", 'jitlint.toml=extend-exclude = ["old"]')
    assert found() == ["x.py"]
    make('jitlint.toml=exclude = ["old"]')
    assert found() == ["build/x.py", "x.py"]


def test_patterns_are_relative_to_their_file_and_hold_below_it(make: Make) -> None:
    make("a/x.py", "sub/a/x.py", 'sub/jitlint.toml=extend-exclude = ["/a"]', "sub/b/a/x.py")
    assert found() == ["a/x.py", "sub/b/a/x.py"]


def test_force_exclude(make: Make) -> None:
    make("a/x.py", "b/x.py", 'jitlint.toml=extend-exclude = ["a"]\nforce-exclude = true')
    result = search("a/x.py", "b/x.py", "a")
    assert [display_path(file) for file in result.files] == [str(Path("b/x.py"))]
    assert {skip.reason for skip in result.skipped} == {"excluded by the configuration (force-exclude)"}


def test_is_excluded_looks_at_the_directories_above(make: Make, tmp_path: Path) -> None:
    make("venv/lib/x.py", "lib/x.py")
    assert is_excluded(tmp_path / "venv/lib/x.py", Config())
    assert not is_excluded(tmp_path / "lib/x.py", Config())


def test_a_configuration_on_the_way_is_used_for_its_directory(make: Make, tmp_path: Path) -> None:
    make("a/x.py", "a/sub/x.py", 'a/sub/jitlint.toml=exclude = ["x.py"]')
    assert found() == ["a/x.py"]
    assert found(config=load_config(tmp_path / "a/sub/jitlint.toml")) == ["a/x.py"]


def test_display_path(make: Make, tmp_path: Path) -> None:
    make("a/x.py")
    assert display_path(tmp_path / "a/x.py") == str(Path("a/x.py"))
    assert display_path(tmp_path.parent / "y.py") == str(tmp_path.parent / "y.py")


def test_a_set_of_patterns_matches_files_below_a_directory(tmp_path: Path) -> None:
    globs = GlobSet([Glob("tests", tmp_path), Glob("!tests/keep.py", tmp_path), Glob("*.gen.py", None)])
    assert globs.matches(tmp_path / "tests/deep/x.py")
    assert not globs.matches(tmp_path / "tests/keep.py")
    assert globs.matches(tmp_path / "a.gen.py")
    assert not globs.matches(tmp_path / "other/x.py")
    assert not globs.matches(tmp_path.parent / "tests/x.py")
