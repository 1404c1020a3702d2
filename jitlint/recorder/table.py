"""The report in the terminal and as JSON."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

from jitlint.recorder.budget import plural, shown
from jitlint.recorder.join import Joined, Verdict
from jitlint.recorder.record import Function, Record, Trace
from jitlint.recorder.runtime.causes import Cause


def seconds_text(seconds: float) -> str:
    """A duration in the unit that suits it."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def where_text(function: Function) -> str:
    """File and row of a function, or nothing where Python does not know."""
    return f"{shown(function.file)}:{function.row}" if function.file else "-"


def render_table(record: Record, joined: Joined | None, limit: int = 30) -> str:
    """The report as text: functions by time lost, why they were traced again, eager operations, joined findings."""
    functions = record.functions
    lines = [_summary(record), ""]
    rows = [("function", "defined at", "traces", "compiles", "time", "lost", "why again")]
    for function in functions[:limit]:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in function.reasons[:3])
        rows.append(
            (
                function.label + (" (library)" if function.library else ""),
                where_text(function),
                str(len(function.traces)),
                str(len(function.compiles)),
                seconds_text(function.seconds),
                seconds_text(function.lost_seconds),
                reasons,
            )
        )
    if len(rows) > 1:
        lines += _aligned(rows, right={2, 3, 4, 5})
    if len(functions) > limit:
        lines.append(f"… and {len(functions) - limit} more, see --json or --html")
    for function in functions[:limit]:
        lines += _history(function)
    lines += _eager(record)
    if joined is not None:
        lines += _findings(joined)
    lines += [f"the recorder failed at something: {fault}" for fault in record.faults[:5]]
    return "\n".join(lines).rstrip() + "\n"


def _summary(record: Record) -> str:
    jax = " and ".join(sorted({process.jax for process in record.processes if process.jax})) or "?"
    return (
        f"{plural(len(record.traces), 'trace')} and {plural(len(record.compiles), 'compile')}"
        f" in {seconds_text(record.seconds)}, {plural(len(record.processes), 'process')}"
        f" with jax {jax}".replace("processs", "processes")
    )


def _aligned(rows: Sequence[tuple[str, ...]], right: set[int]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _history(function: Function, limit: int = 8) -> list[str]:
    again = [event for event in function.events if _told(event.causes)]
    if not again:
        return []
    lines = ["", f"{function.label} ({where_text(function)})"]
    for event in again[:limit]:
        where = f"{shown(event.call.file)}:{event.call.row}" if event.call else "-"
        verb = "traced" if isinstance(event, Trace) else "compiled"
        lines.append(f"  {where} {verb} again: {'; '.join(cause.describe() for cause in event.causes)}")
    if len(again) > limit:
        lines.append(f"  … and {len(again) - limit} more")
    return lines


def _told(causes: Sequence[Any]) -> bool:
    return bool(causes) and all(cause.kind != "first" for cause in causes)


def _eager(record: Record, limit: int = 8) -> list[str]:
    eager = record.eager
    if not eager:
        return []
    spent = sum(compile_.seconds for compile_ in eager)
    lines = ["", f"outside of jit: {plural(len(eager), 'operation')} compiled in {seconds_text(spent)}"]
    places = Counter((c.call.file, c.call.row) for c in eager if c.call)
    for (file, row), count in places.most_common(limit):
        names = sorted({c.name for c in eager if c.call and (c.call.file, c.call.row) == (file, row)})
        lines.append(f"  {shown(file)}:{row} {plural(count, 'compile')}: {', '.join(names[:6])}")
    if len(places) > limit:
        lines.append(f"  … and {len(places) - limit} more lines")
    return lines


def _findings(joined: Joined) -> list[str]:
    lines = []
    if joined.judged:
        lines += ["", "static findings"]
        for verdict in Verdict:
            for item in joined.judged:
                if item.verdict is verdict:
                    f = item.finding
                    lines.append(
                        f"  {verdict.value}: {shown(f.filename)}:{f.span.row} {f.code} {f.message} ({item.reason})"
                    )
    if joined.unforeseen:
        lines += ["", "no rule foresaw"]
        lines += [f"  {text}" for text in joined.unforeseen]
    return lines


def as_json(record: Record, joined: Joined | None) -> dict[str, Any]:
    """The whole report as plain data."""
    data: dict[str, Any] = {
        "folder": str(record.folder),
        "processes": _plain(record.processes),
        "functions": [_function_json(function) for function in record.functions],
        "eager": _plain(record.eager),
        "seconds": record.seconds,
        "faults": record.faults,
    }
    if joined is not None:
        data["findings"] = [
            {
                "code": item.finding.code,
                "filename": item.finding.filename,
                "row": item.finding.span.row,
                "message": item.finding.message,
                "verdict": item.verdict.value,
                "reason": item.reason,
            }
            for item in joined.judged
        ]
        data["unforeseen"] = joined.unforeseen
    return data


def _function_json(function: Function) -> dict[str, Any]:
    return {
        **_plain(function),
        "seconds": function.seconds,
        "lost_seconds": function.lost_seconds,
        "traces_per_process": function.traces_per_process,
        "reasons": [{"reason": reason, "count": count} for reason, count in function.reasons],
    }


def _plain(value: Any) -> Any:
    """Records of any kind as what JSON has."""
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Cause):
        return value.as_json()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
