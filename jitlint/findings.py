"""The plain data that flows out of the analysis: findings, trace paths, fixes.

Nothing here knows libcst, jax or the command line, so that findings can be cached, sent between
processes and written in any format. Rows count from 1; columns count characters from 1, as Ruff's do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is: ``error`` raises while tracing, ``warning`` runs but wrong or slow, ``info`` is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """Order for ``--min-severity``: info 0, warning 1, error 2."""
        return ("info", "warning", "error").index(self.value)


class Certainty(StrEnum):
    """``definite``: every run that gets here has it; ``possible``: some caller may."""

    DEFINITE = "definite"
    POSSIBLE = "possible"


class Applicability(StrEnum):
    """``safe`` keeps meaning (applied by ``--fix``), ``unsafe`` may change it, ``display`` is only shown."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """A stretch of text in one file: rows and columns from 1, the end column exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int


@dataclass(frozen=True, order=True, slots=True)
class Step:
    """One step of the path by which a value came to be traced (or to vary, or to go stale)."""

    filename: str
    row: int
    what: str
    column: int = 1


@dataclass(frozen=True, order=True, slots=True)
class Edit:
    """Replace the text of ``span`` in ``filename`` by ``text``; an empty span inserts."""

    filename: str
    span: Span
    text: str


@dataclass(frozen=True, order=True, slots=True)
class NewImport:
    """An import that the edits of a fix need, added once per file and only where it is missing.

    ``NewImport("m.py", "functools")`` is ``import functools``;
    ``NewImport("m.py", "functools", "partial")`` is ``from functools import partial``.
    """

    filename: str
    module: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair: what it does in a few words, its edits (they do not overlap), and how safe it is."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE
    imports: tuple[NewImport, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault at one place, complete: every output format is a function of this record."""

    code: str
    name: str
    message: str
    filename: str
    span: Span
    severity: Severity
    certainty: Certainty = Certainty.DEFINITE
    help: str | None = None
    trace: tuple[Step, ...] = ()
    fix: Fix | None = None
    cell: int | None = None
    qualname: str = ""
    """The function that holds the place, dotted, empty at module level: baselines key on it."""
    url: str | None = None
    properties: dict[str, object] = field(default_factory=dict)
    """Extra facts by name that some formats carry, such as ``variants`` or ``verdict``."""

    @property
    def sort_key(self) -> tuple[str, Span, str, str]:
        """Order of findings in every output: file, place, code, message."""
        return (self.filename, self.span, self.code, self.message)
