"""The project: names of modules, what imports mean, what is loaded, and what is unreadable."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jitlint.project.config import Config, ConfigResolver
from jitlint.project.model import Module, Project
from jitlint.project.modules import SourceProject, load_project

Files = Callable[[dict[str, str]], None]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Write files below the current directory."""
    monkeypatch.chdir(tmp_path)

    def write(texts: dict[str, str]) -> None:
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return write


def load(*paths: str, **options: object) -> SourceProject:
    return load_project(paths or ["."], ConfigResolver(), **options)  # type: ignore[arg-type]


def module(project: Project, display: str) -> Module:
    return next(found for found in project.modules if Path(found.display).as_posix() == display)


def meaning(project: Project, importer: str, dotted: str, level: int = 0) -> str | None:
    """The display path of what the import means."""
    found = project.resolve(module(project, importer), dotted, level)
    return None if found is None else Path(found.display).as_posix()


def names(project: Project) -> dict[str, str]:
    return {Path(found.display).as_posix(): found.name for found in project.modules}


def test_names(files: Files) -> None:
    files(
        {
            "pyproject.toml": "",
            "src/pkg/__init__.py": "",
            "src/pkg/mod.py": "",
            "src/pkg/sub/__init__.py": "",
            "src/pkg/sub/deep.py": "",
            "src/pkg/loose/inner.py": "",
            "src/space/part/mod.py": "",
            "src/space/other/__init__.py": "",
            "flat/__init__.py": "",
            "flat/__main__.py": "",
            "scripts/train.py": "",
            "scripts/sub/eval-it.py": "",
            "top.py": "",
        }
    )
    project = load()
    assert names(project) == {
        "src/pkg/__init__.py": "pkg",
        "src/pkg/mod.py": "pkg.mod",
        "src/pkg/sub/__init__.py": "pkg.sub",
        "src/pkg/sub/deep.py": "pkg.sub.deep",
        "src/pkg/loose/inner.py": "pkg.loose.inner",
        "src/space/part/mod.py": "space.part.mod",
        "src/space/other/__init__.py": "space.other",
        "flat/__init__.py": "flat",
        "flat/__main__.py": "flat.__main__",
        "scripts/train.py": "train",
        "scripts/sub/eval-it.py": "eval-it",
        "top.py": "top",
    }
    assert {m.name for m in project.modules if m.is_package} == {"pkg", "pkg.sub", "space.other", "flat"}


def test_modules_of_the_same_name_are_kept_apart(files: Files) -> None:
    files({"pyproject.toml": "", "a/train.py": "A = 1", "b/train.py": "B = 1", "c/x.py": "", "c/x.pyi": ""})
    project = load()
    found = names(project)
    assert len(set(found.values())) == 4
    assert found["a/train.py"] == "train"
    assert found["b/train.py"] == "b.train"


def test_modules_are_in_the_order_of_display_paths(files: Files) -> None:
    files({"b.py": "", "a/z.py": "", "a.py": ""})
    displays = [found.display for found in load().modules]
    assert displays == sorted(displays)


def test_absolute_and_relative_imports_in_a_src_layout(files: Files) -> None:
    files(
        {
            "pyproject.toml": "",
            "src/pkg/__init__.py": "",
            "src/pkg/a.py": "",
            "src/pkg/sub/__init__.py": "",
            "src/pkg/sub/b.py": "",
            "tests/test_a.py": "",
        }
    )
    project = load()
    deep = "src/pkg/sub/b.py"
    assert meaning(project, deep, "pkg") == "src/pkg/__init__.py"
    assert meaning(project, deep, "pkg.a") == "src/pkg/a.py"
    assert meaning(project, deep, "", 1) == "src/pkg/sub/__init__.py"
    assert meaning(project, deep, "b", 1) == "src/pkg/sub/b.py"
    assert meaning(project, deep, "", 2) == "src/pkg/__init__.py"
    assert meaning(project, deep, "a", 2) == "src/pkg/a.py"
    assert meaning(project, deep, "sub.b", 2) == "src/pkg/sub/b.py"
    assert meaning(project, "src/pkg/sub/__init__.py", "b", 1) == "src/pkg/sub/b.py"
    assert meaning(project, "src/pkg/__init__.py", "a", 1) == "src/pkg/a.py"
    assert meaning(project, "tests/test_a.py", "pkg.sub.b") == "src/pkg/sub/b.py"
    assert meaning(project, deep, "pkg.missing") is None
    assert meaning(project, deep, "pkg.a.name") is None
    assert meaning(project, deep, "pkg", 9) is None
    assert meaning(project, deep, "") is None


