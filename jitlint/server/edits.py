"""New texts as the smallest edits that make them, cell by cell in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from lsprotocol import types
from pygls.workspace import PositionCodec

from jitlint.project.index import split_rows
from jitlint.project.model import Module
from jitlint.project.notebook import parse_notebook
from jitlint.server.documents import Positions
from jitlint.server.places import Places


def text_edits(old: str, new: str, codec: PositionCodec) -> list[types.TextEdit]:
    """The edits that make ``new`` of ``old``: whole rows, but for what they have in common at both ends."""
    positions = Positions(old, codec)
    before, after = split_rows(old), split_rows(new)
    starts = [0]
    for row in before:
        starts.append(starts[-1] + len(row))
    edits = []
    for kind, first, last, new_first, new_last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            start, end, text = _trimmed(old, starts[first], starts[last], "".join(after[new_first:new_last]))
            edits.append(types.TextEdit(positions.exact(start, end), text))
    return edits


def _trimmed(old: str, start: int, end: int, text: str) -> tuple[int, int, str]:
    """A replacement without what stays at its ends; a line end of two characters is never torn apart."""
    while start < end and text and old[start] == text[0] and text[0] not in "\r\n":
        start, text = start + 1, text[1:]
    last, kept = end, text
    while start < last and kept and old[last - 1] == kept[-1]:
        last, kept = last - 1, kept[:-1]
    if old[last : last + 1] == "\n" and (old[:last].endswith("\r") or kept.endswith("\r")):
        return start, end, text
    return start, last, kept


def workspace_edit(
    texts: Mapping[str, str], places: Places, codec: PositionCodec, *, versioned: bool
) -> types.WorkspaceEdit | None:
    """The edit that gives files (by the filename that findings carry) new module texts; None where nothing changes.

    ``versioned`` says that the client takes edits that name the version of a document.
    """
    analysis = places.outcome.analysis
    assert analysis is not None
    changes: dict[str, list[types.TextEdit]] = {}
    for name, text in texts.items():
        for part, old, new in _parts(analysis.by_name[name], name, text, places):
            edits = text_edits(old, new, codec)
            if edits:
                changes[places.uri(part)] = edits
    if not changes:
        return None
    if not versioned:
        return types.WorkspaceEdit(changes=changes)
    own = {uri for _, uri, _ in places.outcome.document.parts()}
    version = None if places.outcome.document.is_notebook else places.outcome.document.version
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, version if uri in own else None), list(edits)
            )
            for uri, edits in changes.items()
        ]
    )


def _parts(module: Module, name: str, text: str, places: Places) -> Iterator[tuple[str, str, str]]:
    """Name, old and new text of what the editor shows of a module: itself, or its cells."""
    if module.notebook is None:
        yield name, places.outcome.document.text if name == places.outcome.name else module.text, text
        return
    new = {cell.number: cell.source for cell in parse_notebook(module.notebook.rewritten(text)).cells}
    for cell in module.notebook.cells:
        yield f"{name}:cell {cell.number}", cell.source, new[cell.number]
