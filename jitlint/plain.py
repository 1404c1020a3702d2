"""Findings as JSON has them: for the cache, and on the way between processes."""

from __future__ import annotations

from typing import Any

from jitlint.findings import Applicability, Certainty, Edit, Finding, Fix, NewImport, Severity, Span, Step

Plain = dict[str, Any]
"""Text, numbers, None, lists and dictionaries by text."""


def to_plain(finding: Finding) -> Plain:
    """A finding as plain data, without the fields that are as by default."""
    plain: Plain = {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": finding.filename,
        "span": _numbers(finding.span),
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
    }
    if finding.help is not None:
        plain["help"] = finding.help
    if finding.trace:
        plain["trace"] = [[step.filename, step.row, step.what, step.column] for step in finding.trace]
    if finding.fix is not None:
        fix = finding.fix
        plain["fix"] = {
            "message": fix.message,
            "edits": [[edit.filename, *_numbers(edit.span), edit.text] for edit in fix.edits],
            "applicability": fix.applicability.value,
            "imports": [[new.filename, new.module, new.name] for new in fix.imports],
        }
    if finding.cell is not None:
        plain["cell"] = finding.cell
    if finding.url is not None:
        plain["url"] = finding.url
    if finding.qualname:
        plain["qualname"] = finding.qualname
    if finding.properties:
        plain["properties"] = finding.properties
    return plain


def from_plain(plain: object) -> Finding:
    """The finding that :func:`to_plain` made it from. Raises ValueError for anything else."""
    try:
        return _finding(plain)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a finding: {error}") from None


def _finding(plain: Any) -> Finding:
    fix = plain.get("fix")
    return Finding(
        code=_text(plain["code"]),
        name=_text(plain["name"]),
        message=_text(plain["message"]),
        filename=_text(plain["filename"]),
        span=_span(plain["span"]),
        severity=Severity(plain["severity"]),
        certainty=Certainty(plain["certainty"]),
        help=None if plain.get("help") is None else _text(plain["help"]),
        trace=tuple(_step(*step) for step in plain.get("trace", ())),
        fix=None if fix is None else _fix(fix),
        cell=None if plain.get("cell") is None else _number(plain["cell"]),
        qualname=_text(plain.get("qualname", "")),
        url=None if plain.get("url") is None else _text(plain["url"]),
        properties={_text(name): value for name, value in plain.get("properties", {}).items()},
    )


def _fix(plain: Any) -> Fix:
    return Fix(
        _text(plain["message"]),
        tuple(_edit(*edit) for edit in plain["edits"]),
        Applicability(plain["applicability"]),
        tuple(_import(*new) for new in plain["imports"]),
    )


def _step(filename: object, row: object, what: object, column: object) -> Step:
    return Step(_text(filename), _number(row), _text(what), _number(column))


def _edit(filename: object, row: object, column: object, end_row: object, end_column: object, text: object) -> Edit:
    return Edit(_text(filename), _span([row, column, end_row, end_column]), _text(text))


def _import(filename: object, module: object, name: object) -> NewImport:
    return NewImport(_text(filename), _text(module), None if name is None else _text(name))


def _numbers(span: Span) -> list[int]:
    return [span.row, span.column, span.end_row, span.end_column]


def _span(plain: Any) -> Span:
    row, column, end_row, end_column = plain
    return Span(_number(row), _number(column), _number(end_row), _number(end_column))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number")
    return value
