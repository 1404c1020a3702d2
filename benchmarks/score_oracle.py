"""Scores jitlint on ``fixtures/oracle``: small programs whose outcome under JAX was executed.

Run from the checkout: ``python -m benchmarks.score_oracle [--by-category] [-v] [--record]``.
"""

from __future__ import annotations

import argparse
import json

from tests.judge.fixtures import FIXTURES
from tests.judge.lint import findings
from tests.judge.scores import record_floors, score_oracle, summary


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-category", action="store_true", help="the figures of each category too")
    parser.add_argument("-v", "--verbose", action="store_true", help="each program that jitlint and JAX disagree on")
    parser.add_argument("--record", action="store_true", help="raise the floors that the tests hold")
    options = parser.parse_args()
    folder = FIXTURES / "oracle"
    programs = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    score = score_oracle(findings((folder / program["file"] for program in programs), select=None))
    print(summary(score, options.by_category, options.verbose))
    if options.record:
        record_floors("oracle", score)


if __name__ == "__main__":
    main()