def test_scripts_find_their_neighbours_first(files: Files) -> None:
    files(
        {
            "pyproject.toml": "",
            "a/train.py": "",
            "a/util.py": "",
            "b/train.py": "",
            "b/util.py": "",
            "util.py": "",
            "c/run.py": "",
        }
    )
    project = load()
    assert meaning(project, "a/train.py", "util") == "a/util.py"
    assert meaning(project, "b/train.py", "util") == "b/util.py"
    assert meaning(project, "c/run.py", "util") == "util.py"
    assert meaning(project, "c/run.py", "train") is None
    assert meaning(project, "c/run.py", "a.train") == "a/train.py"


def test_modules_of_a_package_that_are_run_as_scripts(files: Files) -> None:
    files({"pyproject.toml": "", "pkg/__init__.py": "", "pkg/run.py": "", "pkg/util.py": ""})
    assert meaning(load(), "pkg/run.py", "util") == "pkg/util.py"


def test_namespace_packages(files: Files) -> None:
    files({"pyproject.toml": "", "src/space/a/m.py": "X = 1", "src/empty/readme.md": "", "run.py": ""})
    project = load()
    found = project.resolve(module(project, "run.py"), "space.a")
    assert found is not None
    assert (found.name, found.text, found.is_package, found.reported) == ("space.a", "", True, False)
    assert project.resolve(found, "m", 1) is module(project, "src/space/a/m.py")
    assert meaning(project, "src/space/a/m.py", "space.a.m") is None  # a module does not import itself
    assert meaning(project, "run.py", "space.a.m") == "src/space/a/m.py"
    assert meaning(project, "run.py", "empty") is None
    assert found not in project.modules


def test_a_package_comes_before_a_module_and_a_module_before_a_stub(files: Files) -> None:
    files(
        {
            "pyproject.toml": "",
            "both/__init__.py": "",
            "both.py": "",
            "typed.py": "",
            "typed.pyi": "",
            "stub.pyi": "",
            "folder/x.py": "",
            "folder.py": "",
            "run.py": "",
        }
    )
    project = load()
    assert meaning(project, "run.py", "both") == "both/__init__.py"
    assert meaning(project, "run.py", "typed") == "typed.py"
    assert meaning(project, "run.py", "stub") == "stub.pyi"
    assert meaning(project, "run.py", "folder") == "folder.py"
    assert meaning(project, "run.py", "folder.x") == "folder/x.py"


def test_files_named_after_libraries_do_not_hide_them(files: Files) -> None:
    files(
        {
            "pyproject.toml": "",
            "examples/jax.py": "",
            "examples/optax/x.py": "",
            "examples/run.py": "",
            "pkg/__init__.py": "",
            "pkg/backends/__init__.py": "",
            "pkg/backends/jax.py": "",
            "pkg/backends/random.py": "",
            "pkg/backends/torch.py": "",
            "flax/__init__.py": "",
            "flax/linen.py": "",
        }
    )
    project = load()
    assert meaning(project, "examples/run.py", "jax") is None
    assert meaning(project, "examples/run.py", "optax") is None
    assert meaning(project, "pkg/backends/torch.py", "jax") is None
    assert meaning(project, "pkg/backends/torch.py", "random") is None
    assert meaning(project, "pkg/backends/torch.py", "jax", 1) == "pkg/backends/jax.py"
    assert meaning(project, "flax/linen.py", "flax") == "flax/__init__.py"


def test_the_standard_library_is_hidden_only_from_scripts(files: Files) -> None:
    files({"pyproject.toml": "", "random.py": "", "pkg/__init__.py": "", "pkg/m.py": "", "run.py": ""})
    project = load()
    assert meaning(project, "run.py", "random") == "random.py"
    assert meaning(project, "pkg/m.py", "random") is None


def test_packages_checked_together_see_each_other(files: Files) -> None:
    files(
        {
            "one/pyproject.toml": "",
            "one/python/lib_one/__init__.py": "",
            "two/pyproject.toml": "",
            "two/python/lib_two/__init__.py": "",
            "two/python/lib_two/m.py": "",
            "three/x/twice/__init__.py": "",
            "three/y/twice/__init__.py": "",
        }
    )
    project = load()
    assert meaning(project, "two/python/lib_two/m.py", "lib_one") == "one/python/lib_one/__init__.py"
    assert meaning(project, "two/python/lib_two/m.py", "twice") is None
    alone = load("two")
    assert meaning(alone, "two/python/lib_two/m.py", "lib_one") is None


