"""The pipeline from paths to findings.

Files are read into a project, the engine analyses it, ignore comments and settings take out what the user does not
want, and what is left is sorted. The findings of an :class:`Analysis` have the places of module texts, as repairs need
them; :meth:`Analysis.located` gives them as users see them, by notebook cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from jitlint.findings import Edit, Finding, Fix, Span, Step
from jitlint.fix.apply import edits_of
from jitlint.project.config import Config, ConfigError, ConfigResolver
from jitlint.project.index import split_rows
from jitlint.project.model import Module, Project, Skipped, Unreadable
from jitlint.project.modules import SourceProject
from jitlint.project.suppress import Suppressions
from jitlint.project.target import project_target
from jitlint.registry import find_rule, known_names
from jitlint.settings import Selection, SettingsByFile
from jitlint.work import InternalError, Work, examine, internal_error

if TYPE_CHECKING:
    from jitlint.api import Rule
    from jitlint.project.notebook import Notebook

Engine = Callable[[Project, Config, Sequence["Rule"]], Sequence[Finding]]

__all__ = ["Analysis", "Engine", "InternalError", "Work", "analyse"]


@dataclass(frozen=True)
class Analysis:
    """What one run over a project found, before anything is shown or repaired."""

    project: SourceProject = field(repr=False)
    modules: tuple[Module, ...]
    """The modules that were checked, without those only read for their definitions."""
    findings: tuple[Finding, ...]
    """Sorted; places are those of the module texts."""
    codes: frozenset[str]
    """The codes that were on anywhere."""
    internal_errors: tuple[InternalError, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    jitted_functions: int | None = None
    others: tuple[Module, ...] = field(default=(), repr=False)
    """The modules that were only read for their definitions."""

    @cached_property
    def by_name(self) -> Mapping[str, Module]:
        """Every module by the filename that findings carry."""
        return {module.display: module for module in (*self.others, *self.modules)}

    @cached_property
    def files(self) -> frozenset[str]:
        """The filenames that were checked."""
        return frozenset(module.display for module in self.modules)

    def text(self, filename: str) -> str | None:
        """The text that places in findings refer to, or None for a file that was not read."""
        module = self.by_name.get(filename)
        return None if module is None else module.text

    def line(self, finding: Finding) -> str:
        """The text of the first row of a finding, without its line end; empty where there is none."""
        text = self.text(finding.filename)
        rows = [] if text is None else split_rows(text)
        return rows[finding.span.row - 1].rstrip("\r\n") if finding.span.row <= len(rows) else ""

    def located(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """``findings`` as users see them: places in notebooks are by cell, and texts are named by cell."""
        if all(module.notebook is None for module in self.by_name.values()):
            return tuple(findings)
        return tuple(_by_cell(finding, self.by_name) for finding in findings)

    def notebook(self, filename: str) -> Notebook | None:
        """The notebook in a file, or None where it is none."""
        module = self.by_name.get(filename)
        return None if module is None else module.notebook

    def shown_text(self, name: str) -> str | None:
        """The text of a file, or of a notebook cell by its name such as ``nb.ipynb:cell 2``; None if there is none."""
        filename, _, number = name.rpartition(":cell ")
        module = self.by_name.get(filename)
        if module is None or module.notebook is None:
            return self.text(name)
        return next((cell.text for cell in module.notebook.cells if str(cell.number) == number), None)


_ALONE = Work()


def analyse(
    project: SourceProject,
    resolver: ConfigResolver,
    selection: Selection,
    engine: Engine | None = None,
    work: Work = _ALONE,
) -> Analysis:
    """Run the rules over a project and keep what its configuration and its ignore comments leave.

    The project is analysed component by component, as ``work`` says. An ``engine`` stands in for all that: it is called
    as ``jitlint.semantics.analyse`` is, for the whole project, and nothing of it is cached. A fault in the analysis of
    one module becomes an internal error and loses nothing of the others. Raises UnknownRuleError, ConfigError.
    """
    settings = SettingsByFile(resolver, selection)
    of_run = settings.of_directory(Path.cwd())
    check_models(of_run.config)
    checked = {module.display: module for module in project.modules if module.reported}
    codes = of_run.codes.union(*(settings.of(module.path).codes for module in checked.values()))
    jitted_functions: int | None = None
    if engine is None:
        target = project_target(tuple(checked.values()), of_run.config)
        examined = examine(project, of_run.config, sorted(codes), target, work)
        raw, errors, jitted_functions = examined.findings, examined.errors, examined.jitted_functions
    else:
        raw, errors = _run(engine, project, of_run.config, codes, tuple(checked.values()))
    by_file: dict[str, list[Finding]] = {}
    for finding in raw:
        by_file.setdefault(finding.filename, []).append(finding)
    findings: list[Finding] = []
    for module in checked.values():
        mine = settings.of(module.path)
        on = mine.codes_in(module.path)
        found = [finding for finding in by_file.get(module.display, ()) if finding.code in on]
        found = _unsuppressed(module, found, on, complete=not errors)
        findings += filter(mine.wants, map(mine.adjusted, found))
    for fault in project.unreadable:
        mine = settings.of(fault.path)
        finding = mine.adjusted(_unreadable(fault))
        if finding.code in mine.codes_in(fault.path) and mine.wants(finding):
            findings.append(finding)
    return Analysis(
        project=project,
        modules=tuple(checked.values()),
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        codes=codes,
        internal_errors=tuple(errors),
        skipped=project.skipped,
        jitted_functions=jitted_functions,
        others=tuple(module for module in project.modules if not module.reported),
    )


def check_models(config: Config) -> None:
    """Raise ConfigError for a file of ``extra-models`` that cannot be read, or says what no such file can say."""
    if not config.extra_models:
        return
    from jitlint.knowledge.read import KnowledgeError, LibraryFile

    for path in config.extra_models:
        try:
            LibraryFile(path).validate()
        except OSError as error:
            said = f"{path} cannot be read: {error.strerror or error}"
        except (KnowledgeError, UnicodeDecodeError) as error:
            said = str(error)
        else:
            continue
        raise ConfigError(str(config.source or "--config"), said, "extra-models")


def _unsuppressed(module: Module, found: list[Finding], on: frozenset[str], *, complete: bool) -> list[Finding]:
    """What the ignore comments of a module leave, and a finding for each of them that covers nothing.

    ``complete`` says that nothing went wrong; else a comment may cover what was not found this time.
    """
    suppressions = Suppressions.of(module.text, found=bool(found))
    kept = [finding for finding in found if not suppressions.covers(finding)]
    if not complete or "JIT901" not in on:
        return kept
    tool = find_rule("JIT901")
    names = known_names()
    active = on | {names[code] for code in on}
    for unused in suppressions.unused(active, {*names, *names.values()}, filename=module.display):
        fix = None if unused.edit is None else Fix("take out what ignores nothing", (unused.edit,))
        where = (module.display, unused.span)
        kept.append(Finding(tool.code, tool.name, unused.message, *where, tool.severity, fix=fix))
    return kept


def _run(
    engine: Engine, project: SourceProject, config: Config, codes: frozenset[str], checked: Sequence[Module]
) -> tuple[list[Finding], list[InternalError]]:
    """What the engine finds; where it fails, what it finds module by module, and in which of them it failed."""
    from jitlint.registry import all_rules

    rules = [rule for rule in all_rules() if rule.code in codes]
    try:
        return list(engine(project, config, rules)), []
    except Exception as error:
        whole = internal_error("the project", error)
    findings: list[Finding] = []
    errors: list[InternalError] = []
    for module in checked:
        try:
            findings += engine(_Alone(project, module), config, rules)
        except Exception as error:
            errors.append(internal_error(module.display, error))
    return findings, errors or [whole]


@dataclass(frozen=True, slots=True)
class _Alone:
    """A project as it is, of which only one module is analysed for its own sake."""

    project: SourceProject
    module: Module
    unreadable: tuple[Unreadable, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def modules(self) -> tuple[Module, ...]:
        return (self.module,)

    def resolve(self, importer: Module, dotted: str, level: int = 0) -> Module | None:
        return self.project.resolve(importer, dotted, level)


def _unreadable(fault: Unreadable) -> Finding:
    """JIT900 for a file, or a notebook cell, that could not be read or parsed."""
    tool = find_rule("JIT900")
    span = Span(fault.row, fault.column, fault.row, fault.column + 1)
    return Finding(tool.code, tool.name, fault.message, fault.display, span, tool.severity, cell=fault.cell)


def _by_cell(finding: Finding, modules: Mapping[str, Module]) -> Finding:
    """``finding`` with its places, those of its steps and those of its fix moved into notebook cells."""

    def move(filename: str, row: int) -> tuple[str, int, int | None]:
        """The name of the text that the row is in, the row there, and the number of the cell."""
        module = modules.get(filename)
        if module is None or module.notebook is None:
            return filename, row, None
        cell, inner = module.notebook.locate(row)
        return f"{filename}:cell {cell}", inner, cell

    def step(old: Step) -> Step:
        name, row, _ = move(old.filename, old.row)
        return replace(old, filename=name, row=row)

    def edit(old: Edit) -> Edit:
        name, row, _ = move(old.filename, old.span.row)
        return Edit(name, _moved(old.span, row), old.text)

    trace = tuple(step(old) for old in finding.trace)
    fix = finding.fix
    if fix is not None:
        # Where an import goes is told by the text of the whole notebook, which those who are shown the fix do not have.
        inside = tuple(new for new in fix.imports if _is_notebook(modules.get(new.filename)))
        edits = edits_of(replace(fix, imports=inside), lambda name: modules[name].text if name in modules else None)
        fix = replace(fix, edits=tuple(map(edit, edits)), imports=tuple(new for new in fix.imports if new not in inside))
    if finding.cell is not None:
        return replace(finding, trace=trace, fix=fix)
    _, row, cell = move(finding.filename, finding.span.row)
    return replace(finding, trace=trace, fix=fix, cell=cell, span=_moved(finding.span, row))


def _is_notebook(module: Module | None) -> bool:
    return module is not None and module.notebook is not None


def _moved(span: Span, row: int) -> Span:
    return Span(row, span.column, row + span.end_row - span.row, span.end_column)
