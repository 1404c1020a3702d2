"""The server as editors see it: requests and notifications of the protocol, nothing of how they are answered."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from jitlint import __version__
from jitlint.project.discovery import absolute_path
from jitlint.repair import Repair
from jitlint.server import lenses
from jitlint.server.actions import FIX_ALL, applies_to, quick_fixes
from jitlint.server.checks import Checks
from jitlint.server.diagnostics import diagnostics
from jitlint.server.documents import CellText, Document
from jitlint.server.edits import workspace_edit
from jitlint.server.options import SECTION, Options, read_options
from jitlint.server.pages import Pages
from jitlint.server.places import Places
from jitlint.server.run import Outcome

FIX_ALL_COMMAND = "jitlint.fixAll"

_PATIENCE = 60.0
"""Seconds that a request waits for an analysis."""

_WATCHED = ("**/*.py", "**/pyproject.toml", "**/jitlint.toml", "**/.jitlint.toml", "**/.gitignore")


class Server(LanguageServer):
    """The language server. :func:`make_server` gives one that answers."""

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentFilterWithCells(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
        )
        super().__init__(
            "jitlint",
            __version__,
            # The whole text each time: pygls counts rows otherwise than editors do where a line has a form feed.
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=types.NotebookDocumentSyncOptions([notebooks]),
        )
        self.checks = Checks(self)
        self.pages = Pages()
        self._settings: object = None
        self._waiting: defaultdict[str, list[asyncio.Future[None]]] = defaultdict(list)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._complaint = ""

    # --- results, on the thread of the analysis ---

    def done(self, outcome: Outcome) -> None:
        """A document was analysed."""
        self._soon(lambda: self._publish(outcome))

    def failed(self, document: Document, message: str) -> None:
        """A document could not be analysed."""
        self._soon(lambda: self._complain(document, message))

    def _soon(self, call: Callable[[], None]) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it ends before the analysis does
                self._loop.call_soon_threadsafe(call)

    # --- results, on the thread of the protocol ---

    def _publish(self, outcome: Outcome) -> None:
        document = outcome.document
        if self.checks.outcome(document.uri) is outcome:
            self._complaint = ""
            options = self.checks.options(document.path)
            found = diagnostics(self.places(outcome), self.pages.link, syntax_errors=options.show_syntax_errors)
            for uri, each in found.items():
                version = None if document.is_notebook else document.version
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, each, version))
            for error in () if outcome.analysis is None else outcome.analysis.internal_errors:
                self._log(f"jitlint failed on {error.where}: {error.message}\n{error.details}", types.MessageType.Error)
        self._wake(document.uri)

    def _complain(self, document: Document, message: str) -> None:
        head = message.partition("\n")[0]
        if head != self._complaint:
            self._complaint = head
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"jitlint: {head}"))
        self._log(f"{document.path}: {message}", types.MessageType.Error)
        self._wake(document.uri)

    def _wake(self, uri: str) -> None:
        for waiting in self._waiting.pop(uri, ()):
            if not waiting.done():
                waiting.set_result(None)

    def _log(self, message: str, kind: types.MessageType) -> None:
        self.window_log_message(types.LogMessageParams(kind, message))

    def clear(self, document: Document) -> None:
        """Take the diagnostics of a document away."""
        for _, uri, _ in document.parts():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    # --- what handlers need ---

    def begin(self, options: object) -> None:
        """The protocol begins. ``options`` are the initialization options: settings, or an object that holds them."""
        self._loop = asyncio.get_running_loop()
        self._settings = options["settings"] if isinstance(options, dict) and "settings" in options else options
        roots = self.roots()
        if roots:
            # File names are shown, and patterns understood, as a command in the folder of the workspace would.
            with contextlib.suppress(OSError):
                os.chdir(roots[0])

    def end(self) -> None:
        """The protocol ends."""
        self.checks.shut_down()
        self.pages.close()

    def roots(self) -> list[Path]:
        """The folders of the workspace."""
        uris = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri]
        return [absolute_path(path) for uri in uris if uri and (path := to_fs_path(uri))]

    async def configure(self, settings: object = None) -> None:
        """Take settings over: those given, or what the client says when it is asked."""
        if settings is not None:
            self._settings = settings.get(SECTION, settings) if isinstance(settings, dict) else settings
        asks = self.client_capabilities.workspace
        roots = self.roots()
        values: Sequence[object] = [self._settings] * len(roots)
        if asks is not None and asks.configuration and roots:
            items = [types.ConfigurationItem(scope_uri=root.as_uri(), section=SECTION) for root in roots]
            answer = await self.workspace_configuration_async(types.ConfigurationParams(items))
            values = [self._settings if value is None else value for value in answer]
        options: dict[Path, Options] = {}
        for root, value in zip(roots, values, strict=True):
            options[root], faults = read_options(value, root)
            for fault in faults:
                self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"jitlint: {fault}"))
        self.checks.set_folders(options)

    async def watch_files(self) -> None:
        """Ask the client to say when files change."""
        asks = self.client_capabilities.workspace
        watched = None if asks is None else asks.did_change_watched_files
        if watched is None or not watched.dynamic_registration:
            return
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(glob) for glob in _WATCHED])
        registration = types.Registration("jitlint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await self.client_register_capability_async(types.RegistrationParams([registration]))

    def path_of(self, uri: str) -> Path:
        """The file of an address; for what has none yet, a name in the folder of the workspace."""
        parts = urlsplit(uri)
        if parts.scheme == "file" and (path := to_fs_path(uri)):
            return absolute_path(path)
        name = PurePosixPath(parts.path).name or "untitled"
        return next(iter(self.roots()), Path.cwd()) / (name if name.endswith(".py") else f"{name}.py")

    def take(self, uri: str) -> None:
        """Take the present text of a document over from the protocol's workspace."""
        text = self.workspace.get_text_document(uri)
        path = self.path_of(uri)
        if text.language_id in (None, "", "python") or path.suffix in (".py", ".pyi"):
            self.checks.open(Document(uri, path, text.source, text.version or 0))

    def take_notebook(self, uri: str) -> None:
        """Take the present cells of a notebook over from the protocol's workspace."""
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if notebook is None:
            return
        cells = []
        for number, cell in enumerate(notebook.cells, start=1):
            text = self.workspace.get_text_document(cell.document)
            if cell.kind is types.NotebookCellKind.Code and text.language_id in (None, "", "python"):
                cells.append(CellText(cell.document, number, text.source))
        self.checks.open(Document.of_notebook(uri, self.path_of(uri), notebook.version, cells, len(notebook.cells)))

    def places(self, outcome: Outcome) -> Places:
        """Addresses and positions for an outcome."""
        return Places(outcome, self.workspace.position_codec, self.checks.open_document)

    async def known(self, uri: str, *, hurry: bool) -> Places | None:
        """What is known of the present text of a document, as soon as it is; None if nothing will be."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _PATIENCE
        while loop.time() < end:
            outcome = self.checks.outcome(uri)
            document = self.checks.document(uri)
            if outcome is not None:
                return self.places(outcome)
            if document is None or not self.checks.is_waiting(uri):
                return None
            if hurry:
                self.checks.hurry(uri)
            waiting: asyncio.Future[None] = loop.create_future()
            self._waiting[document.uri].append(waiting)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(waiting, 1.0)
        return None

    async def fix_all(self, uri: str) -> types.WorkspaceEdit | None:
        """The edit that does what ``jitlint check --fix`` does to a document; None where that is nothing."""
        document = self.checks.document(uri)
        if document is None:
            return None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Repair | None] = loop.create_future()

        def answered(repair: Repair | None) -> None:
            if not answer.done():
                answer.set_result(repair)

        self.checks.repair(document, lambda repair: self._soon(lambda: answered(repair)))
        repair = await asyncio.wait_for(answer, _PATIENCE)
        if repair is None or self.checks.document(uri) is not document:
            return None
        outcome = Outcome(document, name=str(repair.before.modules[0].display), analysis=repair.before)
        return workspace_edit(
            repair.texts, self.places(outcome), self.workspace.position_codec, versioned=self.takes_versions
        )

    @property
    def takes_versions(self) -> bool:
        """Whether the client takes edits that name the version of a document."""
        asks = self.client_capabilities.workspace
        return bool(asks and asks.workspace_edit and asks.workspace_edit.document_changes)

    @property
    def takes_unresolved_edits(self) -> bool:
        """Whether the client asks for the edit of an action when it is chosen."""
        asks = self.client_capabilities.text_document
        resolve = asks.code_action.resolve_support if asks and asks.code_action else None
        return resolve is not None and "edit" in resolve.properties


def make_server() -> Server:
    """A server that answers; ``start_io`` makes it serve."""
    server = Server()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await server.configure()
        await server.watch_files()

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.end()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.take(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.take(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.checks.files_changed()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        close(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open_notebook(params: types.DidOpenNotebookDocumentParams) -> None:
        server.take_notebook(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change_notebook(params: types.DidChangeNotebookDocumentParams) -> None:
        server.take_notebook(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close_notebook(params: types.DidCloseNotebookDocumentParams) -> None:
        close(params.notebook_document.uri)

    def close(uri: str) -> None:
        document = server.checks.document(uri)
        server.checks.close(uri)
        if document is not None:
            server.clear(document)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        await server.configure(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: types.DidChangeWatchedFilesParams) -> None:
        opened = [server.checks.document(change.uri) for change in params.changes]
        if all(document is not None for document in opened):
            server.checks.files_changed()  # saved: their texts are known already
        else:
            server.checks.again()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        await server.configure()

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        uri, only = params.text_document.uri, params.context.only
        places = await server.known(uri, hurry=True)
        if places is None:
            return []
        actions: list[types.CodeAction | types.Command] = []
        if applies_to(types.CodeActionKind.QuickFix, only):
            codec, versioned = server.workspace.position_codec, server.takes_versions
            given = params.context.diagnostics
            actions += quick_fixes(places, uri, params.range, given, codec, versioned=versioned)
        if applies_to(FIX_ALL, only):
            title = "jitlint: fix everything that is safe to fix"
            if server.takes_unresolved_edits:
                actions.append(types.CodeAction(title, FIX_ALL, data=uri))
            elif not only:
                actions.append(types.Command(title, FIX_ALL_COMMAND, arguments=[uri]))
            elif (edit := await server.fix_all(uri)) is not None:
                actions.append(types.CodeAction(title, FIX_ALL, edit=edit))
        return actions

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(params: types.CodeAction) -> types.CodeAction:
        if params.edit is None and isinstance(params.data, str):
            params.edit = await server.fix_all(params.data)
        return params

    @server.command(FIX_ALL_COMMAND)
    async def fix_all(uri: str) -> None:
        edit = await server.fix_all(uri)
        if edit is not None:
            await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "jitlint: fix everything"))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        places = await server.known(uri, hurry=True)
        if places is None or not server.checks.options(places.outcome.document.path).hover:
            return None
        return lenses.hover(places, places.outcome.document.cell_at(uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        uri = params.text_document.uri
        places = await server.known(uri, hurry=False)
        if places is None or not server.checks.options(places.outcome.document.path).inlay_hints:
            return []
        return lenses.inlay_hints(places, places.outcome.document.cell_at(uri), params.range)

    return server
