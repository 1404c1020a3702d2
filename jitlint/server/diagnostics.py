"""Findings as diagnostics."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from jitlint.findings import Finding, Severity
from jitlint.output.places import headline, source_key
from jitlint.server.places import Places

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostics(
    places: Places, link: Callable[[str], str | None], *, syntax_errors: bool
) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of every text of a document by its address, those without any included.

    ``link`` gives the address of the page of a rule; ``syntax_errors`` says whether JIT900 is wanted.
    """
    found: dict[str, list[types.Diagnostic]] = {uri: [] for _, uri, _ in places.outcome.document.parts()}
    for _, finding in located(places):
        if finding.code == "JIT900" and not syntax_errors:
            continue
        uri = places.uri(source_key(finding.filename, finding.cell))
        found.setdefault(uri, []).append(_diagnostic(finding, places, link))
    return found


def located(places: Places) -> list[tuple[Finding, Finding]]:
    """The findings in the document itself: each as the engine places it, and by cell."""
    analysis = places.outcome.analysis
    if analysis is None:
        return []
    pairs = zip(analysis.findings, analysis.located(analysis.findings), strict=True)
    return [(raw, shown) for raw, shown in pairs if shown.filename == places.outcome.name]


def _diagnostic(finding: Finding, places: Places, link: Callable[[str], str | None]) -> types.Diagnostic:
    name = source_key(finding.filename, finding.cell)
    page = finding.url or link(finding.code)
    related = [
        types.DiagnosticRelatedInformation(places.location(step.filename, step.row, step.column), step.what)
        for step in finding.trace
    ]
    return types.Diagnostic(
        range=places.positions(name).range(finding.span),
        message=headline(finding) + (f"\n{finding.help}" if finding.help else ""),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=None if page is None else types.CodeDescription(page),
        source="jitlint",
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == "JIT901" else None,
        related_information=related or None,
    )
