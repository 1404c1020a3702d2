"""How a project's directories make packages: roots, names of modules, and where a dotted name is on the disk."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from jitlint.project.config import Config

PROJECT_MARKERS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg"})
"""What makes a directory the root of a project."""

_PACKAGE_FILES = ("__init__.py", "__init__.pyi")

_INSTALLATIONS = frozenset({"site-packages", "dist-packages"})
"""What Python and its distributors name the directory that libraries are installed in."""


class Layout:
    """Answers from directory listings, each read once; so one is made per run."""

    def __init__(self) -> None:
        self._listing = cache(_listing)
        self.project_root = cache(self._project_root)
        self.installation = cache(self._installation)
        self.package_parent = cache(self._package_parent)

    def is_regular_package(self, directory: Path) -> bool:
        """Whether ``directory`` has an ``__init__`` file."""
        listing = self._listing(directory)
        return any(name in listing for name in _PACKAGE_FILES)

    def members(self, directory: Path) -> list[str]:
        """The names of the modules and packages directly in ``directory``, sorted."""
        listing = self._listing(directory)
        stems = {
            name.partition(".")[0] for name, is_directory in listing.items() if not is_directory and _is_module(name)
        }
        packages = {name for name, is_directory in listing.items() if is_directory and name.isidentifier()}
        return sorted((stems | packages) - {"__init__", "__pycache__"})

    def _project_root(self, directory: Path) -> Path:
        """The nearest directory upward that looks like the root of a project; else the one we are in, when that is
        upward, or the outermost package's parent."""
        for candidate in (directory, *directory.parents):
            if PROJECT_MARKERS & self._listing(candidate).keys():
                return candidate
        here = Path.cwd()
        return here if directory.is_relative_to(here) else self.package_parent(directory)

    def _package_parent(self, directory: Path) -> Path:
        """The directory that holds the outermost package around ``directory``; itself where there is none.

        A directory without ``__init__`` directly inside a package belongs to it.
        """
        if not self.is_regular_package(directory):
            if not self.is_regular_package(directory.parent):
                return directory
            directory = directory.parent
        while self.is_regular_package(directory) and directory.parent != directory:
            directory = directory.parent
        return directory

    def _installation(self, directory: Path) -> Path | None:
        """The directory of installed libraries that ``directory`` is in or is itself; None where it is in none."""
        return next((each for each in (directory, *directory.parents) if self._is_installation(each)), None)

    def _is_installation(self, directory: Path) -> bool:
        """By its name, or since ``pip install --target`` has left its records there."""
        return directory.name in _INSTALLATIONS or any(
            name.endswith(".dist-info") and is_directory for name, is_directory in self._listing(directory).items()
        )

    def source_roots(self, directory: Path, config: Config) -> tuple[Path, ...]:
        """The directories that absolute imports of code in ``directory`` start from: ``src`` of the configuration."""
        if config.src is not None:
            return config.src
        root = self.project_root(directory)
        return (root / "src", root)

    def name_of(self, path: Path, config: Config) -> tuple[str, bool]:
        """The dotted name of the module at ``path``, and whether it is a package."""
        is_package = path.name in _PACKAGE_FILES
        parts = path.with_suffix("").parts[:-1] if is_package else path.with_suffix("").parts
        directory = path.parent
        base = self.package_parent(directory)
        root = self.project_root(directory)
        for source_root in self.source_roots(directory, config):
            # Below a source directory a folder without __init__ is a namespace package; elsewhere it holds scripts.
            if source_root != root and base.is_relative_to(source_root):
                base = source_root
                break
        return ".".join(parts[len(base.parts) :]) or path.stem, is_package

    def find(self, base: Path, parts: tuple[str, ...]) -> Path | None:
        """The file that defines the dotted name ``parts`` below ``base``; for a namespace package its directory.

        As in Python a package comes before a module; ``.py`` comes before ``.pyi``.
        """
        directory = base
        for place, part in enumerate(parts):
            listing = self._listing(directory)
            is_last = place == len(parts) - 1
            inner = directory / part
            if listing.get(part) and (not is_last or self.is_regular_package(inner)):
                directory = inner
                continue
            if not is_last:
                return None
            for suffix in (".py", ".pyi"):
                if listing.get(part + suffix) is False:
                    return directory / (part + suffix)
            return inner if listing.get(part) and self._holds_modules(inner) else None
        for name in _PACKAGE_FILES:
            if self._listing(directory).get(name) is False:
                return directory / name
        return directory if self._holds_modules(directory) else None

    def _holds_modules(self, directory: Path) -> bool:
        listing = self._listing(directory)
        return any(name.endswith(".py") and not is_directory for name, is_directory in listing.items()) or any(
            is_directory and self.is_regular_package(directory / name) for name, is_directory in listing.items()
        )


def _is_module(name: str) -> bool:
    return name.endswith((".py", ".pyi"))


def _listing(directory: Path) -> dict[str, bool]:
    """The names in ``directory`` and whether each is a directory; empty where it cannot be read."""
    try:
        with os.scandir(directory) as entries:
            return {entry.name: entry.is_dir() for entry in entries}
    except OSError:
        return {}
