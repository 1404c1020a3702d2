"""What one analysis leaves for the next: indexes of texts, and trees of statements.

A statement that was not edited keeps its tree, wherever it has moved to; parsing is half the price of an analysis.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from jitlint.project.index import Unparsable, index_source
from jitlint.project.model import Module, ModuleIndex, TopStatement
from jitlint.semantics.source import Unit, forget_trees

MAX_TREES = 3_000_000
"""Characters of source whose trees are kept. A tree takes a hundred times the room of its text."""

MAX_INDEXED = 20_000_000
"""Characters of source whose indexes are kept."""

_FORGET_EVERY = 50
"""Analyses after which is dropped what the engine remembers of trees that are gone."""


class Indexes:
    """Indexes of texts: the ``indexer`` of a project."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], ModuleIndex | Unparsable] = OrderedDict()
        self._size = 0

    def index(self, text: str, *, package: str = "") -> ModuleIndex:
        """As :func:`jitlint.project.index.index_source`, and raises as that does."""
        key = (text, package)
        found = self._known.get(key)
        if found is None:
            try:
                found = index_source(text, package=package)
            except Unparsable as fault:
                found = fault
            self._known[key] = found
            self._size += len(text)
            while self._size > MAX_INDEXED and len(self._known) > 1:
                (old, _), _ = self._known.popitem(last=False)
                self._size -= len(old)
        self._known.move_to_end(key)
        if isinstance(found, Unparsable):
            raise Unparsable(found.row, found.column, found.message)
        return found


_Table = dict[str, list[Unit]]


class Trees:
    """Units of modules: the ``make_unit`` of an interpreter. One analysis at a time may use it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, _Table] = OrderedDict()
        self._used: dict[Path, _Table] = {}
        self._runs = 0

    def unit(self, module: Module, statement: TopStatement) -> Unit:
        """The unit of a statement, with its tree if the last analysis of the module had one of the same text.

        Statements of the same text get trees of their own: the interpreter tells nodes apart by identity.
        """
        same = self._used.setdefault(module.path, {}).setdefault(statement.text, [])
        old = self._kept.get(module.path, {}).get(statement.text, [])
        unit = old[len(same)].moved(module, statement) if len(same) < len(old) else Unit(module, statement)
        same.append(unit)
        return unit

    def done(self, *, whole: bool) -> None:
        """End an analysis. ``whole`` says that it came to its end: what it did not use then is dropped."""
        for path, table in self._used.items():
            if not whole:
                for text, units in self._kept.get(path, {}).items():
                    if len(units) > len(table.get(text, [])):
                        table[text] = units
            self._kept[path] = table
            self._kept.move_to_end(path)
        self._used = {}
        sizes = {
            path: sum(len(text) * len(units) for text, units in table.items()) for path, table in self._kept.items()
        }
        total = sum(sizes.values())
        while total > MAX_TREES and len(self._kept) > 1:
            path, _ = self._kept.popitem(last=False)
            total -= sizes[path]
        self._runs += 1
        if self._runs % _FORGET_EVERY == 0:
            forget_trees()
