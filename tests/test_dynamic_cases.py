"""The dynamic mode on programs in the style of real code: what jitlint finds there, and claims made from their marks.

Marks of faults must be confirmed, marks of places that look like faults and are none never, whether or not a rule finds
them; and what is counted as variants must be what was compiled when the programs were executed.
"""

from __future__ import annotations

import fnmatch
import json
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from jitlint.check import analyse
from jitlint.dynamic.call_sites import find_call_sites
from jitlint.dynamic.confirm import Options, confirm
from jitlint.dynamic.judge import RAISES
from jitlint.findings import Finding, Severity, Span
from jitlint.project.config import Config, ConfigResolver
from jitlint.project.model import Project
from jitlint.project.modules import load_project
from jitlint.settings import Selection
from tests.dynamic_runs import PATIENT, PYTHONS
from tests.judge.fixtures import FIXTURES
from tests.judge.scores import codes_by_kind

FOLDER = FIXTURES / "cases"
COMPILED_AS = {"lax.scan": "scan", "lax.while_loop": "while", "lax.fori_loop": "while"}


@dataclass
class Figures:
    """How often each verdict was given to claims of each sort, and how many counts of variants are right."""

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    counts: Counter[bool] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """What was confirmed or refuted and should not have been."""
    unresolved: list[str] = field(default_factory=list)
    """Errors that could not be confirmed, and why."""

    def of(self, sort: str) -> tuple[int, int]:
        """How many claims of a sort were confirmed, and how many there are."""
        return self.verdicts[sort, "confirmed"], sum(n for (each, _), n in self.verdicts.items() if each == sort)


def _claims(project: Project, truth: dict[str, Any]) -> list[Finding]:
    """A finding for each mark: of a fault with the first code of its kind, of a clean place as if it tested a tracer.

    Several codes are right answers to some kinds: the claim is that JAX raises what one of them says.
    """
    modules = {module.path.name: module for module in project.modules}
    table, codes = (
        tomllib.loads((FOLDER / "kinds.toml").read_text("utf-8"))["kinds"],
        codes_by_kind(FOLDER / "kinds.toml"),
    )
    out = []
    for mark, kind in [
        *((line, line["kind"]) for line in truth["lines"]),
        *((line, "traced-if") for line in truth["clean_lines"]),
    ]:
        module = modules[mark.get("file") or "case.py"]
        row = module.text.splitlines()[mark["line"] - 1]
        span = Span(mark["line"], len(row) - len(row.lstrip()) + 1, mark["line"], len(row) + 1)
        name = "fault" if mark in truth["lines"] else "clean"
        code = next(each[0] for pattern, each in table.items() if fnmatch.fnmatch(kind, pattern))
        raises = frozenset().union(*(RAISES.get(each, ()) for each in codes(kind))) if code in RAISES else frozenset()
        properties: dict[str, object] = {"raises": raises} if raises else {}
        out.append(Finding(code, name, "", module.display, span, Severity.ERROR, properties=properties))
    return out


def _tried(python: Path, file: Path) -> Figures:
    """The figures of one program."""
    figures = Figures()
    truth = json.loads(file.read_text(encoding="utf-8"))
    resolver = ConfigResolver(isolated=True)
    project = load_project([file.parent / name for name in truth["files"]], resolver)
    marks = _claims(project, truth)
    found = analyse(project, resolver, Selection()).findings
    options = Options(python, PATIENT, call_sites=find_call_sites(project, Config()))
    out, summary = confirm([*marks, *found], project, options)
    faulty = bool(truth["lines"])
    for index, each in enumerate(out):
        of_rule = "found" if index < len(marks) + len(found) else "unforeseen"
        sort = f"mark of {each.name}" if index < len(marks) else f"{of_rule} in {'faulty' if faulty else 'clean'}"
        if each.code in RAISES:
            sort = f"raising {sort}"
        verdict = str(each.properties["verdict"])
        figures.verdicts[sort, verdict] += 1
        place = f"{file.parent.name}:{each.span.row}: {each.code} ({sort}) {verdict}"
        right = {"fault": "confirmed", "clean": "refuted"}.get(each.name, "confirmed" if faulty else "none")
        if verdict not in (right, "unresolved"):
            figures.wrong.append(place)
        elif verdict == "unresolved" and each.code in RAISES and right == "confirmed":
            figures.unresolved.append(f"{place}: {each.properties['verdict_reason']}")
    counted: Counter[str] = Counter()
    for variants in summary.variants:
        counted[COMPILED_AS.get(variants.name, variants.name)] += variants.total
    expected = truth["expected_compiles"] or truth["observed"]["compiles"]
    figures.counts.update(counted[name] == count for name, count in expected.items())
    return figures


@lru_cache
def figures_of(python: Path) -> Figures:
    """The figures of all programs; the time goes into the workers, so two are tried at once."""
    total = Figures()
    with ThreadPoolExecutor(max_workers=2) as pool:
        for each in pool.map(lambda file: _tried(python, file), sorted(FOLDER.glob("*/truth.json"))):
            total.verdicts.update(each.verdicts)
            total.counts.update(each.counts)
            total.wrong += each.wrong
            total.unresolved += each.unresolved
    return total


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_what_raises_is_confirmed_and_nothing_is_refuted_wrongly(python: Path) -> None:
    figures = figures_of(python)
    assert [what for what in figures.wrong if what.endswith("refuted")] == []
    for sort in ("raising found in faulty", "raising mark of fault"):
        confirmed, faults = figures.of(sort)
        # measured: all with the newest jax; with 0.4.38 all but the one that calls jit as only newer ones can be called
        assert faults > 30
        assert confirmed >= 0.85 * faults, figures.unresolved


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_nothing_is_confirmed_wrongly(python: Path) -> None:
    figures = figures_of(python)
    assert [what for what in figures.wrong if what.endswith("confirmed")] == []


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_variants_are_counted_as_jax_compiled_them(python: Path) -> None:
    counts = figures_of(python).counts
    assert counts[True] >= 0.85 * counts.total()
