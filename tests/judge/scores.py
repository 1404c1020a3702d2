"""Scores jitlint on the two bodies of programs whose truth under JAX was executed: ``oracle/`` and ``cases/``.

The oracle is many tiny programs, of each of which ``truth.json`` says whether it raised (where, what), gave another
value than without jit, or how often it was traced. The cases are programs in the style of real code with faults
marked by line and kind.
"""

from __future__ import annotations

import fnmatch
import json
import shutil
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jitlint.findings import Finding, Severity
from tests.judge.fixtures import FIXTURES
from tests.judge.lint import fix_in_place
from tests.judge.pool import Pool

MANY_TRACES = 4
"""From this number of traces of one function on, a program of the oracle counts as one that recompiles."""


@dataclass(slots=True)
class Share:
    """So many of so many."""

    hits: int = 0
    of: int = 0

    def add(self, hit: bool) -> None:
        """Count one more, hit or not."""
        self.hits += hit
        self.of += 1

    @property
    def value(self) -> float:
        """As a fraction; 1 of nothing."""
        return self.hits / self.of if self.of else 1.0

    def __str__(self) -> str:
        return f"{self.hits}/{self.of} = {self.value:.3f}"


@dataclass(slots=True)
class Miss:
    """One place where jitlint and JAX disagree."""

    figure: str
    program: str
    row: int | None
    what: str

    def __str__(self) -> str:
        return f"{self.figure:16} {self.program}{f':{self.row}' if self.row else ''}  {self.what}"


@dataclass(slots=True)
class Score:
    """Figures by name, overall and by group (category or kind), and the disagreements behind them."""

    overall: dict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    groups: dict[str, dict[str, Share]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(Share)))
    misses: list[Miss] = field(default_factory=list)

    def add(self, figure: str, group: str, hit: bool) -> bool:
        """Count one more program or line in a figure; returns ``hit``."""
        self.overall[figure].add(hit)
        self.groups[group][figure].add(hit)
        return hit


def score_oracle(findings: Iterable[Finding], folder: Path = FIXTURES / "oracle") -> Score:
    """Score the findings of one run over the oracle. ``false_raises`` counts what must not be.

    ``raises_found``: programs that raise, with a finding on the line. ``false_raises``: programs that run, with an
    error finding of JIT1xx or JIT2xx. ``quiet``: programs that run as they should with one trace, without any finding
    of JIT1xx to JIT3xx. ``retraces_found``: programs traced often, with a finding of JIT2xx or JIT3xx.
    ``wrong_found``: programs that run and give something else than without jit, with any finding.
    """
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_file[Path(finding.filename).name].append(finding)
    score = Score()
    for program in json.loads((folder / "truth.json").read_text(encoding="utf-8")):
        _score_program(score, program, by_file[program["file"]])
    return score


def _score_program(score: Score, program: Mapping[str, Any], found: Sequence[Finding]) -> None:
    group, title = program["category"], program["title"]

    def count(figure: str, hit: bool, row: int | None, what: str, bad: bool = False) -> None:
        if score.add(figure, group, hit) == bad:
            score.misses.append(Miss(figure, program["file"], row, f"{what} ({title})"))

    if program["error_mro"]:
        row = program["error_line"]
        if row is not None:
            on_line = any(f.span.row <= row <= f.span.end_row for f in found)
            count("raises_found", on_line, row, program["outcome"])
        return
    if program["outcome"] == "WRONG":
        count("wrong_found", bool(found), None, "nothing found")
        return
    loud = [f for f in found if _family(f) in (1, 2) and f.severity is Severity.ERROR]
    count("false_raises", bool(loud), *_first(loud), bad=True)
    traces = max((program["traces"] or {}).values(), default=0)
    if traces <= 1:
        noise = [f for f in found if _family(f) in (1, 2, 3)]
        count("quiet", not noise, *_first(noise))
    elif traces >= MANY_TRACES:
        count("retraces_found", any(_family(f) in (2, 3) for f in found), None, f"{traces} traces")


def _family(finding: Finding) -> int:
    return int(finding.code[3])


def _first(found: Sequence[Finding]) -> tuple[int | None, str]:
    return (found[0].span.row, f"{found[0].code}: {found[0].message}") if found else (None, "")


Check = Callable[[Sequence[Path]], Sequence[Finding]]
"""Runs jitlint over files."""


def score_cases(check: Check, folder: Path = FIXTURES / "cases") -> Score:
    """Run jitlint over each case and score it.

    ``recall`` (grouped by kind): fault lines with a finding of a code for that kind, on the line or where the truth
    says it is as well reported. ``clean_flagged``: faultless cases with any finding. ``trap_lines``: lines that the
    truth of a faulty case calls clean, with a finding. ``extras``: other findings in faulty cases, of the codes that
    some kind stands for (the truth says nothing of faults of other kinds).
    """
    codes = codes_by_kind(folder / "kinds.toml")
    table = tomllib.loads((folder / "kinds.toml").read_text("utf-8"))
    judged = {code for each in table["kinds"].values() for code in each}
    score = Score()
    for truth_file in sorted(folder.glob("*/truth.json")):
        truth = json.loads(truth_file.read_text(encoding="utf-8"))
        files = [truth_file.parent / name for name in truth["files"]]
        found = [f for f in check(files) if f.code in judged or not truth["lines"]]
        _score_case(score, truth, codes, found)
    return score


