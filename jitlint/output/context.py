"""What a format needs besides the findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jitlint.findings import Applicability, Edit, Finding, Severity
from jitlint.fix.apply import edits_of
from jitlint.fix.text import Lines
from jitlint.output.notebooks import notebook_edits
from jitlint.output.places import split_key
from jitlint.project.notebook import Notebook

STDIN_NAMES = frozenset({"-", "<stdin>"})
"""Filenames that stand for standard input and are not made relative or absolute."""


@dataclass(frozen=True, slots=True)
class RuleDoc:
    """What is known of a rule without loading it: for ``help`` and for the rule list of SARIF."""

    code: str
    name: str
    summary: str
    """One sentence of plain text."""
    markdown: str
    """The whole explanation."""
    severity: Severity
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Facts of the run for the last lines; None is not shown."""

    files: int | None = None
    seconds: float | None = None
    jitted_functions: int | None = None
    fixed: int = 0
    """How many findings ``--fix`` has repaired already."""


def no_sources(filename: str) -> None:
    """The ``sources`` of a run that has no texts to show."""


@dataclass(frozen=True)
class Context:
    """Where the texts are, what the paths mean, what the rules say, and how to show it.

    ``sources`` gives the text of a file by the filename that findings carry, or None; for a notebook cell it is asked
    for ``nb.ipynb:cell 2`` (see :func:`jitlint.output.places.source_key`); ``notebooks`` gives a notebook by its
    filename. ``directory`` is what the filenames of
    findings are relative to, ``root`` the top of the repository, which machine formats name files from.
    """

    sources: Callable[[str], str | None] = no_sources
    directory: Path = field(default_factory=Path.cwd)
    root: Path = field(default_factory=Path.cwd)
    rules: Mapping[str, RuleDoc] = field(default_factory=dict)
    colour: bool = False
    summary: Summary = field(default_factory=Summary)
    version: str = ""
    notebooks: Callable[[str], Notebook | None] = no_sources

    def absolute(self, filename: str) -> str:
        """The absolute path of a finding's file, without asking the disk."""
        if filename in STDIN_NAMES:
            return filename
        return os.path.normpath(self.directory / filename)

    def relative(self, filename: str) -> str | None:
        """The path from the root, with forward slashes; None for a file outside of it."""
        if filename in STDIN_NAMES:
            return filename
        path = Path(self.absolute(filename))
        root = Path(os.path.normpath(self.directory / self.root))
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else None

    def path_from_root(self, filename: str) -> str:
        """The path from the root if there is one, else the absolute path; with forward slashes."""
        relative = self.relative(filename)
        return Path(self.absolute(filename)).as_posix() if relative is None else relative

    @cached_property
    def _known(self) -> dict[str, Lines | None]:
        return {}

    def lines(self, filename: str) -> Lines | None:
        """The text that ``sources`` gives, asked once a file."""
        if filename not in self._known:
            text = self.sources(filename)
            self._known[filename] = None if text is None else Lines(text)
        return self._known[filename]

    def text(self, filename: str) -> str | None:
        """The same as one string."""
        lines = self.lines(filename)
        return None if lines is None else lines.text

    def edits(self, finding: Finding) -> tuple[Edit, ...]:
        """Every edit of the finding's fix, imports included; none when there is no fix."""
        return () if finding.fix is None else edits_of(finding.fix, self.text)

    def file_edits(self, finding: Finding) -> tuple[Edit, ...]:
        """The same for who knows files only: what changes in a cell is changed in the JSON of its notebook.

        None where a notebook is not known.
        """
        whole: list[Edit] = []
        in_cells: dict[str, list[Edit]] = {}
        for edit in self.edits(finding):
            filename, cell = split_key(edit.filename)
            if cell is None:
                whole.append(edit)
            else:
                in_cells.setdefault(filename, []).append(edit)
        for filename, edits in in_cells.items():
            notebook = self.notebooks(filename)
            if notebook is None:
                return ()
            whole += notebook_edits(filename, notebook, edits)
        return tuple(sorted(whole))

    def file_lines(self, filename: str) -> Lines | None:
        """The text of a file as it is on disk, for a notebook its JSON."""
        notebook = self.notebooks(filename)
        return self.lines(filename) if notebook is None else Lines(notebook.document)


def fixable(finding: Finding) -> bool:
    """Whether ``--fix`` repairs it, which the mark ``[*]`` says."""
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE
