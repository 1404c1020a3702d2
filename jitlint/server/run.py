"""One analysis of one document, with what it uses and who uses it."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from jitlint import semantics
from jitlint.api import Rule
from jitlint.check import Analysis, analyse, check_models
from jitlint.collector import collector_paused
from jitlint.findings import Finding
from jitlint.project.config import Config
from jitlint.project.discovery import display_path, is_excluded
from jitlint.project.model import Module, Project
from jitlint.project.modules import SourceProject
from jitlint.semantics import forecast
from jitlint.semantics.driver import Analysis as Interpreted
from jitlint.semantics.explain import Belief, Watcher
from jitlint.semantics.forecast import Forecast
from jitlint.semantics.interp import Interpreter
from jitlint.semantics.running import Frame
from jitlint.semantics.values import Value
from jitlint.server.documents import Document
from jitlint.server.memory import Indexes, Trees
from jitlint.server.options import Options
from jitlint.server.users import Users


class Cancelled(BaseException):
    """The result of an analysis is no longer wanted. No ``Exception``, so that no handler takes it for a fault."""


@dataclass(frozen=True)
class Outcome:
    """What is known of one version of a document."""

    document: Document
    name: str
    """The filename that its findings carry."""
    analysis: Analysis | None = field(default=None, repr=False)
    """None for a document that settings exclude."""
    beliefs: tuple[Belief, ...] = field(default=(), repr=False)
    """What is static and traced; places are those of the module text."""
    forecasts: tuple[Forecast, ...] = ()

    @property
    def module(self) -> Module | None:
        """The document as a module; None where it does not parse."""
        return None if self.analysis is None else self.analysis.by_name.get(self.name)

    def has(self, path: Path) -> bool:
        """Whether the file at ``path`` took part in the analysis."""
        return self.analysis is not None and any(module.path == path for module in self.analysis.project.modules)


class Folder:
    """One workspace folder: its files, and what earlier analyses left for later ones."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._indexes = Indexes()
        self._trees = Trees()
        self.users = Users(root, self._indexes.index)

    def check(
        self,
        document: Document,
        open_texts: Mapping[str, str],
        options: Options,
        cancelled: Callable[[], bool],
        changed: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Analyse a document.

        ``open_texts`` are the texts of the other open files by absolute path, ``changed`` module texts that stand in
        for those of the document or of files. Raises ConfigError, UnknownRuleError, and Cancelled soon after
        ``cancelled`` gives true.
        """
        name = display_path(document.path)
        resolver, selection = options.resolver(), options.selection()
        config = resolver.for_file(document.path)
        if not options.enable or is_excluded(document.path, config):
            return Outcome(document, name)
        check_models(config)
        if self.users.stale:
            self.users.refresh(resolver)
        project = SourceProject(resolver, {**open_texts, **(changed or {})}, self._indexes.index)
        project.add_stdin(name, document.text)
        users = [] if document.is_notebook else self.users.of(document.path, open_texts, resolver)
        modules = [module for user in users if (module := project.add_neighbour(user)) is not None]
        engine = _Engine(config, self._trees, _speaking_of(document.text, modules), cancelled)
        with collector_paused():
            analysis = analyse(project, resolver, selection, engine)
            return Outcome(document, name, analysis, engine.beliefs, engine.forecasts)


_DEFINED = re.compile(r"\b(?:def|class)[ \t]+(\w+)")


def _speaking_of(text: str, users: Sequence[Module]) -> frozenset[int]:
    """The ids of the statements of ``users`` that speak of what ``text`` defines, or of what such a statement defines.

    What nothing calls elsewhere has nothing to say of the text, and need not be run.
    """
    names = set(_DEFINED.findall(text))
    waiting = [statement for module in users for statement in module.index.statements if statement.kind != "import"]
    chosen: set[int] = set()
    grown = True
    while grown:
        speaking = [statement for statement in waiting if not names.isdisjoint(statement.mentions)]
        chosen.update(id(statement) for statement in speaking)
        waiting = [statement for statement in waiting if id(statement) not in chosen]
        grown = bool(speaking)
        for statement in speaking:
            names.update(_DEFINED.findall(statement.text))
    return frozenset(chosen)


class _Engine:
    """Stands in for ``semantics.analyse``: it re-uses trees, can be stopped, and remembers what was believed."""

    def __init__(self, config: Config, trees: Trees, users: frozenset[int], cancelled: Callable[[], bool]) -> None:
        self._config = config
        self._trees = trees
        self._users = users
        self._cancelled = cancelled
        self._watcher = Watcher(lambda frame: frame.unit.module.reported)
        self.beliefs: tuple[Belief, ...] = ()
        self.forecasts: tuple[Forecast, ...] = ()

    def __call__(self, project: Project, config: Config, rules: Sequence[Rule]) -> Sequence[Finding]:
        self._watcher = Watcher(lambda frame: frame.unit.module.reported)
        found: Interpreted | None = None
        try:
            found = semantics.run(project, self._config, rules, prepare=self._prepare)
        finally:
            self._trees.done(whole=found is not None)
        self.beliefs = tuple(self._watcher.beliefs(reads=True))
        self.forecasts = tuple(forecast.of(found))
        return found.findings

    def _prepare(self, interp: Interpreter) -> None:
        interp.make_unit = self._trees.unit
        interp.watch = self._watch
        interp.runs_uncalled = lambda unit: unit.module.reported or id(unit.statement) in self._users

    def _watch(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        if self._cancelled():
            raise Cancelled
        self._watcher.note(frame, node, value)


def tidy() -> None:
    """Collect what an analysis left, when nobody waits; what is still there is kept and not looked at again."""
    gc.collect()
    gc.freeze()
