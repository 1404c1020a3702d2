"""The options of ``jitlint check`` as typed data, and what they say of configuration and rules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from jitlint.cache import Cache, default_folder
from jitlint.project.config import ConfigResolver, parse_override
from jitlint.settings import Selection, parse_per_file_ignores
from jitlint.work import Work


@dataclass(frozen=True, slots=True)
class Options:
    """One field an option; ``order`` has the names of the options as they were given."""

    paths: tuple[str, ...]
    fix: bool
    unsafe_fixes: bool
    diff: bool
    fix_only: bool
    show_fixes: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    extend_ignore: tuple[str, ...]
    per_file_ignores: tuple[str, ...]
    min_severity: str | None
    min_certainty: str | None
    output_format: tuple[str, ...]
    output_file: tuple[str, ...]
    statistics: bool
    exit_zero: bool
    exit_non_zero_on_fix: bool
    add_ignore: bool
    reason: str
    baseline: str | None
    no_baseline: bool
    write_baseline: bool
    diff_base: str | None
    stdin_filename: str | None
    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    force_exclude: bool
    no_respect_gitignore: bool
    show_files: bool
    show_settings: bool
    config: tuple[str, ...]
    isolated: bool
    dynamic: bool
    python: str | None
    timeout: float | None
    dynamic_allow_import: tuple[str, ...]
    variants: bool
    record: str | None
    jobs: int | None
    no_cache: bool
    cache_dir: str | None
    quiet: bool
    verbose: bool
    color: str
    order: tuple[str | None, ...] = ()

    @property
    def repairs(self) -> bool:
        """Whether fixes are applied, be it only to show them."""
        return self.fix or self.diff or self.fix_only

    @property
    def from_stdin(self) -> bool:
        """Whether the program comes from standard input."""
        return "-" in self.paths

    def work(self) -> Work:
        """Who does the work, and where it is remembered."""
        if self.no_cache or self.from_stdin:
            cache = None
        else:
            here = Path.cwd()
            cache = Cache(here / self.cache_dir if self.cache_dir else default_folder(here))
        return Work(self.jobs or _cores(), cache=cache)

    def check(self) -> None:
        """Raise click.UsageError for options that contradict each other."""
        modes = {
            "--fix": self.fix or self.fix_only,
            "--diff": self.diff,
            "--add-ignore": self.add_ignore,
            "--write-baseline": self.write_baseline,
        }
        chosen = [name for name, on in modes.items() if on]
        if len(chosen) > 1:
            raise click.UsageError(f"{chosen[0]} and {chosen[1]} cannot be used together")
        if self.from_stdin and len(self.paths) > 1:
            raise click.UsageError("- means standard input, and cannot be checked together with files")
        if self.stdin_filename is not None and not self.from_stdin:
            raise click.UsageError("--stdin-filename names standard input: give the path - as well")
        if self.from_stdin and (self.add_ignore or self.write_baseline):
            raise click.UsageError(f"{chosen[0]} needs files, not standard input")
        if self.no_baseline and (self.baseline is not None or self.write_baseline):
            raise click.UsageError("--no-baseline contradicts the other options of a baseline")
        if self.reason and not self.add_ignore:
            raise click.UsageError("--reason is what --add-ignore writes: give --add-ignore as well")
        if self.no_cache and self.cache_dir is not None and "cache_dir" in self.order:
            raise click.UsageError("--no-cache and --cache-dir cannot be used together")
        if self.isolated and self.config_file is not None:
            raise click.UsageError(f"--isolated reads no file, and --config {self.config_file} names one")
        self._check_dynamic()

    def _check_dynamic(self) -> None:
        given = {
            "--python": self.python is not None,
            "--timeout": self.timeout is not None,
            "--dynamic-allow-import": bool(self.dynamic_allow_import),
        }
        idle = [name for name, on in given.items() if on]
        if idle and not self.dynamic:
            raise click.UsageError(f"{idle[0]} is of the dynamic mode: give --dynamic as well")
        if self.record is not None and (self.dynamic or self.from_stdin):
            raise click.UsageError("--record judges findings in files by an earlier run, without --dynamic")
        if self.dynamic and (self.add_ignore or self.write_baseline or self.from_stdin):
            raise click.UsageError("--dynamic tries findings in files; it has nothing to do with the other options")

    @property
    def config_file(self) -> Path | None:
        """The file among the values of ``--config``. Raises click.UsageError for more than one."""
        files = [value for value in self.config if "=" not in value]
        if len(files) > 1:
            raise click.UsageError(f"--config names two files: {files[0]} and {files[1]}")
        return Path(files[0]) if files else None

    def overrides(self) -> list[Mapping[str, object]]:
        """The keys of the configuration that options set, later ones over earlier ones. Raises ConfigError."""
        tables: list[Mapping[str, object]] = [parse_override(value) for value in self.config if "=" in value]
        values = {
            "min-severity": self.min_severity,
            "min-certainty": self.min_certainty,
            "exclude": list(self.exclude) or None,
            "extend-exclude": list(self.extend_exclude) or None,
            "force-exclude": self.force_exclude or None,
            "respect-gitignore": False if self.no_respect_gitignore else None,
            "unsafe-fixes": self.unsafe_fixes or None,
        }
        return [*tables, {key: value for key, value in values.items() if value is not None}]

    def resolver(self) -> ConfigResolver:
        """Where configurations come from. Raises ConfigError."""
        return ConfigResolver(self.overrides(), config_file=self.config_file, isolated=self.isolated)

    def selection(self) -> Selection:
        """The rules that the options ask for. Raises UnknownRuleError, ValueError."""
        chosen = Selection(
            self.select or None,
            (*self.ignore, *self.extend_ignore),
            self.extend_select,
            parse_per_file_ignores(self.per_file_ignores, Path.cwd()),
        )
        chosen.check()
        return chosen


def _cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
