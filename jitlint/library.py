"""The library API: check files or text from another program, without a command line.

report = jitlint.check_paths(["src"], select=["JIT1"])
for finding in report.findings:
    print(finding.filename, finding.span.row, finding.code, finding.message)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from jitlint.cache import Cache
from jitlint.check import Analysis, InternalError, Work, analyse
from jitlint.findings import Finding
from jitlint.project.config import ConfigResolver
from jitlint.project.modules import load_project
from jitlint.settings import Selection


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found: the findings, sorted, the files checked, and faults of jitlint itself, which are rare."""

    findings: tuple[Finding, ...]
    files: tuple[str, ...]
    internal_errors: tuple[InternalError, ...] = ()


def check_paths(
    paths: Iterable[str | Path] = (".",),
    *,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    config: str | Path | None = None,
    options: Mapping[str, object] | None = None,
    isolated: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    cache_dir: str | Path | None = None,
) -> Report:
    """Check files and folders, with the settings that the command line would use.

    ``select``, ``ignore`` and ``extend_select`` take codes, prefixes, names and ``ALL``; ``config`` is a configuration
    file to use instead of the nearest, ``options`` are keys of the configuration to set, ``isolated`` reads no file.

    ``jobs`` is the number of processes that share the work. With ``executor``, any ``concurrent.futures.Executor``, its
    workers do it instead; they need jitlint, and the files of ``extra-models``, but no source files. ``cache_dir`` is a
    folder to remember findings in; without it none are. The findings do not depend on any of the three. (Where
    processes are started afresh, a script that asks for several needs ``if __name__ == "__main__":``, as always.)

    Raises ValueError for a selector that means no rule, ``jitlint.project.config.ConfigError`` for a configuration that
    cannot be used. Files that cannot be read are findings, with the code JIT900.
    """
    resolver = _resolver(config, options, isolated)
    selection = _selection(select, ignore, extend_select)
    work = Work(jobs, executor, None if cache_dir is None else Cache(Path(cache_dir).absolute()))
    return _report(analyse(load_project(paths, resolver, indexer=work.indexer), resolver, selection, work=work))


def check_source(
    text: str,
    filename: str = "<stdin>",
    *,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    extend_select: Iterable[str] = (),
    config: str | Path | None = None,
    options: Mapping[str, object] | None = None,
    isolated: bool = False,
) -> Report:
    """Check one text as if it stood in ``filename``, which need not exist: its imports are found from there.

    The options and errors are those of :func:`check_paths`.
    """
    resolver = _resolver(config, options, isolated)
    selection = _selection(select, ignore, extend_select)
    return _report(analyse(load_project((), resolver, stdin=(filename, text)), resolver, selection))


def _resolver(config: str | Path | None, options: Mapping[str, object] | None, isolated: bool) -> ConfigResolver:
    file = None if config is None else Path(config)
    return ConfigResolver([options] if options else [], config_file=file, isolated=isolated)


def _selection(select: Iterable[str] | None, ignore: Iterable[str], extend_select: Iterable[str]) -> Selection:
    chosen = Selection(None if select is None else tuple(select), tuple(ignore), tuple(extend_select))
    chosen.check()
    return chosen


def _report(analysis: Analysis) -> Report:
    files = tuple(module.display for module in analysis.modules)
    return Report(analysis.located(analysis.findings), files, analysis.internal_errors)