def score_fixes(check: Check, pool: Pool, folder: Path = FIXTURES / "cases") -> Share:
    """Repair a copy of each case that can be (those with a ``fixed.py``), safely, and run it under JAX.

    A hit is a copy that runs without an exception and without the findings that its fault lines had before.
    """
    share = Share()
    with tempfile.TemporaryDirectory() as scratch:
        copies = {}
        for truth_file in sorted(folder.glob("*/fixed.py")):
            case = truth_file.parent
            truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
            copies[case.name] = Path(scratch).resolve() / case.name
            copies[case.name].mkdir()
            for name in truth["files"]:
                shutil.copy(case / name, copies[case.name])
            fix_in_place(copies[case.name])
        pool.submit((copy / "case.py", "jit") for copy in copies.values())
        for name, copy in copies.items():
            faults = set(_places(json.loads((folder / name / "truth.json").read_text(encoding="utf-8"))["lines"]))
            before = check(sorted((folder / name).glob("*.py")))
            old = {(Path(f.filename).name, f.code) for f in before if _place(f) in faults}
            left = {(Path(f.filename).name, f.code) for f in check(sorted(copy.glob("*.py")))}
            ran = all(statement["raised"] is None for statement in pool.outcome(copy / "case.py")["statements"])
            share.add(ran and not old & left)
    return share


def _score_case(
    score: Score, truth: Mapping[str, Any], codes: Callable[[str], set[str]], found: Sequence[Finding]
) -> None:
    case = truth["id"]
    fine = set(_places(truth["also_fine_to_report_at"]))
    traps = set(_places(truth["clean_lines"]))
    faults = set(_places(truth["lines"]))
    for want, place in zip(truth["lines"], _places(truth["lines"]), strict=True):
        right = codes(want["kind"])
        here = [f for f in found if _place(f) in fine | {place}]
        if not score.add("recall", want["kind"], any(f.code in right for f in here)):
            others = ", ".join(sorted({f.code for f in here})) or "nothing"
            score.misses.append(Miss("recall", case, want["line"], f"{want['kind']}: found {others}"))
    rest = [f for f in found if _place(f) not in fine | faults]
    if not faults:
        score.add("clean_flagged", "clean", bool(rest))
    for finding in rest:
        figure = "clean_flagged" if not faults else "trap_lines" if _place(finding) in traps else "extras"
        score.misses.append(Miss(figure, case, finding.span.row, f"{finding.code}: {finding.message}"))
        if figure != "clean_flagged":
            score.add(figure, "faulty", True)


def _places(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    for entry in entries:
        yield entry.get("file") or "case.py", entry["line"]


def _place(finding: Finding) -> tuple[str, int]:
    return Path(finding.filename).name, finding.span.row


def codes_by_kind(table: Path) -> Callable[[str], set[str]]:
    """From the table of kinds: a function from a kind to the codes that are right answers for it."""
    data = tomllib.loads(table.read_text(encoding="utf-8"))
    neighbours = [set(group) for group in data["neighbours"]]

    def codes(kind: str) -> set[str]:
        own = {code for pattern, each in data["kinds"].items() if fnmatch.fnmatch(kind, pattern) for code in each}
        return own.union(*(group for group in neighbours if group & own))

    return codes


def summary(score: Score, by_group: bool = False, verbose: bool = False) -> str:
    """The figures as text, a line each; with ``by_group`` also of each group, with ``verbose`` each disagreement."""
    lines = [str(miss) for miss in score.misses] if verbose else []
    if by_group:
        for group in sorted(score.groups):
            figures = score.groups[group]
            lines += [f"{group}: {name} {share}" for name, share in sorted(figures.items())]
    lines += [f"{name}: {share}" for name, share in sorted(score.overall.items())]
    return "\n".join(lines)


CEILINGS = frozenset({"false_raises", "clean_flagged", "trap_lines", "extras"})
"""Figures that count what must not be: the fewer the better."""

Floors = dict[str, dict[str, int]]
"""Counts of hits, by group (``overall`` first) and figure."""


def counts(score: Score) -> Floors:
    """Every figure as a count of hits, in the form in which floors are recorded."""
    groups = {"overall": score.overall, **{name: score.groups[name] for name in sorted(score.groups)}}
    return {name: {figure: share.hits for figure, share in sorted(each.items())} for name, each in groups.items()}


def read_floors(name: str, file: Path = FIXTURES / "floors.toml") -> Floors:
    """The recorded counts of one body of programs: ``oracle`` or ``cases``."""
    floors: Floors = tomllib.loads(file.read_text(encoding="utf-8"))[name]
    return floors


def below_floor(score: Score, floors: Floors) -> list[str]:
    """The figures that are worse than recorded, a line each; what must not be and is not recorded must be zero."""
    now = counts(score)
    worse = []
    for group in now.keys() | floors.keys():
        recorded, reached = floors.get(group, {}), now.get(group, {})
        for figure in recorded.keys() | reached.keys():
            value, floor = reached.get(figure, 0), recorded.get(figure, 0)
            if value > floor if figure in CEILINGS else value < floor:
                worse.append(f"{group}: {figure} is {value}, recorded {floor}")
    return sorted(worse)


def record_floors(name: str, score: Score, file: Path = FIXTURES / "floors.toml") -> None:
    """Write the figures of one body of programs into the file of floors where they are better than recorded."""
    data: dict[str, Floors] = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    merged = counts(score)
    for group, figures in data.get(name, {}).items():
        for figure, floor in figures.items():
            better = min if figure in CEILINGS else max
            value = merged.setdefault(group, {}).get(figure, 0)
            merged[group][figure] = better(value, floor)
    data[name] = merged
    lines = [
        "# The best figures so far, which the tests hold jitlint to: `python -m benchmarks.score_oracle --record` and",
        "# `python -m benchmarks.score_cases --record` write better ones, and never worse ones.",
        "",
    ]
    for body, groups in sorted(data.items()):
        for group, figures in groups.items():
            lines += [f"[{body}.{json.dumps(group)}]", *(f"{key} = {value}" for key, value in figures.items()), ""]
    file.write_text("\n".join(lines), encoding="utf-8")
