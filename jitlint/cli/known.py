"""The findings that are known and not reported: those of a baseline, and those of an earlier revision."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from jitlint import baseline, revision
from jitlint.baseline import Entry, Fingerprints
from jitlint.check import Analysis, Work, analyse
from jitlint.cli.options import Options
from jitlint.findings import Certainty, Finding, Severity
from jitlint.project.config import Config
from jitlint.project.modules import load_project
from jitlint.settings import Selection

DEFAULT_FILE = "jitlint-baseline.txt"


class Known:
    """Takes known findings out of an analysis, and keeps the baseline up to date."""

    def __init__(self, config: Config, options: Options, selection: Selection, work: Work) -> None:
        self._work = work
        self._config = config
        self._options = options
        self._selection = selection
        self._file = _baseline_file(config, options)
        self._baseline: Counter[Entry] = Counter()
        self._used: Counter[Entry] = Counter()
        self._revision: Counter[Entry] = Counter()
        self._repository = Path.cwd()

    def load(self, paths: Sequence[str]) -> None:
        """Read the baseline, and analyse the earlier revision. Raises BaselineError, RevisionError."""
        if self._file is not None and not self._options.write_baseline:
            self._baseline = baseline.read(self._file)
        if self._options.diff_base is not None:
            self._repository = revision.repository_root(Path.cwd())
            self._revision = self._at(self._options.diff_base, paths)

    def new(self, analysis: Analysis) -> Sequence[Finding]:
        """The findings that are neither in the baseline nor in the earlier revision."""
        findings: Sequence[Finding] = analysis.findings
        if self._baseline and self._file is not None:
            findings, self._used = baseline.subtract(
                findings, self._baseline, self._prints(analysis, self._file.parent)
            )
        if self._revision:
            findings, _ = baseline.subtract(findings, self._revision, self._prints(analysis, self._repository))
        return findings

    def write(self, analysis: Analysis) -> tuple[Path, int]:
        """Write the findings as the baseline, and say where and how many.

        Entries that this run could not judge stay. Files that cannot be read are no known findings: they are to be
        repaired or excluded. Raises BaselineError, click.FileError.
        """
        path = self._file or Path(DEFAULT_FILE)
        old = baseline.read(path) if path.is_file() else Counter[Entry]()
        found = [finding for finding in analysis.findings if finding.code != "JIT900"]
        known = self._judged(analysis, old, Counter(), path) + self._prints(analysis, path.parent).count(found)
        try:
            baseline.write(path, known)
        except OSError as error:
            raise click.FileError(str(path), error.strerror or str(error)) from error
        return path, len(found)

    def shrink(self, analysis: Analysis, say: Callable[[str], None]) -> None:
        """Take entries out of the baseline that are repaired, unless this run did not look for everything."""
        unfiltered = self._config.min_severity is Severity.INFO and self._config.min_certainty is Certainty.POSSIBLE
        if self._file is None or not self._baseline or analysis.internal_errors or not unfiltered:
            return
        rest = self._judged(analysis, self._baseline, self._used, self._file)
        if rest == self._baseline:
            return
        gone = self._baseline.total() - rest.total()
        try:
            baseline.write(self._file, rest)
        except OSError as error:
            say(f"warning: {self._file} knows {gone} findings that are gone, and cannot be written: {error.strerror}")
        else:
            say(f"{self._file}: {gone} known finding{'s are' if gone != 1 else ' is'} gone, and taken out.")

    def _judged(self, analysis: Analysis, known: Counter[Entry], used: Counter[Entry], path: Path) -> Counter[Entry]:
        root = path.parent.resolve()
        checked = frozenset(
            module.path.resolve().relative_to(root).as_posix()
            for module in analysis.modules
            if module.path.resolve().is_relative_to(root)
        )
        return baseline.shrunk(known, used, checked_files=checked, codes=analysis.codes, root=root)

    def _prints(self, analysis: Analysis, root: Path) -> Fingerprints:
        return Fingerprints(analysis.line, root)

    def _at(self, rev: str, paths: Sequence[str]) -> Counter[Entry]:
        """The findings at a revision, by the names that files have now."""
        here = Path.cwd().resolve()
        inside = here.relative_to(self._repository.resolve())
        moved = revision.renamed_since(self._repository, rev)
        with tempfile.TemporaryDirectory(prefix="jitlint-") as scratch:
            revision.lay_out(self._repository, rev, Path(scratch))
            folder = Path(scratch, inside)
            folder.mkdir(parents=True, exist_ok=True)
            # Paths, patterns and names are all relative to the current folder, so it moves with them.
            with contextlib.chdir(folder):
                there = [path for path in map(_relative_to(here), paths) if Path(path).exists()]
                resolver = self._options.resolver()
                project = load_project(there, resolver, indexer=self._work.indexer)
                analysis = analyse(project, resolver, self._selection, work=self._work)
                counts = self._prints(analysis, Path(scratch)).count(analysis.findings)
        known: Counter[Entry] = Counter()
        for entry, count in counts.items():
            known[replace(entry, file=moved.get(entry.file, entry.file))] += count
        return known


def _relative_to(folder: Path) -> Callable[[str], str]:
    """Paths below ``folder`` as relative ones, which mean the same in a copy."""

    def relative(path: str) -> str:
        full = (folder / path).resolve()
        return str(full.relative_to(folder)) if full.is_relative_to(folder) else path

    return relative


def _baseline_file(config: Config, options: Options) -> Path | None:
    if options.no_baseline:
        return None
    if options.baseline is not None:
        return Path(options.baseline)
    return config.baseline
