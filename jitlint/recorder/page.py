"""The report as one self-contained HTML page."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from jitlint.recorder.budget import plural, shown
from jitlint.recorder.join import Joined
from jitlint.recorder.record import Compile, Function, Record, Trace
from jitlint.recorder.sources import last_row, source_lines
from jitlint.recorder.table import seconds_text, where_text

_MAX_FUNCTIONS = 60
_MAX_VARIANTS = 12
_MAX_LEAVES = 24
_MAX_BARS = 4000

_STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d8dee4;--panel:#f6f8fa;--accent:#0a5bd3;
--trace:#8250df;--lower:#bf8700;--compile:#cf222e;--h1:#fff3d6;--h2:#ffd8a8;--h3:#ffb1a3;--changed:#ffe3e0}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9198a1;--line:#30363d;--panel:#161b22;
--accent:#4493f8;--trace:#ab7df8;--lower:#d29922;--compile:#f85149;--h1:#332a12;--h2:#4d3312;--h3:#5c2318;
--changed:#4b1d1c}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem clamp(.75rem,3vw,2.5rem);max-width:90rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1rem 0 .25rem}
p{margin:.25rem 0}a{color:var(--accent)}.soft{color:var(--soft)}code,pre,td.code{font:13px/1.45 ui-monospace,monospace}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0}
.card{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.6rem .9rem}
.card b{display:block;font-size:1.4rem}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%}th,td{padding:.35rem .7rem;text-align:left;vertical-align:top}
th{background:var(--panel);font-weight:600}tr+tr td,tr+tr th{border-top:1px solid var(--line)}
.variants th:first-child{min-width:6.5rem;max-width:16rem;overflow-wrap:anywhere}.variants td{min-width:9rem}
.narrow{display:none}
@media(max-width:40rem){th,td{padding:.3rem .5rem}.variants th:first-child{max-width:7.5rem}.variants td{min-width:8rem}
.roomy{display:none}.narrow{display:block;font-size:13px}.overview code{overflow-wrap:anywhere}}
.why{min-width:14rem}
td.n,th.n{text-align:right;white-space:nowrap}td.changed{background:var(--changed)}
details{border:1px solid var(--line);border-radius:8px;margin:.5rem 0;padding:.5rem .9rem}
summary{cursor:pointer;font-weight:600}
.source{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin:.5rem 0}
.source table{width:auto;min-width:100%}.source td{padding:0 .7rem;border:0!important;white-space:pre}
.source td{font:13px/1.45 ui-monospace,monospace}
.source .g{color:var(--soft);text-align:right;user-select:none}.h1 td{background:var(--h1)}.h2 td{background:var(--h2)}
.h3 td{background:var(--h3)}
svg{display:block;width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:var(--fg)}
svg .axis{stroke:var(--line)}.trace{fill:var(--trace)}.lower{fill:var(--lower)}.compile{fill:var(--compile)}
.key span{white-space:nowrap}
.key i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin:0 .3em 0 1em;vertical-align:-.05em}
.verdict-confirmed{color:var(--compile);font-weight:600}
"""


def render_page(record: Record, joined: Joined | None) -> str:
    """One HTML page with everything in it: it loads nothing, so it can be mailed or kept as a build's artefact."""
    functions = record.functions
    parts = [
        _head(record),
        _cards(record),
        _timeline(record),
        _overview(functions),
        _findings(joined),
        _all_variants(functions),
        _sources(record),
        _eager(record.eager),
        _faults(record),
    ]
    title = f"jitlint report: {record.folder.name}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n" + "\n".join(p for p in parts if p)
    ) + "\n</body></html>\n"


def _head(record: Record) -> str:
    commands = [" ".join(process.argv) for process in record.processes[:3]]
    shown_commands = "".join(f"<p><code>{escape(command[:300])}</code></p>" for command in commands)
    more = f"<p class=soft>and {len(record.processes) - 3} more processes</p>" if len(record.processes) > 3 else ""
    versions = sorted({f"jax {p.jax}, Python {p.python}" for p in record.processes if p.jax})
    return f"<h1>What was compiled, and why</h1>{shown_commands}{more}<p class=soft>{escape('; '.join(versions))}</p>"


def _cards(record: Record) -> str:
    lost = sum(function.lost_seconds for function in record.functions)
    again = sum(1 for trace in record.traces if not trace.first)
    cards = (
        (seconds_text(record.seconds), "tracing and compiling"),
        (seconds_text(lost), "of it lost to doing it again"),
        (str(len(record.traces)), f"traces, {again} of them again"),
        (str(len(record.compiles)), f"compiles, {len(record.eager)} outside of jit"),
    )
    return (
        "<div class=cards>" + "".join(f"<div class=card><b>{v}</b>{escape(text)}</div>" for v, text in cards) + "</div>"
    )


