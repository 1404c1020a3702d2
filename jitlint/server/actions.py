"""Repairs as code actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsprotocol import types
from pygls.workspace import PositionCodec

from jitlint.findings import Applicability, Finding, Fix
from jitlint.fix.apply import apply_fixes
from jitlint.output.places import source_key
from jitlint.project.suppress import add_ignores
from jitlint.server.diagnostics import located
from jitlint.server.edits import workspace_edit
from jitlint.server.places import Places

FIX_ALL = "source.fixAll.jitlint"
_QUICK_FIX = types.CodeActionKind.QuickFix


def quick_fixes(
    places: Places,
    uri: str,
    wanted: types.Range,
    given: Sequence[types.Diagnostic],
    codec: PositionCodec,
    *,
    versioned: bool,
) -> Iterator[types.CodeAction]:
    """What can be done about the findings of a text (by its address) that touch a range.

    ``given`` are the diagnostics that the client has there: an action names the one that it is about.
    """
    found = [
        (raw, shown)
        for raw, shown in located(places)
        if places.uri(source_key(shown.filename, shown.cell)) == uri and _touches(places, shown, wanted)
    ]
    for make in (_fix, _ignore):
        for raw, shown in found:
            action = make(places, raw, codec, versioned)
            if action is not None:
                range_ = places.positions(source_key(shown.filename, shown.cell)).range(shown.span)
                action.diagnostics = [
                    each for each in given if each.code == shown.code and each.range == range_
                ] or None
                yield action


def applies_to(kind: types.CodeActionKind | str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether the client wants actions of a kind: it asked for none in particular, or for the kind or one above."""
    name = str(getattr(kind, "value", kind))
    return only is None or any(
        name == asked or name.startswith(f"{asked}.") for asked in (str(getattr(each, "value", each)) for each in only)
    )


def _touches(places: Places, finding: Finding, wanted: types.Range) -> bool:
    own = places.positions(source_key(finding.filename, finding.cell)).range(finding.span)
    return own.start <= wanted.end and wanted.start <= own.end


def _fix(places: Places, finding: Finding, codec: PositionCodec, versioned: bool) -> types.CodeAction | None:
    analysis, fix = places.outcome.analysis, finding.fix
    if analysis is None or fix is None or fix.applicability is Applicability.DISPLAY:
        return None
    texts = apply_fixes([finding], analysis.text, unsafe=True).texts
    edit = workspace_edit(texts, places, codec, versioned=versioned)
    if edit is None:
        return None
    unsafe = fix.applicability is Applicability.UNSAFE
    return types.CodeAction(
        title=f"{finding.code}: {fix.message}{' (unsafe: may change what the program does)' if unsafe else ''}",
        kind=_QUICK_FIX,
        is_preferred=not unsafe,
        edit=edit,
    )


def _ignore(places: Places, finding: Finding, codec: PositionCodec, versioned: bool) -> types.CodeAction | None:
    analysis = places.outcome.analysis
    text = None if analysis is None else analysis.text(finding.filename)
    if analysis is None or text is None or finding.code.startswith("JIT90"):
        return None
    edits = tuple(add_ignores(text, [finding], filename=finding.filename))
    if not edits:
        return None
    comment = replace(finding, fix=Fix("ignore it", edits))
    edit = workspace_edit(apply_fixes([comment], analysis.text).texts, places, codec, versioned=versioned)
    if edit is None:
        return None
    return types.CodeAction(title=f"{finding.code}: ignore on this line", kind=_QUICK_FIX, edit=edit)
