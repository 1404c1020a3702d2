"""The dynamic mode on ``fixtures/cases``: how its verdicts and its counts of variants agree with what was executed.

Run from the checkout: ``python -m benchmarks.dynamic_cases [--python PATH] [-v]``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.test_dynamic_cases import figures_of


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="an interpreter with a version of jax"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="name what was judged wrongly or not at all")
    options = parser.parse_args()
    figures = figures_of(options.python)
    for (sort, verdict), count in sorted(figures.verdicts.items()):
        print(f"{sort}: {verdict} {count}")
    print(f"functions whose variants are counted right: {figures.counts[True]} of {figures.counts.total()}")
    for wrong in figures.wrong if options.verbose else ():
        print(f"wrong: {wrong}")
    for unresolved in figures.unresolved if options.verbose else ():
        print(f"unresolved: {unresolved}")


if __name__ == "__main__":
    main()