def _overview(functions: Sequence[Function]) -> str:
    rows = []
    for index, function in enumerate(functions[:_MAX_FUNCTIONS]):
        name = escape(function.label)
        if function.count > 1:
            name = f'<a href="#{_anchor(function)}">{name}</a>'
        reasons = "<br>".join(f"{escape(reason)} ({count})" for reason, count in function.reasons[:4])
        library = " <span class=soft>library</span>" if function.library else ""
        rows.append(
            f"<tr><td class=roomy>{index + 1}<td><code>{name}</code>{library}"
            f"<span class='narrow soft'>{escape(where_text(function))}<br>{reasons}</span>"
            f"<td class=roomy><code>{escape(where_text(function))}</code><td class=n>{len(function.traces)}"
            f"<td class='n roomy'>{len(function.compiles)}<td class=n>{seconds_text(function.seconds)}"
            f"<td class=n>{seconds_text(function.lost_seconds)}<td class=roomy>{reasons}"
        )
    if not rows:
        return "<h2>Functions by time lost</h2><p>No jitted function was traced.</p>"
    left = len(functions) - _MAX_FUNCTIONS
    note = f"<p class=soft>and {left} more functions</p>" if left > 0 else ""
    return (
        "<h2>Functions by time lost</h2><div class=wide><table class=overview><tr><th class=roomy>#<th>function"
        "<th class=roomy>defined at<th class=n>traces"
        f"<th class='n roomy'>compiles<th class=n>time<th class=n>lost<th class='why roomy'>why again</tr>{''.join(rows)}</table></div>"
        f"{note}"
    )


def _anchor(function: Function) -> str:
    return f"f{zlib.crc32(f'{function.file}:{function.row}:{function.label}:{function.kind}'.encode())}"


def _all_variants(functions: Sequence[Function]) -> str:
    found = [_variants(function) for function in functions[:_MAX_FUNCTIONS] if function.count > 1]
    if not found:
        return ""
    return (
        "<h2>Variants</h2><p class=soft>What each function was compiled for, side by side; what differs from the variant "
        f"before is marked.</p>{''.join(found)}"
    )


def _variants(function: Function) -> str:
    events: Sequence[Trace | Compile] = function.traces or function.compiles
    shown_events = events[:_MAX_VARIANTS]
    heads = "".join(f"<th>{index + 1}</th>" for index in range(len(shown_events)))
    rows = [
        ("called at", [_call(event) for event in shown_events]),
        ("time", [seconds_text(_cost(function, event)) for event in shown_events]),
        ("why", ["<br>".join(escape(c.describe()) for c in event.causes) or "-" for event in shown_events]),
    ]
    body = "".join(f"<tr><th>{name}{''.join(f'<td>{cell}' for cell in cells)}" for name, cells in rows)
    varying, constant = _signature_rows([event.signature for event in shown_events if isinstance(event, Trace)])
    left = len(events) - len(shown_events)
    note = f"<p class=soft>and {left} more variants</p>" if left > 0 else ""
    if constant:
        listed = "".join(f"<tr><th><code>{escape(name)}</code><td class=code>{escape(cell)}" for name, cell in constant)
        note += (
            f"<details><summary class=soft>{len(constant)} that do not differ</summary>"
            f"<div class=wide><table class=variants>{listed}</table></div></details>"
        )
    opened = " open" if function.lost_seconds > 0 and not function.library else ""
    return (
        f'<details id="{_anchor(function)}"{opened}><summary><code>{escape(function.label)}</code> '
        f"<span class=soft>{escape(where_text(function))}</span>: {plural(len(events), 'variant')}</summary>"
        f"<div class=wide><table class=variants><tr><th>variant</th>{heads}</tr>{body}{varying}</table></div>"
        f"{note}</details>"
    )


def _call(event: Trace | Compile) -> str:
    return f"<code>{escape(shown(event.call.file))}:{event.call.row}</code>" if event.call else "-"


def _cost(function: Function, event: Trace | Compile) -> float:
    if isinstance(event, Compile):
        return event.seconds
    own = [c for c in function.compiles if (c.process, c.trace) == (event.process, event.id)]
    return event.self_seconds + sum(compile_.seconds for compile_ in own)


def _signature_rows(signatures: Sequence[Any]) -> tuple[str, list[tuple[str, str]]]:
    """The parts of the signatures that vary, as rows with the variants side by side, and those that do not.

    A cell that differs from the one before is marked.
    """
    columns = [_cells(signature) for signature in signatures]
    names = list(dict.fromkeys(name for column in columns for name in column))
    varying, constant = [], []
    for name in names:
        cells = [column.get(name, "") for column in columns]
        if len(set(cells)) == 1:
            constant.append((name, cells[0]))
            continue
        marked = []
        for index, cell in enumerate(cells):
            changed = " changed" if index and cell != cells[index - 1] else ""
            marked.append(f'<td class="code{changed}">{escape(cell) or "&nbsp;"}')
        varying.append(f"<tr><th><code>{escape(name)}</code>{''.join(marked)}")
    left = len(varying) - _MAX_LEAVES
    more = f"<tr><td colspan={len(columns) + 1} class=soft>and {left} more that differ" if left > 0 else ""
    return "".join(varying[:_MAX_LEAVES]) + more, constant


