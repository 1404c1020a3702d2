"""The pinned packages: reading the list, and bringing their sources into a folder.

Wheels are downloaded with pip, which never builds one, held against their hash, and unpacked.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

LIST = Path(__file__).with_name("packages.toml")

Kind = Literal["library", "application"]

_READ = {".py", ".ipynb"}
"""What is unpacked: what jitlint reads, and nothing else."""

_MARK = ".sha256"
"""In an unpacked package: the hash of the wheel it came from."""


class PackageError(Exception):
    """A package cannot be had, or is not the one that was pinned."""


@dataclass(frozen=True)
class Package:
    """One wheel of the registry. ``name`` is as the registry spells it, ``wheel`` the name of the file."""

    name: str
    version: str
    wheel: str
    sha256: str
    kind: Kind = "library"

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.name}: kind is one of {', '.join(get_args(Kind))}, not {self.kind}")

    @property
    def folder(self) -> str:
        """The name of the folder of its sources."""
        return self.name.replace("-", "_").lower()

    def download_command(self, target: Path) -> list[str]:
        """The pip command that brings the wheel into ``target``, on whatever machine it is run."""
        python, abi, platform = self.wheel.removesuffix(".whl").split("-")[-3:]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--dest", str(target), "--ignore-requires-python", "--disable-pip-version-check"]
        if platform != "any":
            command += ["--implementation", python[:2], "--python-version", python[2:], "--abi", abi]
            command += [f"--platform={name}" for name in platform.split(".")]
        return [*command, f"{self.name}=={self.version}"]


def load(path: Path = LIST) -> list[Package]:
    """The packages of a list; raises TypeError for a field that is missing or not known, ValueError for a wrong kind."""
    return [Package(**table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["package"]]


def sources(package: Package, cache: Path, unpacked: Sequence[Path] = ()) -> Path:
    """The folder with the sources of a package: out of ``unpacked`` or of the cache, or downloaded into it.

    A folder of ``unpacked`` has one subfolder for each package, with what the wheel has (its ``.dist-info`` tells the
    version). Raises PackageError.
    """
    for folder in unpacked:
        here = folder / package.folder
        if _is_unpacked(package, here):
            return here
    target = cache / f"{package.folder}-{package.version}"
    mark = target / _MARK
    if mark.is_file() and mark.read_text(encoding="ascii") == package.sha256:
        return target
    wheel = cache / package.wheel
    if not wheel.is_file():
        _download(package, wheel)
    if (found := hashlib.sha256(wheel.read_bytes()).hexdigest()) != package.sha256:
        raise PackageError(f"{wheel} has the hash {found}, not {package.sha256}: delete it to download it again")
    unpack(wheel, target)
    mark.write_text(package.sha256, encoding="ascii")
    return target


def _is_unpacked(package: Package, folder: Path) -> bool:
    """Is the wheel of that very version unpacked there?"""
    names = {path.name.lower() for path in folder.glob("*.dist-info")}
    return f"{package.folder}-{package.version}.dist-info" in names


def _download(package: Package, wheel: Path) -> None:
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wheel.parent) as name:
        run = subprocess.run(package.download_command(Path(name)), capture_output=True, text=True, check=False)
        got = Path(name, wheel.name)
        if run.returncode or not got.is_file():
            found = ", ".join(path.name for path in Path(name).iterdir()) or run.stderr.strip()[-300:]
            raise PackageError(f"pip did not bring {wheel.name}: {found or 'nothing came'}")
        got.replace(wheel)


def unpack(wheel: Path, target: Path) -> None:
    """Write what jitlint reads of a wheel to ``target``, which is made anew. Raises PackageError for what would be
    written elsewhere, and for what is no wheel."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                name = PurePosixPath(info.filename)
                if info.is_dir() or name.suffix not in _READ:
                    continue
                if name.is_absolute() or ".." in name.parts or "\\" in info.filename or ":" in info.filename:
                    raise PackageError(f"{wheel.name} has a file that is named {info.filename}")
                place = target.joinpath(*name.parts)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(info))
    except zipfile.BadZipFile as error:
        raise PackageError(f"{wheel}: {error}") from error
