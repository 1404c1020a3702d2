"""Which files to check: found as Ruff finds them.

Files that are named are checked whatever the excludes say (unless ``force-exclude``); directories are searched for
``.py``, ``.pyi`` and ``.ipynb`` files, without what ``exclude`` and the ``.gitignore`` files leave out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from jitlint.project.config import Config, ConfigResolver
from jitlint.project.model import Skipped, Unreadable
from jitlint.project.options import Glob

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi", ".ipynb")

_IGNORE_FILES = (".gitignore", ".ignore")


@dataclass(slots=True)
class Discovery:
    """What was found, in the order of paths, each file once."""

    files: list[Path] = field(default_factory=list)
    missing: list[Unreadable] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def discover(paths: Iterable[Path | str], config: Config | ConfigResolver) -> Discovery:
    """The files to check for ``paths`` (files and directories, relative to the current directory).

    ``config`` is one configuration for all, or a resolver that finds the nearest for each directory. Paths that do
    not exist come back as ``missing``. Raises ``ConfigError`` when a configuration on the way cannot be used.
    """
    search = _Search(config)
    for given in paths:
        search.add(absolute_path(given))
    return search.result()


def is_excluded(path: Path, config: Config) -> bool:
    """Whether ``exclude`` or ``extend-exclude`` of ``config`` leave out the absolute ``path`` or a directory above."""
    excludes = (*config.exclude, *config.extend_exclude)
    return any(_excluded(part, excludes) for part in (path, *path.parents) if part != part.parent)


def absolute_path(path: Path | str) -> Path:
    """``path`` from the root of the file system, without ``..``, links kept."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `Path.resolve` would follow links


def display_path(path: Path) -> str:
    """The absolute ``path`` as users see it: relative to the current directory where it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


class GlobSet:
    """Patterns in the style of ``.gitignore``, each relative to the directory of the file it stands in."""

    def __init__(self, globs: Iterable[Glob]) -> None:
        by_base: dict[Path | None, list[str]] = {}
        for glob in globs:
            by_base.setdefault(glob.base, []).append(_relative_pattern(glob))
        self._specs = [(base, _spec(tuple(patterns))) for base, patterns in by_base.items()]

    def matches(self, path: Path, *, is_directory: bool = False) -> bool:
        """Whether a pattern matches the absolute ``path`` itself."""
        return any(_decision(spec, base, path, is_directory) is True for base, spec in self._specs)


def _relative_pattern(glob: Glob) -> str:
    """``.gitignore`` knows no absolute patterns and no ``./``; users of Ruff write both."""
    pattern = glob.pattern
    if glob.base is not None:
        pattern = pattern.removeprefix(glob.base.as_posix())
    return pattern[1:] if pattern.startswith("./") else pattern


@lru_cache(maxsize=256)
def _globset(globs: tuple[Glob, ...]) -> GlobSet:
    return GlobSet(globs)


def _excluded(path: Path, excludes: tuple[Glob, ...]) -> bool:
    return _globset(excludes).matches(path, is_directory=path.is_dir())


@lru_cache(maxsize=1024)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


def _decision(spec: GitIgnoreSpec, base: Path | None, path: Path, is_directory: bool) -> bool | None:
    """True: ignored; False: expressly not (``!pattern``); None: the patterns say nothing of it."""
    if base is None:
        relative = path.name
    else:
        try:
            relative = path.relative_to(base).as_posix()
        except ValueError:
            return None
        if relative == ".":
            return None
    return spec.check_file(relative + "/" if is_directory else relative).include


class _Search:
    def __init__(self, config: Config | ConfigResolver) -> None:
        self._config = config
        self._files: dict[Path, Path] = {}
        """By real path, so that a file with several names is found once."""
        self._found = Discovery()

    def _config_for(self, directory: Path) -> Config:
        return self._config if isinstance(self._config, Config) else self._config.for_directory(directory)

    def result(self) -> Discovery:
        """Everything that was found so far, in the order of paths."""
        self._found.files = sorted(self._files.values(), key=lambda path: path.parts)
        self._found.skipped.sort(key=lambda skipped: skipped.path.parts)
        return self._found

    def add(self, path: Path) -> None:
        """Add a path that the user named."""
        config = self._config_for(path if path.is_dir() else path.parent)
        if config.force_exclude and is_excluded(path, config):
            self._skip(path, "excluded by the configuration (force-exclude)")
        elif path.is_dir():
            ignores = list(_ignores_above(path)) if config.respect_gitignore else []
            self._walk(path, ignores)
        elif path.exists():
            self._add_file(path)
        else:
            fault = "no such file or directory" if not path.is_symlink() else "a link to nothing, or to itself"
            self._found.missing.append(Unreadable(path, display_path(path), 1, 1, fault))

    def _add_file(self, path: Path) -> None:
        real = path.resolve()
        known = self._files.get(real)
        if known is None or (known.is_symlink() and not path.is_symlink()):
            self._files[real] = path

    def _skip(self, path: Path, reason: str) -> None:
        self._found.skipped.append(Skipped(path, reason))

    def _walk(self, top: Path, ignores: list[tuple[Path, GitIgnoreSpec]]) -> None:
        """Search below ``top``. Links to directories are not followed, as git does not, so that there are no loops."""
        stack = [(top, ignores)]
        while stack:
            directory, above = stack.pop()
            config = self._config_for(directory)
            excludes = (*config.exclude, *config.extend_exclude)
            here = above
            if config.respect_gitignore:
                here = [*above, *_ignore_files(directory)]
            try:
                with os.scandir(directory) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._found.missing.append(
                    Unreadable(directory, display_path(directory), 1, 1, f"cannot be read: {error.strerror or error}")
                )
                continue
            for entry in listed:
                is_directory = entry.is_dir(follow_symlinks=False)
                if not is_directory and not entry.name.endswith(SUFFIXES):
                    continue
                path = directory / entry.name
                if _globset(excludes).matches(path, is_directory=is_directory):
                    self._skip(path, "excluded by the configuration")
                elif here and _is_ignored(path, is_directory, here):
                    self._skip(path, "ignored by git")
                elif is_directory:
                    stack.append((path, here))
                elif not path.is_file():
                    self._skip(path, "not a file, or a link to nothing")
                else:
                    self._add_file(path)


def _is_ignored(path: Path, is_directory: bool, ignores: list[tuple[Path, GitIgnoreSpec]]) -> bool:
    """What the innermost file that says anything of ``path`` decides."""
    for base, spec in reversed(ignores):
        decision = _decision(spec, base, path, is_directory)
        if decision is not None:
            return decision
    return False


def _ignore_files(directory: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
    for name in _IGNORE_FILES:
        spec = _read_ignore_file(directory / name)
        if spec is not None:
            yield directory, spec


def _ignores_above(directory: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
    """The ignore files of the repository that ``directory`` is in, outermost first, without those in it."""
    parents = list(directory.parents)
    top = next((index for index, parent in enumerate([directory, *parents]) if (parent / ".git").exists()), None)
    if top is None:
        return
    root = [directory, *parents][top]
    if (spec := _read_ignore_file(root / ".git" / "info" / "exclude")) is not None:
        yield root, spec
    for parent in reversed(parents[:top]):
        yield from _ignore_files(parent)


def _read_ignore_file(path: Path) -> GitIgnoreSpec | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    patterns = tuple(line for line in lines if line.strip() and not line.startswith("#"))
    return _spec(patterns) if patterns else None