def _cells(signature: Any) -> dict[str, str]:
    cells = {}
    for leaf in signature.get("leaves", ()):
        if "static" in leaf:
            text = f"static {leaf['static']}"
        else:
            text = f"{leaf['dtype']}[{','.join(map(str, leaf['shape']))}]" + (" weak" if leaf.get("weak") else "")
            text += f" {leaf['sharding']}" if leaf.get("sharding") else ""
        cells[leaf["path"]] = text
    for name, tree in signature.get("trees", {}).items():
        if tree != "*":
            cells[f"tree of {name}"] = tree if len(tree) <= 160 else tree[:159] + "…"
    cells.update({f"how {name}": how for name, how in signature.get("spelling", {}).items()})
    cells.update({name.removeprefix("jax_"): value for name, value in signature.get("context", {}).items()})
    return cells


def _timeline(record: Record) -> str:
    events: list[Trace | Compile] = [*record.traces, *record.compiles]
    if not events:
        return ""
    begin = min(event.start for event in events)
    end = max(event.start + event.seconds for event in events)
    span = max(end - begin, 1e-3)
    lanes = _lanes(record)
    width, left, row_height, top = 1000.0, 190.0, 18, 22
    scale = (width - left - 10) / span
    owners = {(t.process, t.id): function.label for function in record.functions for t in function.traces}
    bars = []
    for event in events[:_MAX_BARS]:
        for start, seconds, kind in _stretches(event):
            lane = lanes.get(_owner(event, owners), len(lanes) - 1)
            x = left + (start - begin) * scale
            where = f" at {shown(event.call.file)}:{event.call.row}" if event.call else ""
            why = "; ".join(cause.describe() for cause in event.causes)
            tip = f"{kind} {event.label}{where}, {seconds_text(seconds)}" + (f": {why}" if why else "")
            bars.append(
                f"<rect class={kind} x={x:.2f} y={top + lane * row_height + 3} width={max(seconds * scale, 1.5):.2f}"
                f" height={row_height - 6} rx=1><title>{escape(tip)}</title></rect>"
            )
    height = top + len(lanes) * row_height + 6
    ticks = "".join(
        f"<line class=axis x1={left + part * (width - left - 10):.1f} x2={left + part * (width - left - 10):.1f}"
        f" y1={top - 4} y2={height}></line><text x={left + part * (width - left - 10) - 4:.1f} y=12"
        f" text-anchor={'end' if part == 1 else 'middle'}>{seconds_text(part * span)}</text>"
        for part in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    names = "".join(
        f"<text x={left - 8} y={top + lane * row_height + 13} text-anchor=end>{escape(_clipped(name))}</text>"
        for name, lane in lanes.items()
    )
    return (
        "<h2>Over the run</h2><p class='key soft'>from the first event on:"
        + "".join(
            f"<span><i style='background:var(--{kind})'></i>{kind}</span>" for kind in ("trace", "lower", "compile")
        )
        + "</p>"
        f"<div class=wide><svg viewBox='0 0 {width:.0f} {height}' style='min-width:42rem' role=img"
        f" aria-label='When each function was traced and compiled'>{ticks}{names}{''.join(bars)}</svg></div>"
    )


_EAGER_LANE, _OTHER_LANE = "outside of jit", "other functions"


def _lanes(record: Record, limit: int = 18) -> dict[str, int]:
    names = list(dict.fromkeys(function.label for function in record.functions))
    lanes = {name: index for index, name in enumerate(names[:limit])}
    if record.eager:
        lanes[_EAGER_LANE] = len(lanes)
    if len(names) > limit:
        lanes[_OTHER_LANE] = len(lanes)
    return lanes


def _owner(event: Trace | Compile, owners: dict[tuple[int, int], str]) -> str:
    if isinstance(event, Trace):
        return event.label
    if event.kind == "eager":
        return _EAGER_LANE
    return owners.get((event.process, event.trace or 0), event.label)


def _stretches(event: Trace | Compile) -> Iterable[tuple[float, float, str]]:
    if isinstance(event, Trace):
        yield event.start, event.seconds, "trace"
    else:
        yield event.start, event.lower_seconds, "lower"
        yield event.start + event.lower_seconds, event.compile_seconds, "compile"


def _clipped(name: str, limit: int = 28) -> str:
    return name if len(name) <= limit else "…" + name[1 - limit :]


def _sources(record: Record) -> str:
    """The user's own files with the lines that had something traced or compiled coloured by how often."""
    counts: dict[str, Counter[int]] = {}
    notes: dict[tuple[str, int], list[str]] = {}
    events: list[Trace | Compile] = [*record.traces, *record.compiles]
    for event in events:
        if event.call is None or not source_lines(event.call.file):
            continue
        if isinstance(event, Trace) or event.kind != "jit" or event.causes:
            counts.setdefault(event.call.file, Counter())[event.call.row] += 1
            notes.setdefault((event.call.file, event.call.row), []).append(event.label)
    defined: dict[str, set[int]] = {}
    for function in record.functions:
        if not function.library and source_lines(function.file):
            defined.setdefault(function.file, set()).update(
                range(function.row, last_row(function.file, function.row) + 1)
            )
    files = sorted(counts.keys() | defined.keys(), key=lambda file: -sum(counts.get(file, Counter()).values()))
    blocks = [_source(file, counts.get(file, Counter()), defined.get(file, set()), notes) for file in files[:20]]
    return "<h2>Source</h2><p class=soft>Lines by how often they had something traced or compiled.</p>" + "".join(
        blocks
    )


def _source(file: str, counts: Counter[int], defined: set[int], notes: dict[tuple[str, int], list[str]]) -> str:
    lines = source_lines(file)
    wanted = set(defined)
    for row in counts:
        wanted.update(range(row - 3, row + 4))
    rows: list[str] = []
    previous = 0
    for number in sorted(n for n in wanted if 0 < n <= len(lines)):
        if number != previous + 1 and rows:
            rows.append("<tr><td class=g>⋮<td><td>")
        previous = number
        count = counts[number]
        heat = f" class=h{1 if count == 1 else 2 if count < 4 else 3}" if count else ""
        what = Counter(notes.get((file, number), ()))
        tip = escape(", ".join(f"{label} ({times})" for label, times in what.most_common(8)), quote=True)
        rows.append(
            f'<tr{heat}><td class=g>{number}<td class="g code" title="{tip}">{f"{count}x" if count else ""}'
            f"<td class=code>{escape(lines[number - 1]) or ' '}"
        )
    total = sum(counts.values())
    return (
        f"<details{' open' if total else ''}><summary><code>{escape(shown(file))}</code> "
        f"<span class=soft>{total} in all</span></summary>"
        f"<div class=source><table>{''.join(rows)}</table></div></details>"
    )


def _eager(eager: Sequence[Compile]) -> str:
    if not eager:
        return ""
    places: dict[str, list[Compile]] = {}
    for compile_ in eager:
        where = f"{shown(compile_.call.file)}:{compile_.call.row}" if compile_.call else "-"
        places.setdefault(where, []).append(compile_)
    rows = "".join(
        f"<tr><td><code>{escape(where)}</code><td class=n>{len(found)}"
        f"<td class=n>{seconds_text(sum(c.seconds for c in found))}"
        f"<td><code>{escape(', '.join(dict.fromkeys(c.name for c in found)))}</code>"
        for where, found in sorted(places.items(), key=lambda item: -sum(c.seconds for c in item[1]))[:40]
    )
    return (
        "<h2>Compiled outside of jit</h2><p class=soft>Operations on arrays that ran one by one; each new shape "
        "compiles.</p><div class=wide><table><tr><th>line<th class=n>compiles<th class=n>time<th>operations</tr>"
        f"{rows}</table></div>"
    )


def _findings(joined: Joined | None) -> str:
    if joined is None:
        return ""
    rows = "".join(
        f'<tr><td class="verdict-{item.verdict.name.lower().replace("_", "-")}">{item.verdict.value}'
        f"<td><code>{escape(shown(item.finding.filename))}:{item.finding.span.row}</code><td>{item.finding.code}"
        f"<td>{escape(item.finding.message)}<br><span class=soft>{escape(item.reason)}</span>"
        for item in joined.judged
    )
    table = (
        f"<div class=wide><table><tr><th>verdict<th>line<th>code<th class=why>finding</tr>{rows}</table></div>"
        if rows
        else "<p>No static finding is about a line that this run can judge.</p>"
    )
    unforeseen = "".join(f"<li>{escape(text)}" for text in joined.unforeseen)
    missed = f"<h3>No rule foresaw</h3><ul>{unforeseen}</ul>" if unforeseen else ""
    return f"<h2>Static findings, judged by this run</h2>{table}{missed}"


def _faults(record: Record) -> str:
    if not record.faults:
        return ""
    items = "".join(f"<li>{escape(fault)}" for fault in record.faults[:20])
    return f"<h2>What the recorder failed at</h2><ul>{items}</ul>"
