"""What the user wants reported, file by file: the configuration of the file, with what the caller asks for on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jitlint.findings import Certainty, Finding
from jitlint.project.config import Config, ConfigResolver
from jitlint.project.discovery import GlobSet
from jitlint.project.options import Glob
from jitlint.registry import UnknownRuleError, expand_selectors, fixable_codes, selected_codes, severities


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules that a caller asks for, on top of what the configuration says."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[Glob, tuple[str, ...]], ...] = ()

    def check(self) -> None:
        """Raise UnknownRuleError for a selector that means no rule."""
        for selectors in (self.select or (), self.ignore, self.extend_select, *(c for _, c in self.per_file_ignores)):
            expand_selectors(selectors)

    def over(self, config: Config) -> Config:
        """``config`` with this selection on top.

        A ``select`` replaces what the configuration selects; what is named here is not taken away by the configuration.
        """
        named = {selector.upper() for selector in (*(self.select or ()), *self.extend_select)}
        ignored = (*config.ignore, *config.extend_ignore)
        return replace(
            config,
            select=config.select if self.select is None else self.select,
            extend_select=(*(config.extend_select if self.select is None else ()), *self.extend_select),
            ignore=(*(selector for selector in ignored if selector.upper() not in named), *self.ignore),
            extend_ignore=(),
            per_file_ignores=(*config.per_file_ignores, *self.per_file_ignores),
        )


class FileSettings:
    """The settings of the files that share a configuration. Raises UnknownRuleError for a selector without a rule."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.codes = selected_codes(config)
        self._fixable = fixable_codes(config)
        self._severities = severities(config)
        self._ignores = [(_Files(glob), expand_selectors(codes)) for glob, codes in config.per_file_ignores]

    def codes_in(self, path: Path) -> frozenset[str]:
        """The codes that are on in the file at the absolute ``path``."""
        return self.codes.difference(*(codes for files, codes in self._ignores if files.has(path)))

    def adjusted(self, finding: Finding) -> Finding:
        """The finding with the severity it is to be reported with, and without a fix that is not to be made."""
        severity = self._severities.get(finding.code, finding.severity)
        fix = finding.fix if finding.code in self._fixable else None
        if severity is finding.severity and fix is finding.fix:
            return finding
        return replace(finding, severity=severity, fix=fix)

    def wants(self, finding: Finding) -> bool:
        """Whether an adjusted finding is bad and certain enough to be shown."""
        certain = finding.certainty is Certainty.DEFINITE or self.config.min_certainty is Certainty.POSSIBLE
        return certain and finding.severity.rank >= self.config.min_severity.rank


class _Files:
    """The files that a pattern of ``per-file-ignores`` means: after ``!`` all that do not match."""

    def __init__(self, glob: Glob) -> None:
        self._inverted = glob.pattern.startswith("!")
        self._globs = GlobSet([Glob(glob.pattern.removeprefix("!"), glob.base)])

    def has(self, path: Path) -> bool:
        return self._globs.matches(path) is not self._inverted


class SettingsByFile:
    """Finds the settings of each file. Raises ConfigError and UnknownRuleError, both with the file to correct."""

    def __init__(self, resolver: ConfigResolver, selection: Selection) -> None:
        self._resolver = resolver
        self._selection = selection
        self._known: dict[int, FileSettings] = {}

    def of(self, path: Path) -> FileSettings:
        """The settings of the file at the absolute ``path``."""
        return self._settings(self._resolver.for_file(path))

    def of_directory(self, directory: Path) -> FileSettings:
        """The settings of what is in the absolute ``directory``."""
        return self._settings(self._resolver.for_directory(directory))

    def _settings(self, config: Config) -> FileSettings:
        # The resolver gives the same object for the same configuration.
        if id(config) not in self._known:
            try:
                self._known[id(config)] = FileSettings(self._selection.over(config))
            except UnknownRuleError as error:
                raise UnknownRuleError(f"{config.source}: {error}" if config.source else str(error)) from None
        return self._known[id(config)]


def parse_per_file_ignores(entries: Sequence[str], base: Path) -> tuple[tuple[Glob, tuple[str, ...]], ...]:
    """The entries ``GLOB:CODE`` of the command line. Raises ValueError for one that is not of that form."""
    table: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        glob, colon, code = (part.strip() for part in entry.rpartition(":"))
        if not (colon and glob and code):
            raise ValueError(f"{entry!r} is not of the form GLOB:CODE")
        table[glob] = (*table.get(glob, ()), code)
    return tuple((Glob(glob, base), codes) for glob, codes in table.items())
