"""jitlint against programs in the style of real code, with faults marked by line and kind."""

from __future__ import annotations

import json
from functools import partial

from tests.judge.fixtures import FIXTURES
from tests.judge.lint import findings
from tests.judge.pool import Pool
from tests.judge.scores import below_floor, codes_by_kind, read_floors, score_cases, score_fixes, summary

FOLDER = FIXTURES / "cases"


def test_no_figure_is_worse_than_recorded() -> None:
    score = score_cases(partial(findings, select=None))
    pool = Pool()
    score.overall["fixed_and_runs"] = score_fixes(findings, pool)
    pool.close()
    worse = below_floor(score, read_floors("cases"))
    assert not worse, "\n".join([*worse, summary(score, verbose=True)])


def test_every_kind_of_fault_has_codes() -> None:
    codes = codes_by_kind(FOLDER / "kinds.toml")
    truths = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*/truth.json")]
    kinds = {fault["kind"] for truth in truths for fault in truth["lines"]}
    assert not [kind for kind in sorted(kinds) if not codes(kind)]
