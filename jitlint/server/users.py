"""Who uses a module: the files whose calls decide what is traced in it.

The files of a workspace are read once, and again when they change. Only those that spell the name of a module are
looked at more closely, so that a large workspace costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jitlint.project.config import ConfigResolver
from jitlint.project.discovery import discover
from jitlint.project.index import Unparsable
from jitlint.project.model import Module
from jitlint.project.modules import Indexer, SourceProject
from jitlint.project.sources import read_source

MAX_USERS = 200_000
"""Characters: of the files that use a module, the nearest ones up to this size count, some 5,000 lines."""


@dataclass(frozen=True, slots=True)
class _File:
    stamp: tuple[int, int]
    text: str


class Users:
    """The Python files of one folder, and who among them uses whom."""

    def __init__(self, root: Path, indexer: Indexer) -> None:
        self._root = root
        self._indexer = indexer
        self._files: dict[Path, _File] = {}
        self.stale = True
        """Whether files may have come, gone or changed since :meth:`refresh`."""

    def refresh(self, resolver: ConfigResolver) -> None:
        """Look at the files of the folder again. Raises ConfigError, and then they stay as they were."""
        found = discover([self._root], resolver).files
        self._files = {path: file for path in found if path.suffix == ".py" and (file := self._read(path)) is not None}
        self.stale = False

    def _read(self, path: Path) -> _File | None:
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            known = self._files.get(path)
            return known if known is not None and known.stamp == stamp else _File(stamp, read_source(path).text)
        except (OSError, Unparsable):
            return None

    def of(self, path: Path, texts: Mapping[str, str], resolver: ConfigResolver) -> list[Path]:
        """The files that use the module at ``path``, directly or through others, the nearest first.

        ``texts`` are those that the editor has, by absolute path; they count before those on disk. Raises ConfigError.
        """
        current = {name: file.text for name, file in self._files.items()}
        current |= {Path(name): text for name, text in texts.items() if Path(name) in current}
        chosen: list[Path] = []
        size = 0
        for user in _Search(current, SourceProject(resolver, texts, self._indexer)).users(path):
            size += len(current[user])
            if size > MAX_USERS:
                break
            chosen.append(user)
        return chosen


class _Search:
    """One search, outward from a module: those that import it, then those that import these."""

    def __init__(self, texts: Mapping[Path, str], project: SourceProject) -> None:
        self._texts = texts
        self._project = project

    def users(self, path: Path) -> Iterator[Path]:
        """The users of the module at ``path``, ring by ring."""
        seen = {path}
        names = self._names(path)
        ring = [path]
        while ring:
            found = {user for module in ring for user in self._importers(module, names)}
            ring = sorted(found - seen, key=lambda user: (_is_test(user), user))
            seen |= found
            for user in ring:
                names |= self._names(user)
            yield from ring

    def _importers(self, path: Path, names: set[str]) -> Iterator[Path]:
        """The files that import the module at ``path``.

        A package hands on what its modules define: who imports it counts only if it speaks of one of ``names``.
        """
        is_package = path.stem == "__init__"
        stem = path.parent.name if is_package else path.stem
        spelled = re.compile(rf"\b{re.escape(stem)}\b")
        for other, text in self._texts.items():
            near = is_package and other.is_relative_to(path.parent) and "from ." in text
            if other == path or not (near or (stem in text and spelled.search(text))):
                continue
            module = self._project.add_neighbour(other)
            if module is None:
                continue
            mentions = frozenset[str]().union(*(statement.mentions for statement in module.index.statements))
            if self._imports(module, path, stem, mentions) and not (is_package and names.isdisjoint(mentions)):
                yield other

    def _imports(self, module: Module, path: Path, stem: str, mentions: frozenset[str]) -> bool:
        for dotted in module.index.imports:
            # ``from package import stem`` is indexed as an import of the package.
            wanted = dotted if dotted.rpartition(".")[2] == stem else f"{dotted}.{stem}" if stem in mentions else None
            if wanted is not None:
                found = self._project.resolve(module, wanted)
                if found is not None and found.path == path:
                    return True
        return False

    def _names(self, path: Path) -> set[str]:
        """The names that the module at ``path`` defines."""
        module = self._project.add_neighbour(path)
        if module is None:
            return set()
        return {name for statement in module.index.statements if statement.kind != "import" for name in statement.binds}


def _is_test(path: Path) -> bool:
    """Whether a file looks like a test: tests run much and say little of how a module is meant to be used."""
    return path.stem.startswith("test_") or path.stem.endswith("_test") or "tests" in path.parts
