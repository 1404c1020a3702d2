"""``jitlint trace`` and ``jitlint report``: limits, the table, the data, the page, and the join with findings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from jitlint.dynamic.signature import parse_signature
from jitlint.findings import Finding, Severity, Span
from jitlint.recorder.budget import exceeded, unknown_names
from jitlint.recorder.join import Verdict, join, with_verdicts
from jitlint.recorder.page import render_page
from jitlint.recorder.record import Record, RecordError, load_record, record_of_events
from jitlint.recorder.signatures import as_toml, configured_signatures
from jitlint.recorder.sources import always_runs
from jitlint.recorder.table import as_json, render_table
from tests.recorder_runs import PROGRAMS, Ran, plain_environment

ROOT = Path(__file__).parent.parent


def trace_event(number: int, file: str, **more: Any) -> dict[str, Any]:
    """A trace event as the runtime writes it, of ``step`` in rows 3 to 5 of ``file``, called in row 8."""
    return {
        "event": "trace",
        "id": number,
        "function": 1,
        "name": "step",
        "qualname": "Trainer.step",
        "label": "Trainer.step",
        "file": file,
        "row": 3,
        "library": False,
        "transform": "jit",
        "made": {"file": file, "row": 3, "function": "<module>"},
        "call": {"file": file, "row": 8, "function": "<module>"},
        "parent": None,
        "thread": 1,
        "rank": None,
        "start": 100.0 + number,
        "seconds": 0.5,
        "self_seconds": 0.5,
        "signature": {
            "leaves": [
                {"path": "x", "dtype": "float32", "shape": [number]},
                {"path": "n", "static": "<b>", "type": "str"},
            ],
            "trees": {"x": "*"},
            "spelling": {"x": "position"},
            "context": {},
        },
        "causes": [{"kind": "first"}],
    } | more


def compile_event(number: int, trace: int | None, **more: Any) -> dict[str, Any]:
    """The compile event that follows a trace."""
    return {
        "event": "compile",
        "id": number,
        "kind": "jit",
        "name": "step",
        "trace": trace,
        "call": None,
        "start": 101.0 + number,
        "lower_seconds": 0.1,
        "compile_seconds": 0.9,
        "cached": False,
    } | more


def shape(old: str, new: str) -> dict[str, str]:
    return {"kind": "shape", "argument": "x", "old": old, "new": new}


@pytest.fixture
def source(tmp_path: Path) -> str:
    file = tmp_path / "train.py"
    file.write_text(
        "import jax\n\n@jax.jit\ndef step(x, n):\n    return x & 1 < 2\n\nfor i in range(3):\n    step(x[:i], '<b>')\n"
    )
    return str(file)


@pytest.fixture
def record(source: str) -> Record:
    return record_of_events(
        [
            trace_event(1, source),
            compile_event(2, 1),
            trace_event(3, source, causes=[shape("float32[1]", "float32[3]")]),
            compile_event(4, 3),
            trace_event(5, source, causes=[shape("float32[3]", "float32[5]")]),
            compile_event(6, 5),
            compile_event(7, None, kind="eager", name="add", call={"file": source, "row": 8}),
        ]
    )


def test_time_lost_is_that_of_all_but_the_first(record: Record) -> None:
    (function,) = record.functions
    assert (len(function.traces), len(function.compiles), len(record.eager)) == (3, 3, 1)
    assert function.seconds == pytest.approx(4.5)
    assert function.lost_seconds == pytest.approx(3.0)
    assert function.reasons == [("shape of x", 2)]


def test_the_table_says_what_was_traced_again_and_why(record: Record) -> None:
    text = render_table(record, None)
    assert "3 traces and 4 compiles" in text
    assert "shape of x (2)" in text
    assert "traced again: shape of x: float32[1] → float32[3]" in text
    assert "1 operation compiled" in text


def test_the_json_report_can_be_read_back(record: Record) -> None:
    data = json.loads(json.dumps(as_json(record, None)))
    (function,) = data["functions"]
    assert function["label"] == "Trainer.step"
    assert [len(trace["causes"]) for trace in function["traces"]] == [1, 1, 1]
    assert data["eager"][0]["name"] == "add"


@pytest.mark.parametrize("name", ["step", "Trainer.step"])
def test_a_limit_that_is_exceeded_gives_the_reasons(record: Record, name: str) -> None:
    (excess,) = exceeded(record, {name: 2}, None)
    assert (excess.count, excess.limit) == (3, 2)
    assert "shape of x: float32[3] → float32[5]" in "\n".join(excess.lines())
    assert exceeded(record, {name: 3}, 3) == []
    assert [e.name for e in exceeded(record, {}, 2)] == ["all functions"]


def test_a_limit_on_a_function_that_was_not_traced_is_told(record: Record) -> None:
    assert unknown_names(record, {"step": 1, "stop": 1}) == ["stop"]


def test_limits_count_within_a_process(tmp_path: Path, source: str) -> None:
    for number in range(2):
        lines = [
            {
                "event": "process",
                "record": 1,
                "pid": number,
                "argv": [],
                "cwd": "",
                "python": "",
                "jax": "",
                "start": 0,
            },
            trace_event(1, source),
        ]
        (tmp_path / f"trace-{number}-0.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert exceeded(load_record(tmp_path), {"step": 1}, 1) == []


def test_a_folder_without_a_record_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="jitlint trace -o"):
        load_record(tmp_path)


def test_a_record_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trace-1-0.jsonl").write_text('{"event": "process", "record": 99}\n')
    with pytest.raises(RecordError, match="newer jitlint"):
        load_record(tmp_path)


def finding(code: str, file: str, row: int, severity: Severity = Severity.WARNING) -> Finding:
    return Finding(code, "name", "message", file, Span(row, 1, row, 5), severity)


def test_findings_are_confirmed_refuted_or_not_reached(record: Record, source: str) -> None:
    joined = join(
        record,
        [
            finding("JIT304", source, 8),
            finding("JIT305", source, 8),
            finding("JIT301", source, 1),
            finding("JIT101", source, 5, Severity.ERROR),
            finding("JIT404", source, 5),
        ],
    )
    assert {item.finding.code: item.verdict for item in joined.judged} == {
        "JIT304": Verdict.CONFIRMED,
        "JIT305": Verdict.REFUTED,
        "JIT301": Verdict.NOT_REACHED,
        "JIT101": Verdict.REFUTED,
    }


def test_findings_carry_verdicts_as_the_dynamic_mode_gives_them(record: Record, source: str) -> None:
    findings = [finding("JIT404", source, 5), finding("JIT304", source, 8), finding("JIT301", source, 1)]
    told = with_verdicts(record, findings)
    assert told[0] == findings[0]
    assert told[1].properties == {
        "verdict": "confirmed",
        "verdict_reason": "Trainer.step was traced again 2 times for this reason",
        "variants": 3,
    }
    assert told[2].properties["verdict"] == "unresolved"


def test_signatures_for_the_configuration_read_back_as_arguments(source: str) -> None:
    leaves = [
        {"path": "p['w']", "dtype": "float32", "shape": [3, 4]},
        {"path": "p['b'][0]", "dtype": "float32", "shape": [], "weak": True},
        {"path": "key", "dtype": "key<fry>", "shape": []},
        {"path": "n", "static": "3", "type": "int"},
    ]
    written = {
        "leaves": leaves,
        "trees": {"p": "{'w': *, 'b': [*]}", "key": "*", "mask": "None", "n": "*"},
        "spelling": {"p": "position", "key": "position", "mask": "position", "n": "keyword"},
        "context": {},
    }
    odd = {**written, "trees": {"p": "CustomNode(Params[()], [*, *])", "key": "*", "n": "*"}}
    record = record_of_events(
        [
            trace_event(1, source, label="step", qualname="step", signature=odd),
            trace_event(2, source, label="step", qualname="step", signature=written),
            trace_event(3, source, label="<lambda>", qualname="<lambda>", row=9, signature=written),
        ]
    )
    found = configured_signatures(record)
    assert found == {"train.step": ("{'w': f32[3,4], 'b': [f32[]~]}", "key", "None", "n=3")}
    args, kwargs = parse_signature(found["train.step"])
    assert (len(args), kwargs) == (3, {"n": {"value": 3}})
    assert tomllib.loads(as_toml(found))["dynamic"]["signatures"]["train.step"] == list(found["train.step"])


def test_an_error_while_tracing_confirms_an_error_in_the_body_and_is_unforeseen_without_one(source: str) -> None:
    raised = {"file": source, "row": 5, "function": "step"}
    record = record_of_events([trace_event(1, source, error="TracerBoolConversionError", raised=raised)])
    judged = join(record, [finding("JIT101", source, 5, Severity.ERROR), finding("JIT104", source, 4, Severity.ERROR)])
    assert [item.verdict for item in judged.judged] == [Verdict.NOT_REACHED, Verdict.CONFIRMED]
    assert judged.unforeseen == []
    assert "raised TracerBoolConversionError at" in join(record, []).unforeseen[0]


def test_only_lines_that_every_run_comes_to_are_refuted(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(
        "@jit\n"
        "def f(x):\n"
        "    a = x\n"
        "    if a:\n"
        "        b = a\n"
        "    with c:\n"
        "        d = a\n"
        "        for e in a:\n"
        "            e()\n"
        "    if a:\n"
        "        return b\n"
        "    return d\n"
    )
    assert [row for row in range(1, 13) if always_runs(str(file), 1, row)] == [3, 4, 6, 7, 8, 10]


def test_many_variants_that_no_rule_foresaw_are_listed(source: str) -> None:
    record = record_of_events([trace_event(n, source, causes=[shape("a", "b")]) for n in range(1, 6)])
    assert "5 times: shape of x (5)" in join(record, []).unforeseen[0]
    assert join(record, [finding("JIT304", source, 8)]).unforeseen == []


class _Page(HTMLParser):
    VOID = frozenset({"meta", "br", "line", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name in ("href", "src") and value:
                (self.targets.add(value[1:]) if value.startswith("#") else self.links.append(value))


def test_the_page_loads_nothing_and_escapes_what_the_program_says(record: Record, source: str) -> None:
    joined = join(record, [finding("JIT304", source, 8)])
    text = render_page(record, joined)
    page = _Page(text)
    assert page.links == []
    assert page.targets <= page.ids
    assert "<b>'" not in text
    assert "static &lt;b&gt;" in text
    assert "x &amp; 1 &lt; 2" in text
    assert "confirmed" in text
    assert "url(" not in text
    assert "@import" not in text


def test_an_empty_record_has_a_page_and_a_table() -> None:
    empty = record_of_events([])
    assert "No jitted function was traced" in render_page(empty, None)
    assert "0 traces" in render_table(empty, None)


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [1280, 420])
def test_the_page_fits_a_browser_window(record: Record, source: str, width: int, tmp_path: Path) -> None:
    """Wide tables scroll within their frames; the page itself is never wider than the window."""
    probe = (
        "<script>document.title=[document.documentElement.scrollWidth,innerWidth,"
        "document.querySelectorAll('svg rect').length,"
        "document.querySelectorAll('details[open]').length].join()</script>"
    )
    page = tmp_path / "page.html"
    page.write_text(
        render_page(record, join(record, [finding("JIT304", source, 8)])).replace("</body>", f"{probe}</body>")
    )
    # Chromium has a least width for windows, but none for frames.
    outer = tmp_path / "outer.html"
    outer.write_text(
        f"<iframe id=f src=page.html style='width:{width}px;height:900px;border:0'></iframe>"
        "<script>f.onload=()=>{document.body.dataset.done=f.contentDocument.title}</script>"
    )
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    dumped = subprocess.run(
        [
            *command,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=4000",
            "--dump-dom",
            outer.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    scroll, window, bars, opened = map(int, dumped.partition('data-done="')[2].partition('"')[0].split(","))
    assert window == width
    assert scroll <= width
    assert bars >= 10
    assert opened >= 1


def jitlint(*args: str, cwd: Path) -> Ran:
    main = "import sys; from jitlint.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", main, *args],
        cwd=cwd,
        env=plain_environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_trace_then_report(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    shutil.copy(PROGRAMS / "plain_train.py", tmp_path / "train.py")
    traced = jitlint("trace", "--max-traces", "step=3", "--max-total", "8", "train.py", cwd=tmp_path)
    assert traced.code == 1, traced.err
    assert traced.out.count("epoch") == 3
    assert "over the limit: step: 6 traces, allowed 3" in traced.err
    assert "static value of rate: 0.1 → 0.05" in traced.err
    assert "all functions: 9 traces, allowed 8" in traced.err
    shown = jitlint("report", "--no-static", cwd=tmp_path)
    assert shown.code == 0, shown.err
    assert "train.py:10" in shown.out
    page = jitlint("report", "--no-static", "--html", "page.html", cwd=tmp_path)
    assert (page.code, page.out) == (0, "wrote page.html\n")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    data = json.loads(jitlint("report", "--no-static", "--json", cwd=tmp_path).out)
    assert {f["label"] for f in data["functions"]} == {"step", "evaluate.<locals>.<lambda>"}
    again = jitlint("trace", "-q", "--", sys.executable, "-c", "import jax; jax.jit(abs)(1.0)", cwd=tmp_path)
    assert (again.code, again.out, again.err) == (0, "", "")
    assert len(load_record(tmp_path / ".jitlint_trace").traces) == 1


def test_trace_within_limits_keeps_the_exit_code_of_the_command(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    program = "import sys, jax; jax.jit(abs)(1.0); print('out'); print('err', file=sys.stderr); sys.exit(5)"
    ran = jitlint("trace", "-q", "--max-total", "0", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert (ran.code, ran.out) == (5, "out\n")
    assert ran.err.startswith("err\n")


def test_trace_of_a_module(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "mod.py").write_text("import sys, jax\nprint(sys.argv[1:], jax.jit(lambda x: x)(1.0))\n")
    ran = jitlint("trace", "-o", "out", "-m", "mod", "-o", "x", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "['-o', 'x'] 1.0\n")
    assert [trace.label for trace in load_record(tmp_path / "out").traces] == ["<lambda>"]


def test_trace_of_a_command_that_does_not_exist_or_records_nothing(tmp_path: Path) -> None:
    missing = jitlint("trace", "--", "no-such-command-here", cwd=tmp_path)
    assert (missing.code, missing.out) == (2, "")
    assert "no such command: no-such-command-here" in missing.err
    nothing = jitlint("trace", "--", sys.executable, "-c", "pass", cwd=tmp_path)
    assert nothing.code == 0
    assert "nothing was recorded" in nothing.err


@pytest.mark.parametrize("limit", ["step", "step=", "=2", "step=two", "step=-1"])
def test_a_limit_that_is_no_number_is_wrong_usage(limit: str, tmp_path: Path) -> None:
    ran = jitlint("trace", "--max-traces", limit, "--", sys.executable, "-c", "pass", cwd=tmp_path)
    assert ran.code == 2
    assert "step=2" in ran.err


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = jitlint("trace", "-o", "file/record", "--", sys.executable, "-c", "pass", cwd=tmp_path)
    assert ran.code == 2
    assert "cannot write the record" in ran.err
    assert "Traceback" not in ran.err


def test_check_with_a_record(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("import jax\n\n\n@jax.jit\ndef f(x):\n    return x\n")
    missing = jitlint("check", "--isolated", "--record", "nowhere", "m.py", cwd=tmp_path)
    assert (missing.code, missing.out) == (2, "")
    assert "no record in nowhere" in missing.err
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "trace-1-0.jsonl").write_text(json.dumps(trace_event(1, str(tmp_path / "m.py"))) + "\n")
    judged = jitlint("check", "--isolated", "--record", "r", "m.py", cwd=tmp_path)
    assert judged.code == 0, judged.out + judged.err
    both = jitlint("check", "--record", "r", "--dynamic", "m.py", cwd=tmp_path)
    assert both.code == 2


def test_report_without_a_record(tmp_path: Path) -> None:
    ran = jitlint("report", "nowhere", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "no record in nowhere" in ran.err


def test_an_earlier_record_is_replaced_and_other_files_are_left(tmp_path: Path) -> None:
    from jitlint.recorder.launch import prepare_folder

    folder = tmp_path / "r"
    prepare_folder(folder)
    assert (folder / ".gitignore").read_text() == "*\n"
    (folder / "trace-1-2.jsonl").write_text("{}")
    (folder / "notes.txt").write_text("mine")
    prepare_folder(folder)
    assert sorted(file.name for file in folder.iterdir()) == [".gitignore", "notes.txt"]
