"""What the rest of jitlint sees of the files under analysis.

A :class:`Project` holds every module that can be read (the ones to report on and the ones they import), each with
an index made at about the cost of ``ast.parse``; libcst trees are made by the analysis, one top-level statement at a
time, and only where traced code or a jit site needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jitlint.project.notebook import Notebook


@dataclass(frozen=True, slots=True)
class TopStatement:
    """A top-level statement (or several that share a line), as text that ``libcst.parse_statement`` takes.

    ``first_row`` is the row of its first decorator or token, ``last_row`` that of its last; ``text`` is those whole
    rows, with the trailing newline. ``kind`` is ``def``, ``class``, ``import`` or ``other``. ``binds`` are the names
    it binds at module level (also inside ``if``/``try``/``for``/``with``), ``mentions`` every identifier and
    attribute name it reads (nested bodies included), each once.
    """

    first_row: int
    last_row: int
    text: str
    kind: str
    binds: tuple[str, ...]
    mentions: tuple[str, ...]


@dataclass(frozen=True)
class ModuleIndex:
    """The top-level statements of a module, in order, and what the text gates need."""

    statements: tuple[TopStatement, ...]
    imports: frozenset[str]
    """Dotted names of the modules it imports anywhere (absolute as written; relative ones resolved)."""
    mentions_jax: bool
    requests: frozenset[tuple[str, int]] = frozenset()
    """What to ask :meth:`Project.resolve` for to find every module that it can import: dotted names and levels.

    ``from a import b`` asks for ``a`` and ``a.b``, ``import a.b`` for ``a.b`` and ``a``."""

    @cached_property
    def is_inert(self) -> bool:
        """Whether running it does nothing that another module could see: at most it names itself (``__version__``)."""
        return not self.imports and not any(
            statement.mentions or not all(name.startswith("__") for name in statement.binds)
            for statement in self.statements
        )

    @cached_property
    def loads_lazily(self) -> bool:
        """Whether its attributes may be modules that no import statement names (PEP 562)."""
        return any("__getattr__" in statement.binds for statement in self.statements)


@dataclass(slots=True)
class Module:
    """One Python module (or notebook, its cells in order as one module)."""

    name: str
    """Dotted name within the project; scripts have their stem."""
    path: Path
    """Absolute path."""
    display: str
    """The path as it is shown to the user."""
    text: str
    is_package: bool
    index: ModuleIndex
    reported: bool = True
    """False for modules that are only read because a checked one imports them."""
    encoding: str = "utf-8"
    """The encoding of the file, to write it back with (``utf-8-sig`` where it begins with a byte order mark)."""
    notebook: Notebook | None = None
    """For a notebook, how rows of ``text`` map to its cells, and how to write a changed text back."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file (or one cell of a notebook) that could not be read or parsed: becomes JIT900."""

    path: Path
    display: str
    row: int
    column: int
    message: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that was found and left alone, and why, for ``--verbose``."""

    path: Path
    reason: str


class Project(Protocol):
    """The modules under analysis and how imports between them resolve."""

    @property
    def modules(self) -> tuple[Module, ...]:
        """The modules to report on, then those loaded so far because one imports them; each sorted by display path."""
        ...

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """Files that could not be read or parsed."""
        ...

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was found under the given paths and left alone."""
        ...

    def resolve(self, importer: Module, dotted: str, level: int = 0) -> Module | None:
        """The module that ``import dotted`` (with ``level`` leading dots) means in ``importer``, or None.

        ``dotted`` may be empty with ``level`` > 0 (``from . import x``). None says: not part of the project.
        For ``from package import name`` ask for ``package``, and where that module does not bind ``name``, for
        ``package.name``. A namespace package is a module with an empty text.
        """
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user takes for much: numbers that rules compare with."""

    unrolled_turns: int = 32
    """Turns of a Python loop in traced code from which it counts as unrolled."""
    constant_bytes: int = 1024 * 1024
    """Bytes of an array from which it is large as a constant of a program."""
    variants: int = 3
    """Values of a static parameter that are few."""


@dataclass(slots=True)
class JaxTarget:
    """The lowest JAX the project supports, for spelling fixes."""

    version: tuple[int, ...] | None = None
    source: str = "default"
    notes: list[str] = field(default_factory=list)

    @property
    def has_jit_factory(self) -> bool:
        """``@jax.jit(static_argnames=…)`` works from 0.8.1 (a TypeError in 0.7.2 and 0.8.0)."""
        return self.version is not None and self.version >= (0, 8, 1)