def test_installed_packages_do_not_see_each_other(files: Files) -> None:
    files(
        {
            "site-packages/one/__init__.py": "",
            "site-packages/one/m.py": "",
            "site-packages/two.py": "",
            "site-packages/jax/__init__.py": "",
            "site-packages/jax/core.py": "",
        }
    )
    project = load("site-packages")
    assert meaning(project, "site-packages/one/m.py", "one") == "site-packages/one/__init__.py"
    assert meaning(project, "site-packages/one/m.py", "two") is None
    assert meaning(project, "site-packages/one/m.py", "jax.core") is None
    assert meaning(project, "site-packages/two.py", "one") is None
    assert meaning(project, "site-packages/jax/core.py", "jax") == "site-packages/jax/__init__.py"


def test_a_module_of_an_installed_package_may_be_run_as_a_script(files: Files) -> None:
    files(
        {
            "site-packages/one/__init__.py": "",
            "site-packages/one/script.py": "",
            "site-packages/one/helper.py": "",
            "site-packages/one/two.py": "",
            "site-packages/two/__init__.py": "",
        }
    )
    project = load("site-packages")
    assert meaning(project, "site-packages/one/script.py", "helper") == "site-packages/one/helper.py"
    assert meaning(project, "site-packages/one/script.py", "two") is None


def test_where_pip_has_left_its_records_packages_are_installed(files: Files) -> None:
    files({"vendor/one/__init__.py": "", "vendor/two.py": "", "vendor/one-1.0.dist-info/RECORD": ""})
    project = load("vendor")
    assert meaning(project, "vendor/one/__init__.py", "two") is None
    assert meaning(project, "vendor/two.py", "one") is None


def test_src_of_the_configuration(files: Files) -> None:
    files({"jitlint.toml": 'src = ["python"]', "python/ns/m.py": "", "src/other/__init__.py": "", "tests/t.py": ""})
    project = load()
    assert names(project)["python/ns/m.py"] == "ns.m"
    assert meaning(project, "tests/t.py", "ns.m") == "python/ns/m.py"


def test_one_file_sees_its_neighbours_without_reporting_them(files: Files) -> None:
    files({"pyproject.toml": "", "pkg/__init__.py": "", "pkg/a.py": "import jax", "pkg/b.py": "B = 1", "caller.py": ""})
    project = load("pkg/a.py")
    assert [found.display for found in project.modules] == [str(Path("pkg/a.py"))]
    assert meaning(project, "pkg/a.py", "pkg.b") == "pkg/b.py"
    neighbour = module(project, "pkg/b.py")
    assert not neighbour.reported
    assert neighbour.index.statements[0].binds == ("B",)
    assert project.resolve(module(project, "pkg/a.py"), "b", 1) is neighbour
    assert [found.reported for found in project.modules] == [True, False]


def test_a_neighbour_that_does_not_parse_is_no_finding(files: Files) -> None:
    files({"pyproject.toml": "", "a.py": "", "b.py": "def ("})
    project = load("a.py")
    assert meaning(project, "a.py", "b") is None
    assert project.unreadable == ()


def test_nothing_outside_the_project_is_read(files: Files) -> None:
    files({"pkg/pyproject.toml": "", "pkg/a.py": "", "b.py": ""})
    assert meaning(load("pkg/a.py"), "pkg/a.py", "b") is None


def test_a_file_of_no_project(files: Files) -> None:
    files({"a.py": "", "b.py": "", "c/d.py": ""})
    project = load("a.py")
    assert meaning(project, "a.py", "b") == "b.py"


@pytest.mark.parametrize(
    ("data", "row", "column", "message"),
    [
        (b"def (:\n", 1, 5, "invalid syntax"),
        (b"x = 1\ny = '\xff'\n", 2, 6, "not valid utf-8"),
        (b"x = 1\n\n\ny = 'ab\xff'\n", 4, 8, "not valid utf-8"),
        (b"# coding: nonsense\n", 1, 1, "unknown encoding: nonsense"),
        (b"# coding: rot13\n", 1, 1, "rot13"),
        (b"x = '\0'\n", 1, 6, "null byte"),
        (b"x = " + b"(" * 2000 + b")" * 2000, 1, 205, "nested too deeply"),
        (b"#" * (5 * 1024 * 1024 + 1), 1, 1, "larger than 5 MiB"),
    ],
)
def test_what_cannot_be_read_or_parsed(files: Files, data: bytes, row: int, column: int, message: str) -> None:
    files({"good.py": "import jax\n"})
    Path("bad.py").write_bytes(data)
    project = load()
    (fault,) = project.unreadable
    assert (fault.display, fault.row, fault.column, fault.cell) == ("bad.py", row, column, None)
    assert message in fault.message
    assert [found.display for found in project.modules] == ["good.py"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold")
def test_a_file_without_permission(files: Files) -> None:
    files({"bad.py": ""})
    Path("bad.py").chmod(0)
    (fault,) = load("bad.py").unreadable
    assert fault.message == "cannot be read: Permission denied"


def test_a_missing_path_is_unreadable(files: Files) -> None:
    files({"good.py": ""})
    (fault,) = load("good.py", "gone.py").unreadable
    assert (fault.display, fault.message) == ("gone.py", "no such file or directory")


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"\xef\xbb\xbfx = '\xc3\xa9'\r\n", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1"),
        (b"x = '\xc3\xa9'", "utf-8"),
    ],
)
def test_encodings_and_line_ends_survive(files: Files, data: bytes, encoding: str) -> None:
    files({})
    Path("x.py").write_bytes(data)
    (found,) = load().modules
    assert found.encoding == encoding
    assert "'é'" in found.text
    assert not found.text.startswith("\ufeff")
    assert found.text.encode(found.encoding) == data


