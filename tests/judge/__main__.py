"""``python -m tests.judge [-v] PATH…``: judge fixtures by hand; prints what disagrees (with -v: all that JAX did)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.judge.fixtures import Fixture, engine_fixtures, rule_fixtures
from tests.judge.pool import Pool, ProgramCrashedError
from tests.judge.verdict import complaints, modes


def main(args: list[str]) -> int:
    """Judge the fixtures at the paths (all without paths); 1 when something disagrees."""
    verbose = "-v" in args
    paths = [Path(arg).resolve() for arg in args if arg != "-v"]
    every = [*rule_fixtures(), *engine_fixtures()]
    chosen = [f for f in every if not paths or any(p == f.path or p in f.path.parents for p in paths)]
    chosen += [Fixture(p) for p in paths if p.is_file() and all(p not in f.files for f in every)]
    pool = Pool()
    pool.submit((fixture.main, mode) for fixture in chosen for mode in modes(fixture))
    bad = 0
    for fixture in chosen:
        try:
            found = complaints(fixture, pool)
        except (ProgramCrashedError, ValueError) as error:
            found = [str(error)]
        bad += bool(found)
        if found or verbose:
            print(fixture.id)
        for line in found:
            print("   ", line)
        if verbose:
            print(json.dumps(pool.outcome(fixture.main), indent=1))
    pool.close()
    print(f"{len(chosen)} fixtures, {bad} disagree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
