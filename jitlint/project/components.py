"""The parts of a project that cannot influence each other.

What is found in a module depends on the modules it imports, and on those that import it: they call its functions and
change its state. Modules that no chain of imports joins, in whichever direction, can be analysed apart: in another
process, or not at all where nothing has changed since the last time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jitlint.project.model import Module, Skipped, Unreadable
from jitlint.project.modules import SourceProject

_PACKAGE_FILES = ("/__init__.py", "/__init__.pyi")
_MODULE_FILES = (*_PACKAGE_FILES, ".py", ".pyi")
"""What a dotted name can be, in the order in which Python looks."""


@dataclass(frozen=True)
class Component:
    """One part of a project, complete in itself: plain data that reads no file. Implements ``model.Project``."""

    modules: tuple[Module, ...]
    """Those to report on, sorted by display path."""
    others: tuple[Module, ...]
    """Those that they import, sorted by path. One that does nothing may be in several components."""
    found: Mapping[tuple[str, str], str]
    """What absolute imports mean: the path of the module, by directory of the importer and dotted name."""
    unreadable: tuple[Unreadable, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def size(self) -> int:
        """Characters of source in it, as a measure of the work."""
        return sum(len(module.text) for module in (*self.modules, *self.others))

    @property
    def concerns_jax(self) -> bool:
        """Whether there can be anything to find."""
        return any(module.index.mentions_jax for module in self.modules)

    @cached_property
    def _by_path(self) -> dict[str, Module]:
        return {str(module.path): module for module in (*self.others, *self.modules)}

    def resolve(self, importer: Module, dotted: str, level: int = 0) -> Module | None:
        """As :meth:`jitlint.project.model.Project.resolve`, among what is in the component."""
        if level == 0:
            path = self.found.get((str(importer.path.parent), dotted))
            found = None if path is None else self._by_path.get(path)
            return None if found is importer and not importer.is_package else found
        above = importer.path.parents
        base = above[min(level, len(above)) - 1]
        parts = [part for part in dotted.split(".") if part]
        places = (str(Path(base, *parts)) + end for end in (_MODULE_FILES if parts else _PACKAGE_FILES))
        return next((self._by_path[place] for place in places if place in self._by_path), None)

    def only(self, module: Module) -> Component:
        """The component with nothing but ``module`` to report on, and to run for its own sake."""
        rest = (other for other in self.modules if other is not module)
        return Component((module,), (*self.others, *rest), self.found)


def components(project: SourceProject) -> list[Component]:
    """The components of a project, in the order of the first module of each that is reported on.

    Reads the modules that are imported, directly or through others. The result is the same in whatever order the files
    were given. Raises ``ConfigError``.
    """
    return _Search(project).components()


class _Search:
    """Follows the imports, and joins what they connect."""

    def __init__(self, project: SourceProject) -> None:
        self._project = project
        self._modules: dict[str, Module] = {}
        self._parents: dict[str, str] = {}
        """Of each module another one in its component; the root of a component is its own."""
        self._imported: dict[str, dict[str, Module]] = {}
        self._found: dict[str, dict[tuple[str, str], str]] = {}

    def components(self) -> list[Component]:
        reported = [module for module in self._project.modules if module.reported]
        todo = [*reversed(reported)]
        while todo:
            module = todo.pop()
            path = str(module.path)
            if path in self._imported:
                continue
            self._modules[path] = module
            self._parents.setdefault(path, path)
            targets = self._imported[path] = self._targets(module)
            for target in targets.values():
                if not target.index.is_inert:
                    self._join(path, str(target.path))
            todo += reversed(targets.values())
        groups: dict[str, list[Module]] = {}
        for module in reported:
            groups.setdefault(self._root(str(module.path)), []).append(module)
        members: dict[str, list[str]] = {root: [] for root in groups}
        for path in self._modules:
            members.get(self._root(path), []).append(path)
        return [self._component(modules, members[root]) for root, modules in groups.items()]

    def _component(self, reported: list[Module], members: list[str]) -> Component:
        inside = {path: self._modules[path] for path in members}
        inside |= {path: target for member in members for path, target in self._imported[member].items()}
        others = set(inside).difference(str(module.path) for module in reported)
        found = {key: path for member in members for key, path in self._found[member].items()}
        return Component(tuple(reported), tuple(inside[path] for path in sorted(others)), found)

    def _targets(self, module: Module) -> dict[str, Module]:
        """The modules that ``module`` can import, by path."""
        directory = os.path.dirname(str(module.path))  # noqa: PTH120 - a path would be made for every import
        found = self._found[str(module.path)] = {}
        targets: dict[str, Module] = {}
        for dotted, level in sorted(module.index.requests):
            target = self._project.resolve(module, dotted, level)
            if target is not None:
                path = str(target.path)
                targets[path] = target
                if level == 0:
                    found[directory, dotted] = path
        targets |= {str(member.path): member for member in self._lazily_loaded(module)}
        targets.pop(str(module.path), None)
        return targets

    def _lazily_loaded(self, module: Module) -> Iterator[Module]:
        if module.is_package and module.index.loads_lazily:
            for name in self._project.submodules(module):
                member = self._project.resolve(module, name, 1)
                if member is not None:
                    yield member

    def _root(self, path: str) -> str:
        while (above := self._parents[path]) != path:
            self._parents[path] = path = self._parents[above]
        return path

    def _join(self, path: str, other: str) -> None:
        self._parents.setdefault(other, other)
        self._parents[self._root(other)] = self._root(path)