def test_standard_input_stands_for_a_file(files: Files) -> None:
    files({"pyproject.toml": "", "pkg/__init__.py": "", "pkg/a.py": "OLD = 1", "pkg/b.py": ""})
    project = load_project([], ConfigResolver(), stdin=("pkg/a.py", "\ufeffNEW = 1"))
    (found,) = project.modules
    assert (found.name, found.display, found.text) == ("pkg.a", "pkg/a.py", "NEW = 1")
    assert meaning(project, "pkg/a.py", "b", 1) == "pkg/b.py"
    nowhere = load_project([], ConfigResolver(), stdin=("-", "x = ("))
    assert [(fault.display, fault.row) for fault in nowhere.unreadable] == [("-", 1)]


def test_standard_input_replaces_the_file_that_is_also_checked(files: Files) -> None:
    files({"a.py": "OLD = 1", "b.py": ""})
    project = load_project(["."], ConfigResolver(), stdin=("a.py", "NEW = 1"))
    assert [(found.display, found.text) for found in project.modules] == [("a.py", "NEW = 1"), ("b.py", "")]
    assert {found.name for found in project.modules} == {"a", "b"}


def test_standard_input_under_force_exclude(files: Files) -> None:
    files({"jitlint.toml": 'extend-exclude = ["gen"]\nforce-exclude = true'})
    project = load_project([], ConfigResolver(), stdin=("gen/a.py", "x = ("))
    assert (project.modules, project.unreadable) == ((), ())
    assert [skip.path.name for skip in project.skipped] == ["a.py"]


def test_an_overlay_replaces_texts_of_checked_files_and_neighbours(files: Files, tmp_path: Path) -> None:
    files({"pyproject.toml": "", "a.py": "OLD = 1", "b.py": "OLD = 1"})
    project = load("a.py", overlay={"a.py": "NEW = 1", str(tmp_path / "b.py"): "ALSO_NEW = 1"})
    assert module(project, "a.py").text == "NEW = 1"
    assert meaning(project, "a.py", "b") == "b.py"
    assert module(project, "b.py").index.statements[0].binds == ("ALSO_NEW",)


def test_relative_imports_in_the_index(files: Files) -> None:
    files({"pyproject.toml": "", "p/__init__.py": "from .a import x", "p/a.py": "from . import b\nfrom .c import d"})
    project = load()
    assert module(project, "p/__init__.py").index.imports == {"p.a"}
    assert module(project, "p/a.py").index.imports == {"p", "p.c"}


def test_another_indexer_can_step_in(files: Files) -> None:
    from jitlint.project.index import index_source

    files({"pyproject.toml": "", "p/__init__.py": "", "p/a.py": "X = 1"})
    asked: list[tuple[str, str]] = []

    def indexer(text: str, *, package: str = "") -> object:
        asked.append((text, package))
        return index_source(text, package=package)

    load("p/a.py", indexer=indexer)
    assert asked == [("X = 1", "p")]


def test_the_configuration_of_each_module(files: Files) -> None:
    files({"a.py": "", "sub/jitlint.toml": "max-variants = 3", "sub/b.py": ""})
    project = load()
    assert project.config_for(module(project, "a.py")).max_variants == Config().max_variants
    assert project.config_for(module(project, "sub/b.py")).max_variants == 3


def test_one_configuration_for_all(files: Files) -> None:
    files({"a.py": "", "jitlint.toml": "no TOML"})
    project = load_project(["."], Config())
    assert [found.display for found in project.modules] == ["a.py"]
