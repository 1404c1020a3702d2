"""What is open, what is known of it, and what is to be analysed next. Knows nothing of how the editor is told."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from jitlint.check import Analysis
from jitlint.project.config import ConfigError
from jitlint.project.index import Unparsable
from jitlint.project.sources import read_source
from jitlint.registry import UnknownRuleError
from jitlint.repair import Repair, repair
from jitlint.server.documents import Document
from jitlint.server.options import Options
from jitlint.server.queue import Queue, Stopped
from jitlint.server.run import Cancelled, Folder, Outcome, tidy

TYPING_PAUSE = 0.2
"""Seconds without a change after which a document is analysed."""

RELATED_PAUSE = 0.6
"""Seconds after which those are looked at again that use a changed document, or are used by it."""


class Listener(Protocol):
    """Who is told of results, on the thread of the analysis."""

    def done(self, outcome: Outcome) -> None:
        """A document was analysed."""

    def failed(self, document: Document, message: str) -> None:
        """A document could not be analysed: a configuration is wrong, or jitlint is."""


class Checks:
    """The open documents and their outcomes."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._documents: dict[str, Document] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._folders: dict[Path, Folder] = {}
        self._options: dict[Path, Options] = {}
        self._queue = Queue()

    # --- what the editor says ---

    def set_folders(self, roots: Mapping[Path, Options]) -> None:
        """These are the folders of the workspace and their settings; everything open is analysed again."""
        self._options = dict(roots)
        for root in roots:
            self._folders.setdefault(root, Folder(root))
        self.again()

    def open(self, document: Document) -> None:
        """A document was opened, or has a new text."""
        known = document.uri in self._documents
        self._documents[document.uri] = document
        self._ask(document.uri, TYPING_PAUSE if known else 0.0)

    def close(self, uri: str) -> None:
        """A document is no longer open; what is on disk counts from now on."""
        self._queue.drop(uri)
        document = self._documents.pop(uri, None)
        outcome = self._outcomes.pop(uri, None)
        self.files_changed()
        if document is not None and outcome is not None and not _is_saved(document):
            self._look_at_related(outcome)

    def files_changed(self) -> None:
        """Files, or configurations, may have changed on disk."""
        for folder in list(self._folders.values()):
            folder.users.stale = True

    def again(self) -> None:
        """Analyse everything that is open again."""
        self.files_changed()
        for uri in list(self._documents):
            self._ask(uri, TYPING_PAUSE)

    def shut_down(self) -> None:
        """Stop, and begin nothing more."""
        self._queue.close()

    # --- what is known ---

    def document(self, uri: str) -> Document | None:
        """The open document at an address, which may be that of a notebook cell."""
        found = self._documents.get(uri)
        if found is not None:
            return found
        return next((each for each in list(self._documents.values()) if each.cell_at(uri) is not None), None)

    def outcome(self, uri: str) -> Outcome | None:
        """What is known of the present version of a document, if it is known already."""
        document = self.document(uri)
        found = None if document is None else self._outcomes.get(document.uri)
        return found if found is not None and found.document is document else None

    def is_waiting(self, uri: str) -> bool:
        """Whether an analysis of the document is yet to come."""
        document = self.document(uri)
        return document is not None and self._queue.is_waiting(document.uri)

    def hurry(self, uri: str) -> None:
        """Somebody waits for the outcome of a document."""
        document = self.document(uri)
        if document is not None:
            self._queue.hurry(document.uri)

    def options(self, path: Path) -> Options:
        """The settings that hold for a file."""
        return self._options.get(self._root(path), Options())

    def open_document(self, path: Path) -> Document | None:
        """The open document of a file."""
        return next((each for each in list(self._documents.values()) if each.path == path), None)

    # --- what is done ---

    def repair(self, document: Document, then: Callable[[Repair | None], None]) -> None:
        """Do in memory what ``jitlint check --fix`` does to the document's file, and tell ``then`` what came of it.

        ``then`` is called on the thread of the analysis, with None if it could not be done.
        """

        def job(stopped: Stopped) -> None:
            folder, options, texts = self._folder(document.path), self.options(document.path), self._texts(document)

            def check(changed: Mapping[str, str]) -> Analysis:
                analysis = folder.check(document, texts, options, stopped, changed).analysis
                if analysis is None:
                    raise ConfigError(str(document.path), "is excluded by the configuration")
                return analysis

            try:
                done = repair(check)
            except Cancelled:
                # Begun again, unless the text has changed meanwhile.
                if self._documents.get(document.uri) is document:
                    return
                done = None
            except Exception:
                done = None
            then(done)

        self._queue.ask(f"repair {document.uri}", job)

    def _root(self, path: Path) -> Path:
        """The innermost folder of the workspace around a file; its own directory outside of them."""
        around = [root for root in self._options if path.is_relative_to(root)]
        return max(around, key=lambda root: len(root.parts), default=path.parent)

    def _folder(self, path: Path) -> Folder:
        root = self._root(path)
        return self._folders.setdefault(root, Folder(root))

    def _texts(self, document: Document) -> dict[str, str]:
        """The texts of the other open files, by absolute path."""
        others = (each for each in list(self._documents.values()) if each.uri != document.uri and not each.is_notebook)
        return {str(each.path): each.text for each in others}

    def _ask(self, uri: str, delay: float, *, interrupt: bool = True) -> None:
        self._queue.ask(uri, lambda stopped: self._work(uri, stopped), delay, interrupt=interrupt)

    def _work(self, uri: str, stopped: Stopped) -> None:
        document = self._documents.get(uri)
        if document is None:
            return
        before = self._outcomes.get(uri)
        try:
            options = self.options(document.path)
            outcome = self._folder(document.path).check(document, self._texts(document), options, stopped)
        except Cancelled:
            return
        except (ConfigError, UnknownRuleError) as error:
            self._outcomes.pop(uri, None)
            self._listener.failed(document, str(error))
            return
        except Exception as error:
            self._outcomes.pop(uri, None)
            self._listener.failed(document, f"jitlint failed, please report it: {error}\n{traceback.format_exc()}")
            return
        if self._documents.get(uri) is not document:
            return
        self._outcomes[uri] = outcome
        self._listener.done(outcome)
        if before.document is not document if before is not None else not _is_saved(document):
            self._look_at_related(outcome)
        tidy()

    def _look_at_related(self, outcome: Outcome) -> None:
        """Analyse again what else is open and took part, or in which the document took part."""
        path = outcome.document.path
        for uri, other in list(self._outcomes.items()):
            if other.document.path != path and (other.has(path) or outcome.has(other.document.path)):
                self._ask(uri, RELATED_PAUSE, interrupt=False)


def _is_saved(document: Document) -> bool:
    """Whether the text of a document is that of its file."""
    try:
        return document.is_notebook or read_source(document.path).text == document.text
    except Unparsable:
        return False
