"""Scores jitlint on ``fixtures/cases``: programs in the style of real code, their faults marked by line and kind.

Run from the checkout: ``python -m benchmarks.score_cases [--by-category] [--fix] [-v] [--record]``.
"""

from __future__ import annotations

import argparse
from functools import partial

from tests.judge.lint import findings
from tests.judge.pool import Pool
from tests.judge.scores import record_floors, score_cases, score_fixes, summary


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-category", action="store_true", help="the recall of each kind of fault too")
    parser.add_argument("--fix", action="store_true", help="also repair the cases that can be, and run them under JAX")
    parser.add_argument("-v", "--verbose", action="store_true", help="each miss, false alarm and extra finding")
    parser.add_argument("--record", action="store_true", help="raise the floors that the tests hold")
    options = parser.parse_args()
    score = score_cases(partial(findings, select=None))
    if options.fix:
        pool = Pool()
        score.overall["fixed_and_runs"] = score_fixes(findings, pool)
        pool.close()
    print(summary(score, options.by_category, options.verbose))
    if options.record:
        record_floors("cases", score)


if __name__ == "__main__":
    main()
