"""What is known besides findings: what is traced and why, and how many programs are compiled."""

from __future__ import annotations

from lsprotocol import types

from jitlint.findings import Span
from jitlint.semantics.explain import Belief
from jitlint.semantics.forecast import Forecast
from jitlint.server.places import Places

_NOT_CALLED = "no call seen"


def hover(places: Places, cell: int | None, position: types.Position) -> types.Hover | None:
    """What is believed of the innermost expression at a position of the document, or of one of its cells."""
    positions = places.positions(_name(places, cell))
    row, column = positions.place(position)
    first = _first_row(places, cell)
    if first is None:
        return None
    place = (row + first - 1, column)
    around = [belief for belief in places.outcome.beliefs if _holds(belief.span, place)]
    # Of several beliefs of one place (a default, a call of a call) the shortest text is the nearest.
    belief = min(around, key=lambda belief: (_size(belief.span), len(belief.text)), default=None)
    counted = [each for each in _forecasts(places) if each.row == place[0]]
    lines = ([] if belief is None else _told(belief)) + [line for each in counted for line in _counted(each)]
    if not lines:
        return None
    text = types.MarkupContent(types.MarkupKind.Markdown, "\n".join(lines))
    if belief is None:
        return types.Hover(text)
    span = belief.span
    shown = Span(span.row - first + 1, span.column, span.end_row - first + 1, span.end_column)
    return types.Hover(text, positions.range(shown))


def inlay_hints(places: Places, cell: int | None, wanted: types.Range) -> list[types.InlayHint]:
    """At the end of each row where a function is jitted, how many programs it is compiled for, as far as seen."""
    first = _first_row(places, cell)
    if first is None:
        return []
    positions = places.positions(_name(places, cell))
    hints = []
    for each in _forecasts(places):
        at = positions.row_end(each.row - first + 1)
        if each.row >= first and at.line == each.row - first and wanted.start.line <= at.line <= wanted.end.line:
            causes = "\n".join(f"- {cause}" for cause in each.causes)
            about = f"`{each.name}` is compiled for {_programs(each)}\n\n{causes}".rstrip()
            tooltip = types.MarkupContent(types.MarkupKind.Markdown, about)
            hints.append(types.InlayHint(at, _programs(each), padding_left=True, tooltip=tooltip))
    return hints


def _programs(forecast: Forecast) -> str:
    if forecast.number is None:
        return f"one program {forecast.count.removeprefix('one ')}"
    return f"{forecast.count} {'program' if forecast.number == 1 else 'programs'}"


def _forecasts(places: Places) -> list[Forecast]:
    """Those of the document's functions that something calls."""
    name = places.outcome.name
    return [each for each in places.outcome.forecasts if each.filename == name and each.count != _NOT_CALLED]


def _told(belief: Belief) -> list[str]:
    text = belief.text.replace("`", "'")
    lines = [f"`{text}`: **{belief.value}**"]
    if belief.why:
        lines += ["", "because", *(f"{number}. {step}" for number, step in enumerate(belief.why.split("; "), start=1))]
    return [*lines, ""]


def _counted(forecast: Forecast) -> list[str]:
    head = f"`{forecast.name}` is compiled for **{_programs(forecast)}**"
    return [head, "", *(f"- {cause}" for cause in forecast.causes)]


def _name(places: Places, cell: int | None) -> str:
    return places.outcome.name if cell is None else f"{places.outcome.name}:cell {cell}"


def _first_row(places: Places, cell: int | None) -> int | None:
    """The row of the module text where the document, or a cell, begins; None if there is none."""
    if cell is None:
        return 1
    module = places.outcome.module
    if module is None or module.notebook is None:
        return None
    return next((each.separator_row + 1 for each in module.notebook.cells if each.number == cell), None)


def _holds(span: Span, place: tuple[int, int]) -> bool:
    return (span.row, span.column) <= place < (span.end_row, span.end_column)


def _size(span: Span) -> tuple[int, int]:
    return (span.end_row - span.row, span.end_column - span.column)
