"""What is analysed apart cannot influence each other, and what is analysed together is complete."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from jitlint import semantics
from jitlint.plain import to_plain
from jitlint.project.components import Component, components
from jitlint.project.config import Config, ConfigResolver
from jitlint.project.modules import load_project
from jitlint.registry import all_rules

ROOT = Path(__file__).resolve().parents[1]


def lay_out(folder: Path, **texts: str) -> None:
    """Files by dotted name, ``__`` for a dot in it."""
    for name, text in texts.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def split(folder: Path, *paths: str) -> list[tuple[set[str], set[str]]]:
    """Of each component the files reported on, and the others."""
    found = components(load_project([folder / path for path in paths] or [folder], ConfigResolver(isolated=True)))

    def names(modules: tuple[object, ...]) -> set[str]:
        return {Path(module.path).relative_to(folder).as_posix() for module in modules}  # type: ignore[attr-defined]

    return [(names(part.modules), names(part.others)) for part in found]


def test_imports_join_in_both_directions(tmp_path: Path) -> None:
    lay_out(tmp_path, a="import b", b="X = 1", c="import b\nimport d", d="Y = 1", e="Z = 1", f="from e import Z")
    assert split(tmp_path) == [({"a.py", "b.py", "c.py", "d.py"}, set()), ({"e.py", "f.py"}, set())]


def test_what_is_only_read_joins_who_imports_it(tmp_path: Path) -> None:
    lay_out(tmp_path, a="import n", b="import n", n="import m", m="X = 1", c="Y = 1")
    assert split(tmp_path, "a.py", "b.py", "c.py") == [({"a.py", "b.py"}, {"m.py", "n.py"}), ({"c.py"}, set())]


def test_a_package_that_does_nothing_joins_nobody(tmp_path: Path) -> None:
    lay_out(tmp_path, p__a="from p import b", p__b="X = 1", p__c="import p\nY = 1")
    (tmp_path / "p" / "__init__.py").write_text('"""Docs."""\n__version__ = "1"\n')
    together = ({"p/a.py", "p/b.py"}, {"p/__init__.py"})
    assert split(tmp_path) == [({"p/__init__.py"}, set()), together, ({"p/c.py"}, {"p/__init__.py"})]


def test_a_package_that_does_something_joins_its_users(tmp_path: Path) -> None:
    lay_out(tmp_path, p__a="import p", p__b="from . import flag", p__c="Y = 1")
    (tmp_path / "p" / "__init__.py").write_text("flag = False\n")
    assert split(tmp_path) == [({"p/__init__.py", "p/a.py", "p/b.py"}, set()), ({"p/c.py"}, set())]


def test_a_package_that_loads_lazily_joins_its_modules(tmp_path: Path) -> None:
    lay_out(tmp_path, p__a="X = 1", p__b="Y = 1", c="Z = 1")
    (tmp_path / "p" / "__init__.py").write_text("def __getattr__(name):\n    return load(name)\n")
    assert split(tmp_path) == [({"c.py"}, set()), ({"p/__init__.py", "p/a.py", "p/b.py"}, set())]


@pytest.mark.parametrize("call", ["importlib.import_module('b')", 'pytest.importorskip("b")', "__import__( 'b')"])
def test_calls_that_import_join(tmp_path: Path, call: str) -> None:
    lay_out(tmp_path, a=f"import importlib, pytest\nb = {call}\n", b="X = 1")
    assert split(tmp_path) == [({"a.py", "b.py"}, set())]


def test_relative_imports_and_namespaces(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("")
    lay_out(
        tmp_path, p__q__a="from .. import r\nfrom ..r import b\nfrom . import a2\n", p__r__b="X = 1", p__q__a2="Y = 2"
    )
    for name in ("p", "p/q"):
        (tmp_path / name / "__init__.py").write_text("")
    [part] = [part for part in split(tmp_path, "p/q/a.py") if part[0] == {"p/q/a.py"}]
    assert part[1] == {"p/__init__.py", "p/q/__init__.py", "p/q/a2.py", "p/r/__init__.py", "p/r/b.py"}


IMPORTS = """\
import p.q.a
import p.s
from p import r
from p.r import b as other, c
from p.q.a import *
import nothing, p.nothing, numpy
from p import nothing
"""

INSIDE = """\
from . import a2
from .a2 import f
from .. import q, r, nothing
from ..r import b
from ...p import s
from .nothing import g
"""


def test_a_component_resolves_as_the_project_does(tmp_path: Path) -> None:
    """Also after a journey to another process."""
    (tmp_path / "setup.py").write_text("")
    lay_out(tmp_path, main=IMPORTS, p__q__a=INSIDE, p__q__a2="f = 1", p__r__b="X = 1", p__s="import p\n")
    lay_out(tmp_path, p__s__inner="X = 1")  # the folder `s` is beside the module `s`
    for name in ("p", "p/q"):
        (tmp_path / name / "__init__.py").write_text("")
    project = load_project([tmp_path / "main.py"], ConfigResolver(isolated=True))
    [part] = components(project)
    sent: Component = pickle.loads(pickle.dumps(part))
    asked = 0
    for component in (part, sent):
        for module in (*component.modules, *component.others):
            for dotted, level in module.index.requests:
                known = next((m for m in (*part.modules, *part.others) if m.path == module.path), module)
                expected = project.resolve(known, dotted, level)
                found = component.resolve(module, dotted, level)
                assert (found and found.path) == (expected and expected.path), (module.display, dotted, level)
                asked += found is not None
    assert asked >= 30


def texts(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.py")) if ".fixed" not in str(path)]


def test_the_order_of_modules_decides_nothing() -> None:
    """The engine itself, given the modules of all fixtures of one folder in any order."""
    project = load_project(texts(ROOT / "fixtures" / "engine"), Config())
    found = []
    for seed in (None, 1, 2):
        modules = [module for module in project.modules if module.reported]
        if seed is not None:
            random.Random(seed).shuffle(modules)
        shuffled = Component(tuple(modules), (), {})
        plain = [to_plain(each) for each in semantics.analyse(shuffled, Config(), all_rules())]
        found.append(sorted(plain, key=str))
    assert found[0]
    assert found[0] == found[1] == found[2]
