"""What earlier runs found out, on disk: by the content it came from, never by its time.

The folder holds plain JSON, so one that came with a repository can run nothing. Each entry is a file of its own that is
written whole or not at all; several runs can read and write at once. What is damaged, or is not what its name says, is
as if it were not there. Nothing here makes a run fail: a folder that cannot be written is not used.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from jitlint import __version__

FOLDER = ".jitlint_cache"
VARIABLE = "JITLINT_CACHE_DIR"

MAX_BYTES = 200 * 1024 * 1024
"""Of all entries together; beyond it the oldest go."""

_KEPT_SHARE = 0.8
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# This folder is a cache of jitlint. `jitlint clean` deletes it.
"""
_ROOT_MARKERS = (".git", ".hg", "pyproject.toml", "jitlint.toml", ".jitlint.toml")

# Whatever an entry can depend on besides its key: the source of everything that analyses.
_ENGINE = ("api.py", "check.py", "findings.py", "plain.py", "work.py", "fix", "knowledge", "project", "semantics")


def default_folder(directory: Path) -> Path:
    """Where the cache of the project around ``directory`` is: in the nearest folder upward that looks like its root."""
    for above in (directory, *directory.parents):
        if any((above / name).exists() for name in _ROOT_MARKERS):
            return above / FOLDER
    return directory / FOLDER


def digest(*parts: str | bytes) -> str:
    """A name for content: different for different parts, and the same everywhere."""
    hasher = blake2b(digest_size=20)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        hasher.update(b"%d:" % len(data))
        hasher.update(data)
    return hasher.hexdigest()


@cache
def engine_digest() -> str:
    """A name for the program itself: of this version of Python, of libcst, and of the source of the analysis."""
    package = Path(__file__).parent
    sources: list[Path] = []
    for name in _ENGINE:
        place = package / name
        sources += [place] if place.suffix else _sources(place)
    rules = package / "rules"
    sources += _sources(rules if rules.is_dir() else package.parent / "rules")
    python = "{}.{}".format(*sys.version_info)
    return digest(__version__, python, _libcst_version(), *(source.read_bytes() for source in sorted(sources)))


def _sources(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".py", ".toml")]


def _libcst_version() -> str:
    """Without importing it: the folder that its installer left names the version."""
    for entry in sys.path:
        with contextlib.suppress(OSError):
            for found in Path(entry).glob("libcst-*.dist-info"):
                return found.name
    return ""


class Cache:
    """Entries by kind and key in one folder."""

    def __init__(self, folder: Path) -> None:
        """Nothing is read or written yet."""
        self._top = folder
        self._folder = folder / __version__
        self._ready = False
        self._wrote = 0
        self.trouble: str | None = None
        """Why nothing is kept, if so."""

    @property
    def folder(self) -> Path:
        """The folder, as it was given."""
        return self._top

    def get(self, kind: str, key: str) -> Any:
        """The plain data that was put there; None if there is none."""
        try:
            data = self._path(kind, key).read_bytes()
        except OSError:
            return None
        check, _, content = data.partition(b"\n")
        if check.decode("ascii", "replace") != digest(kind, key, content):
            return None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return None

    def put(self, kind: str, key: str, value: object) -> None:
        """Keep plain data; where that is impossible, :attr:`trouble` says why from then on."""
        if self.trouble is not None:
            return
        content = json.dumps(value, separators=(",", ":")).encode("ascii")
        path = self._path(kind, key)
        try:
            self._prepare()
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(digest(kind, key, content).encode("ascii") + b"\n" + content)
                os.replace(name, path)  # noqa: PTH105 - it is hot
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            self.trouble = f"{self._top} cannot be written: {error.strerror or error}"
        else:
            self._wrote += 1

    def tidy(self) -> None:
        """Drop the oldest entries, those of other versions too, if there are too many. To be called after a run."""
        if not self._wrote:
            return
        entries = sorted(_entries(self._top))
        total = sum(size for _, size, _ in entries)
        if total <= MAX_BYTES:
            return
        for _, size, path in entries:
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - a path would be made for each
            total -= size
            if total <= MAX_BYTES * _KEPT_SHARE:
                break

    def clean(self) -> bool:
        """Delete the folder, if it is there and a cache of jitlint. Raises OSError, ValueError for any other folder."""
        if not self._top.is_dir():
            return False
        if not self._is_ours():
            raise ValueError(f"{self._top} is no cache of jitlint: it has no {_TAG}")
        shutil.rmtree(self._top)
        return True

    def _path(self, kind: str, key: str) -> Path:
        return self._folder / kind / key[:2] / f"{key[2:]}.json"

    def _prepare(self) -> None:
        """Make the folder, with what keeps it out of repositories and backups."""
        if self._ready:
            return
        self._top.mkdir(parents=True, exist_ok=True)
        if not self._is_ours():
            raise OSError(errno.ENOTEMPTY, f"it is no cache of jitlint, and not empty either (it has no {_TAG})")
        for name, text in ((_TAG, _TAG_TEXT), (".gitignore", "*\n")):
            if not (self._top / name).exists():
                (self._top / name).write_text(text, encoding="ascii")
        self._ready = True

    def _is_ours(self) -> bool:
        return (self._top / _TAG).is_file() or not any(self._top.iterdir())


def _entries(folder: Path) -> Iterable[tuple[float, int, str]]:
    """Age, size and path of every entry."""
    stack = [str(folder)]
    while stack:
        with contextlib.suppress(OSError), os.scandir(stack.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    stack.append(entry.path)
                elif entry.name.endswith(".json") or entry.name.startswith(".new-"):
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, entry.path
