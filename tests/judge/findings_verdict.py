"""Compares what jitlint found in a fixture with its marks. An empty list of complaints says that they agree."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from jitlint.findings import Finding
from tests.judge.fixtures import Fixture
from tests.judge.marks import Expectation
from tests.judge.verdict import marks_of


def finding_complaints(fixture: Fixture, found: Iterable[Finding], known: Collection[str]) -> list[str]:
    """Findings without a mark, marks without a finding, known misses that are found: a line each.

    Only codes in ``known`` count: marks may be written before the rule is.
    """
    left = [finding for finding in found if finding.code in known]
    complaints = []
    for file, marks in marks_of(fixture).items():
        for want in marks.expect:
            if want.code in known and not _take(left, fixture.main.parent / file, want):
                complaints.append(f"{file}:{want.row}: {_text(want)} is expected and not found")
        for want in marks.todo:
            if want.code in known and _take(left, fixture.main.parent / file, want):
                complaints.append(f"{file}:{want.row}: {want.code} is found now: turn `todo` into `expect`")
    return [*complaints, *_unexpected(left)]


def _take(left: list[Finding], file: Path, want: Expectation) -> bool:
    for finding in left:
        if (
            Path(finding.filename).resolve() == file
            and (finding.span.row, finding.code) == (want.row, want.code)
            and want.certainty in (None, finding.certainty)
            and (want.pattern is None or re.search(want.pattern, finding.message))
        ):
            left.remove(finding)
            return True
    return False


def _unexpected(left: Iterable[Finding]) -> Iterator[str]:
    for finding in left:
        place = f"{Path(finding.filename).name}:{finding.span.row}"
        yield f"{place}: {finding.code} {finding.certainty} is found and not expected: {finding.message}"


def _text(want: Expectation) -> str:
    return " ".join(filter(None, [want.code, want.certainty, want.pattern]))
