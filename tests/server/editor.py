"""An editor without a screen: a real client that talks to ``jitlint server`` over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 120.0
"""Seconds until a test gives up: no measure of speed."""

Diagnostics = list[types.Diagnostic]

T = TypeVar("T")


class Editor:
    """Opens, changes and asks; keeps what the server said last."""

    def __init__(self, root: Path, settings: object = None, *, resolves: bool = True, pulls: bool = True) -> None:
        self.root = root
        self.settings = settings
        self.messages: list[str] = []
        self._resolves = resolves
        self._pulls = pulls
        self._versions: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        self._said: defaultdict[str, list[tuple[int | None, Diagnostics]]] = defaultdict(list)
        self._news = asyncio.Event()
        self.applied: list[types.WorkspaceEdit] = []
        self.client = LanguageClient("test-editor", "1")
        self._answer()

    def _answer(self) -> None:
        feature: Callable[[str], Callable[[Any], Any]] = self.client.feature

        @feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self._said[params.uri].append((params.version, list(params.diagnostics)))
            self._news.set()

        @feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        @feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            pass

        @feature(types.WORKSPACE_CONFIGURATION)
        def configuration(params: types.ConfigurationParams) -> list[object]:
            return [self.settings for _ in params.items]

        @feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(params: types.RegistrationParams) -> None:
            pass

        @feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            self.applied.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

    async def start(self) -> None:
        await self.client.start_io(sys.executable, "-m", "jitlint", "server", "--stdio", cwd=str(self.root))
        capabilities = types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                configuration=self._pulls,
                apply_edit=True,
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
            ),
            text_document=types.TextDocumentClientCapabilities(
                code_action=types.CodeActionClientCapabilities(
                    resolve_support=types.ClientCodeActionResolveOptions(["edit"]) if self._resolves else None
                )
            ),
        )
        await self.client.initialize_async(
            types.InitializeParams(
                capabilities=capabilities,
                root_uri=self.root.as_uri(),
                workspace_folders=[types.WorkspaceFolder(self.root.as_uri(), "root")],
                initialization_options={"settings": self.settings},
            )
        )
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> int:
        """End the server as editors do; its exit code."""
        process = self.client._server
        assert process is not None
        await asyncio.wait_for(self.client.shutdown_async(None), PATIENCE)
        self.client.exit(None)
        code = await asyncio.wait_for(process.wait(), PATIENCE)
        stop: Callable[[], Awaitable[None]] = self.client.stop
        await stop()
        return code

    # --- documents ---

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str) -> None:
        uri = self.uri(name)
        self._versions[uri], self._texts[uri] = 1, text
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str) -> None:
        uri = self.uri(name)
        self._versions[uri] += 1
        self._texts[uri] = text
        identifier = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(identifier, [types.TextDocumentContentChangeWholeDocument(text)])
        )

    def save(self, name: str) -> None:
        (self.root / name).write_text(self._texts[self.uri(name)])
        identifier = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(identifier))

    def close(self, name: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        )

    def tell_of(self, name: str) -> None:
        """Say that a file changed on disk."""
        change = types.FileEvent(self.uri(name), types.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))

    def text(self, name: str) -> str:
        return self._texts[self.uri(name)]

    # --- answers ---

    async def diagnostics(self, name: str) -> Diagnostics:
        """The diagnostics of the present version of a document."""
        uri = self.uri(name)
        said = await self._until(lambda: [each for version, each in self._said[uri] if version == self._versions[uri]])
        return said[-1]

    async def diagnostics_at(self, uri: str, wanted: Callable[[Diagnostics], bool]) -> Diagnostics:
        """The first diagnostics of an address that are as wanted."""
        return (await self._until(lambda: [each for _, each in self._said[uri] if wanted(each)]))[-1]

    def said(self, uri: str) -> int:
        """How often diagnostics were published for an address."""
        return len(self._said[uri])

    async def again(self, name: str, before: int) -> Diagnostics:
        """The diagnostics that are published after ``before`` earlier ones."""
        uri = self.uri(name)
        await self._until(lambda: len(self._said[uri]) > before)
        return self._said[uri][-1][1]

    async def message(self) -> str:
        await self._until(lambda: self.messages)
        return self.messages[-1]

    async def _until(self, ready: Callable[[], T]) -> T:
        async def wait() -> T:
            while not (found := ready()):
                self._news.clear()
                await self._news.wait()
            return found

        return await asyncio.wait_for(wait(), PATIENCE)

    async def actions(
        self, name: str, diagnostic: types.Diagnostic, only: list[types.CodeActionKind | str] | None = None
    ) -> list[types.CodeAction | types.Command]:
        context = types.CodeActionContext([diagnostic], only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), diagnostic.range, context)
        found = await asyncio.wait_for(self.client.text_document_code_action_async(params), PATIENCE)
        return list(found or ())

    async def repairs(
        self, name: str, diagnostic: types.Diagnostic, only: list[types.CodeActionKind | str] | None = None
    ) -> list[types.CodeAction]:
        """The actions that are more than a command."""
        return [each for each in await self.actions(name, diagnostic, only) if isinstance(each, types.CodeAction)]

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        return await asyncio.wait_for(self.client.code_action_resolve_async(action), PATIENCE)

    async def hover(self, name: str, row: int, column: int) -> str:
        """The text of the hover at a place, both from 1; empty if there is none."""
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(row - 1, column - 1))
        found = await asyncio.wait_for(self.client.text_document_hover_async(params), PATIENCE)
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def hints(self, name: str) -> list[tuple[int, str]]:
        """Row, from 1, and text of every inlay hint."""
        whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(self.uri(name)), whole)
        found = await asyncio.wait_for(self.client.text_document_inlay_hint_async(params), PATIENCE)
        return [(hint.position.line + 1, str(hint.label)) for hint in found or ()]

    def applied_to(self, edit: types.WorkspaceEdit | None) -> dict[str, str]:
        """The texts that an edit makes, by address."""
        assert edit is not None
        texts: dict[str, str] = {}
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            uri = change.text_document.uri
            assert change.text_document.version in (None, self._versions.get(uri))
            text = self._texts[uri] if uri in self._texts else Path(uri.removeprefix("file://")).read_text()
            edits = [each for each in change.edits if isinstance(each, types.TextEdit)]
            texts[uri] = apply(text, edits)
        return texts


def apply(text: str, edits: list[types.TextEdit]) -> str:
    """The text with edits applied, as a client does that counts in UTF-16."""
    rows = text.encode("utf-16-le").split(b"\n\0")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 2)
    data = text.encode("utf-16-le")

    def offset(position: types.Position) -> int:
        return min(starts[position.line] + 2 * position.character, len(data))

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        start, end = offset(edit.range.start), offset(edit.range.end)
        data = data[:start] + edit.new_text.encode("utf-16-le") + data[end:]
    return data.decode("utf-16-le")


def in_editor(root: Path, session: Callable[[Editor], Awaitable[None]], **options: Any) -> None:
    """Run a session with an editor that has ``root`` open; the server must end well after it."""

    async def run() -> None:
        editor = Editor(root, **options)
        await editor.start()
        try:
            await session(editor)
        finally:
            code = await editor.stop()
        assert code == 0

    asyncio.run(run())
