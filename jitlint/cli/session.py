"""What ``jitlint check`` does, in order: settings, analysis, known findings, repairs, output, exit code."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jitlint import repair
from jitlint.baseline import BaselineError
from jitlint.check import Analysis, InternalError, analyse
from jitlint.cli.app import EXIT_CLEAN, EXIT_ERROR, EXIT_FINDINGS
from jitlint.cli.known import Known
from jitlint.cli.options import Options
from jitlint.cli.outputs import META_ORDER, pair_outputs
from jitlint.cli.present import JSON_FORMATS, Screen, write_findings, write_statistics
from jitlint.cli.progress import Progress, wants_progress
from jitlint.cli.verdicts import for_people, refuted
from jitlint.findings import Finding, Fix, Severity
from jitlint.fix.apply import apply_fixes, unified_diff
from jitlint.output import Summary
from jitlint.output.places import count
from jitlint.project.config import Config, ConfigError, settings
from jitlint.project.discovery import discover, display_path
from jitlint.project.index import Unparsable
from jitlint.project.modules import load_project
from jitlint.project.sources import Source, decode_source
from jitlint.project.suppress import add_ignores
from jitlint.registry import UnknownRuleError
from jitlint.revision import RevisionError

if TYPE_CHECKING:
    from jitlint.api import Rule
    from jitlint.cli.trial import Trial
    from jitlint.cli.variants import Counted
    from jitlint.project.model import Project
    from jitlint.recorder.record import Record
    from jitlint.semantics.observed import Observations


class SetupError(click.ClickException):
    """Something outside of the command line is wrong: a configuration, a baseline, a revision."""

    exit_code = EXIT_ERROR


def run_check(options: Mapping[str, Any]) -> int:
    """Do what the options of ``jitlint check`` ask for, and return the exit code.

    Raises click.ClickException with what to do about wrong usage, configuration, baselines and revisions.
    """
    order = tuple(click.get_current_context().meta.get(META_ORDER, ()))
    try:
        session = Session(Options(**options, order=order))
        return session.run()
    except (UnknownRuleError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    except (ConfigError, BaselineError, RevisionError) as error:
        raise SetupError(str(error)) from error


def _read_record(folder: Path) -> Record:
    """The record in a folder. Raises SetupError."""
    from jitlint.recorder.record import RecordError, load_record

    try:
        return load_record(folder)
    except RecordError as error:
        raise SetupError(str(error)) from error


class Session:
    """One run of ``jitlint check``."""

    def __init__(self, options: Options) -> None:
        options.check()
        self.started = time.perf_counter()
        self.options = options
        self.resolver = options.resolver()
        self.selection = options.selection()
        self.config: Config = self.resolver.for_directory(Path.cwd())
        self.outputs = pair_outputs(
            options.order, options.output_format, options.output_file, self.config.output_format
        )
        self.paths = () if options.from_stdin else options.paths or (".",)
        self.stdin: Source | None = None
        self.screen = Screen(options.color, to_stderr=options.from_stdin and options.repairs)
        self.progress = Progress() if wants_progress(quiet=options.quiet) else None
        self.work = replace(options.work(), progress=self.progress)
        self.known = Known(self.config, options, self.selection, self.work)
        self.trial: Trial | None = None
        if options.dynamic:
            from jitlint.cli.trial import Trial

            self.trial = Trial(options, self.config)
        self.record: Record | None = None
        self.observed: Observations | None = None
        if options.record is not None:
            from jitlint.recorder.observed import observations

            self.record = _read_record(Path(options.record))
            self.observed = observations(self.record)

    def run(self) -> int:
        """Do it, and return the exit code."""
        if self.options.show_settings:
            return self.show_settings()
        if self.options.show_files:
            return self.show_files()
        if self.options.from_stdin:
            self.stdin = _read_stdin()
        with self.progress or nullcontext():
            self.known.load(self.paths)
        if self.options.repairs:
            return self.run_repair()
        analysis = self.analysed({})
        if self.options.add_ignore:
            return self.run_add_ignore(analysis)
        if self.options.write_baseline:
            return self.run_write_baseline(analysis)
        analysis = self.report(analysis)
        return self.exit_code(analysis)

    # --- the parts of a run ---

    def analysed(self, texts: Mapping[str, str]) -> Analysis:
        """The program with some texts in place of its files, without the findings that are known."""
        stdin = None if self.stdin is None else (self.stdin_name, self.stdin.text)
        indexer = self.work.indexer
        project = load_project(self.paths, self.resolver, stdin=stdin, overlay=texts, indexer=indexer)
        engine = None if self.observed is None else self.engine
        with self.progress or nullcontext():
            analysis = analyse(project, self.resolver, self.selection, engine, self.work)
        return replace(analysis, findings=tuple(self.known.new(analysis)))

    def engine(self, project: Project, config: Config, rules: Sequence[Rule]) -> Sequence[Finding]:
        """The analysis, with what a record shows in place of guesses."""
        from jitlint import semantics

        return semantics.analyse(project, config, rules, self.observed)

    @property
    def stdin_name(self) -> str:
        return self.options.stdin_filename or "-"

    def run_repair(self) -> int:
        refuse = None if self.trial is None else self.trial.refuse
        done = repair.repair(self.analysed, unsafe=self.config.unsafe_fixes, refuse=refuse)
        documents = repair.documents(done.texts, done.before)
        if self.options.diff:
            for document in documents:
                self.show_program(unified_diff(document.old, document.new, document.name))
            self.say(f"Would fix {_findings(done.fixed)}." if documents else "Nothing to fix.")
            self.say_internal_errors(done.after)
            return EXIT_ERROR if done.after.internal_errors else EXIT_FINDINGS if documents else EXIT_CLEAN
        failures = 0
        written: set[str] = set()
        if self.stdin is not None:
            self.show_program(documents[0].new if documents else self.stdin.text, encoding=self.stdin.encoding)
            written = {document.name for document in documents}
        else:
            for document in documents:
                reason = repair.write(document)
                if reason is None:
                    written.add(document.name)
                else:
                    failures += 1
                    click.echo(f"error: {document.name} was not repaired: {reason}", err=True)
        fixed = [finding for finding in done.fixed if finding.filename in written]
        self.say_fixed(fixed)
        for skip in done.skipped:
            self.say(f"not fixed {_place(skip.finding)}: {skip.finding.code}: {skip.reason}")
        if not done.converged:
            self.say("warning: repairs did not come to an end; this is a fault of jitlint, please report it")
        if self.options.fix_only:
            left = replace(done.after, findings=())
            self.say_internal_errors(left)
        else:
            left = self.report(done.after, fixed=len(fixed))
        if failures:
            return EXIT_ERROR
        code = self.exit_code(left)
        return EXIT_FINDINGS if code == EXIT_CLEAN and fixed and self.options.exit_non_zero_on_fix else code

    def run_add_ignore(self, analysis: Analysis) -> int:
        texts: dict[str, str] = {}
        count = 0
        for module in analysis.modules:
            found = [f for f in analysis.findings if f.filename == module.display and not f.code.startswith("JIT90")]
            edits = add_ignores(module.text, found, filename=module.display, reason=self.options.reason)
            if edits:
                whole = replace(found[0], fix=Fix("ignore what is found", tuple(edits)))
                texts |= apply_fixes([whole], analysis.text).texts
                count += len(edits)
        failures = 0
        for document in repair.documents(texts, analysis):
            reason = repair.write(document)
            if reason is not None:
                failures += 1
                click.echo(f"error: {document.name} was left as it is: {reason}", err=True)
        self.say(f"Wrote {count} ignore comment{'s' if count != 1 else ''} into {len(texts) - failures} files.")
        self.say_internal_errors(analysis)
        return EXIT_ERROR if failures or analysis.internal_errors else EXIT_CLEAN

    def run_write_baseline(self, analysis: Analysis) -> int:
        self.say_internal_errors(analysis)
        if analysis.internal_errors:
            return EXIT_ERROR
        path, count = self.known.write(analysis)
        self.say(f"Wrote {count} known finding{'s' if count != 1 else ''} to {path}.")
        if self.config.baseline is None:
            self.say(f'Check with `--baseline {path}`, or set `baseline = "{path}"` in the configuration.')
        return EXIT_CLEAN

    def report(self, analysis: Analysis, fixed: int = 0) -> Analysis:
        """Write the findings that are left, and on standard error what is worth saying besides.

        Returns the analysis with what the dynamic mode made of it.
        """
        if self.trial is not None:
            analysis = self.trial.judged(analysis)
        if self.record is not None:
            from jitlint.recorder.join import with_verdicts

            analysis = replace(analysis, findings=tuple(with_verdicts(self.record, analysis.findings)))
        if self.options.verbose:
            for skipped in analysis.skipped:
                click.echo(f"skipped {display_path(skipped.path)}: {skipped.reason}", err=True)
            idle = _without_jax(analysis)
            if idle:
                click.echo(f"not analysed: {count(idle, 'file')} without jax, in it or in what it imports", err=True)
            if analysis.others:
                click.echo(f"also read {len(analysis.others)} files for what they define", err=True)
            if self.work.cache is not None and self.work.cache.trouble is not None:
                click.echo(f"nothing was cached: {self.work.cache.trouble}", err=True)
        if not analysis.modules and not analysis.findings and self.stdin is None:
            self.say("warning: no Python files found")
        seen = Summary(fixed=fixed)
        if not self.options.quiet:
            seen = Summary(
                files=len(analysis.modules),
                seconds=time.perf_counter() - self.started,
                jitted_functions=analysis.jitted_functions,
                fixed=fixed,
            )
        outputs = self.outputs
        if self.options.variants and any(each.format in JSON_FORMATS and each.file is None for each in outputs):
            # Two JSON documents on standard output would be none.
            self.screen.show(json.dumps([each.to_json() for each in self.variants(analysis)], indent=2) + "\n")
            outputs = tuple(each for each in outputs if each.file is not None)
        if self.options.statistics:
            write_statistics(for_people(analysis.findings), self.outputs[0].format, self.screen)
        else:
            write_findings(analysis, outputs, seen, self.screen, quiet=self.options.quiet)
        if self.options.variants and len(outputs) == len(self.outputs):
            rows = [row for each in self.variants(analysis) for row in each.lines()]
            self.screen.show("\n".join([*rows, ""]) if rows else "No jitted function was found.\n")
        if self.trial is not None:
            self.say(self.trial.figures())
            for reason in self.trial.reasons() if self.options.verbose else ():
                click.echo(reason, err=True)
        self.say_internal_errors(analysis)
        self.known.shrink(analysis, self.say)
        return analysis

    def variants(self, analysis: Analysis) -> list[Counted]:
        """Every jitted function with the number of its programs, as estimated, traced and recorded."""
        from jitlint import semantics
        from jitlint.cli.variants import counted

        estimates = semantics.estimates(analysis.project, self.config, self.observed)
        paths = {module.display: str(module.path) for module in analysis.project.modules}
        return counted(estimates, () if self.trial is None else self.trial.variants, paths)

    def exit_code(self, analysis: Analysis) -> int:
        if analysis.internal_errors:
            return EXIT_ERROR
        bad = any(found.severity.rank >= Severity.WARNING.rank and not refuted(found) for found in analysis.findings)
        return EXIT_FINDINGS if bad and not self.options.exit_zero else EXIT_CLEAN

    # --- answers without an analysis ---

    def show_settings(self) -> int:
        path = Path.cwd() / (self.options.stdin_filename or next(iter(self.paths), "."))
        config = self.resolver.for_directory(path) if path.is_dir() else self.resolver.for_file(path)
        source = None if config.source is None else str(config.source)
        click.echo(json.dumps({"source": source, "settings": settings(self.selection.over(config))}, indent=2))
        return EXIT_CLEAN

    def show_files(self) -> int:
        found = discover(self.paths, self.resolver)
        for path in found.files:
            click.echo(display_path(path))
        for fault in found.missing:
            click.echo(f"error: {fault.display}: {fault.message}", err=True)
        return EXIT_ERROR if found.missing else EXIT_CLEAN

    # --- what is said ---

    def say(self, text: str) -> None:
        """A line for people, on standard error."""
        if not self.options.quiet:
            click.echo(text, err=True)

    def say_fixed(self, fixed: Sequence[Finding]) -> None:
        for finding in fixed:
            what = finding.fix.message if self.options.show_fixes and finding.fix is not None else finding.name
            self.say(f"fixed {_place(finding)}: {finding.code}: {what}")

    def say_internal_errors(self, analysis: Analysis) -> None:
        by_message: dict[str, list[InternalError]] = {}
        for error in analysis.internal_errors:
            by_message.setdefault(error.message, []).append(error)
        for message, errors in by_message.items():
            more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
            click.echo(f"error: jitlint failed on {errors[0].where}{more}: {message}", err=True)
            if self.options.verbose:
                click.echo(errors[0].details, err=True)
        if by_message:
            hint = "" if self.options.verbose else "; `--verbose` shows where"
            click.echo(f"This is a fault of jitlint, please report it{hint}. The other files were checked.", err=True)

    def show_program(self, text: str, encoding: str = "utf-8") -> None:
        """Write a program, or a difference, to standard output: every byte as it is."""
        click.echo(text.encode(encoding, errors="surrogateescape"), nl=False)


def _read_stdin() -> Source:
    try:
        return decode_source(sys.stdin.buffer.read())
    except Unparsable as fault:
        raise click.UsageError(f"standard input: {fault.message}") from fault


def _without_jax(analysis: Analysis) -> int:
    """How many of the checked files cannot hold anything to find."""
    from jitlint.semantics.driver import relevant

    return len(analysis.modules) - sum(module.reported for module in relevant(analysis.project.modules))


def _place(finding: Finding) -> str:
    cell = "" if finding.cell is None else f":cell {finding.cell}"
    return f"{finding.filename}{cell}:{finding.span.row}:{finding.span.column}"


def _findings(findings: Sequence[Finding]) -> str:
    return f"{len(findings)} finding{'s' if len(findings) != 1 else ''}"
