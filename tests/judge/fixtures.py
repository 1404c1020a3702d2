"""Where the fixtures are: a file, or a folder with a ``main.py`` and the modules it imports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
SAFE, UNSAFE = ".fixed", ".fixed-unsafe"


@dataclass(frozen=True, slots=True)
class Fixture:
    """One program: ``main`` is run, ``files`` (main included) may carry marks."""

    path: Path
    """The file, or the folder that holds ``main.py``."""

    @property
    def id(self) -> str:
        """Its path below ``fixtures/``, as test id."""
        return self.path.relative_to(FIXTURES).as_posix() if FIXTURES in self.path.parents else self.path.name

    @property
    def main(self) -> Path:
        """The file that is run."""
        return self.path / "main.py" if self.path.is_dir() else self.path

    @property
    def files(self) -> tuple[Path, ...]:
        """All its Python files, sorted."""
        return tuple(sorted(self.path.rglob("*.py"))) if self.path.is_dir() else (self.path,)

    @property
    def code(self) -> str:
        """The rule it belongs to: the name of the folder it lies in."""
        return self.path.parent.name

    @property
    def is_good(self) -> bool:
        """A good twin (or a repaired program): JAX must run it, no finding is allowed but what marks say."""
        return self.path.name.startswith("good_") or self.is_fixed

    @property
    def is_fixed(self) -> bool:
        """What ``--fix`` must make of another fixture."""
        return SAFE in self.path.name

    def fixed(self, level: str) -> Path | None:
        """The expected result of the fixes of a level (``SAFE`` or ``UNSAFE``), if there is one."""
        twin = self.path.with_name(f"{self.path.stem}{level}{self.path.suffix}")
        return twin if twin.exists() and not self.is_fixed else None


def rule_fixtures(code: str = "*") -> Iterator[Fixture]:
    """The fixtures of a rule, or of all, sorted."""
    for folder in sorted((FIXTURES / "rules").glob(code)):
        yield from _in(folder)


def engine_fixtures() -> Iterator[Fixture]:
    """The fixtures with ``reveal`` marks, sorted."""
    yield from _in(FIXTURES / "engine")


def _in(folder: Path) -> Iterator[Fixture]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix == ".py" or (path / "main.py").exists():
            yield Fixture(path)
