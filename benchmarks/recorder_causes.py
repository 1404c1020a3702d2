"""Whether the recorder names the right causes: on the programs of the fixtures that trace or compile repeatedly.

usage: python benchmarks/recorder_causes.py [--python PATH] [-v]

Programs of ``fixtures/oracle`` on traces and compilations are held against ``causes.toml``, programs of
``fixtures/cases`` against the kinds of their marked faults. A program is right if one of the causes that are named for
it was recorded, and no other (for a case: one for each fault; a case may have faults of other kinds beside). Counts are
held against the truth of the fixtures, which was executed without a recorder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jitlint.recorder.join import CAUSES_BY_CODE
from jitlint.recorder.launch import environment
from jitlint.recorder.record import Record, RecordError, load_record

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"


@dataclass
class Score:
    """How many programs are right, and what is wrong with the others."""

    right: Counter[str] = field(default_factory=Counter)
    of: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def count(self, figure: str, right: bool, what: str) -> None:
        """Count one program for a figure."""
        self.of[figure] += 1
        self.right[figure] += right
        if not right:
            self.wrong.append(f"{figure}: {what}")


def recorded(program: Path, python: str) -> Record | None:
    """The record of a run of a program, whatever it ends with; None if nothing was traced."""
    with tempfile.TemporaryDirectory() as name:
        env = {
            **environment(Path(name)),
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        }
        subprocess.run([python, str(program)], env=env, cwd=program.parent, capture_output=True, check=False)
        try:
            return load_record(Path(name))
        except RecordError:
            return None


def causes(record: Record | None) -> set[str]:
    """The kinds of causes for which functions of the program were traced or compiled again."""
    functions = record.functions if record is not None else []
    events = [event for function in functions if not function.library for event in function.events]
    return {cause.kind for event in events for cause in event.causes} - {"first"}


def score_oracle(score: Score, python: str) -> None:
    """The programs of the oracle on traces and compilations."""
    expected: dict[str, list[str]] = tomllib.loads((HERE / "causes.toml").read_text(encoding="utf-8"))
    for truth in json.loads((FIXTURES / "oracle" / "truth.json").read_text(encoding="utf-8")):
        program = FIXTURES / "oracle" / truth["file"]
        if not program.stem.startswith("rc_") or not program.exists():
            continue
        record = recorded(program, python)
        seen, wanted = causes(record), set(expected.get(program.stem, ()))
        right = seen <= wanted and bool(seen) == bool(wanted)
        score.count("oracle: causes", right, f"{program.stem}: {sorted(seen)}, not {sorted(wanted)}")
        counted = (
            Counter(trace.name for trace in record.traces if not trace.library) if record is not None else Counter()
        )
        if set(truth["traces"]) <= set(counted):
            right = all(counted[name] == count for name, count in truth["traces"].items())
            score.count("oracle: traces", right, f"{program.stem}: {dict(counted)}, not {truth['traces']}")


def score_cases(score: Score, python: str) -> None:
    """The programs of the cases with faults that make JAX compile too often."""
    codes: dict[str, list[str]] = tomllib.loads((FIXTURES / "cases" / "kinds.toml").read_text(encoding="utf-8"))[
        "kinds"
    ]
    for file in sorted((FIXTURES / "cases").glob("*/truth.json")):
        truth: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        wanted = {line["kind"]: _causes_of(codes.get(line["kind"], ())) for line in truth["lines"]}
        wanted = {kind: kinds for kind, kinds in wanted.items() if kinds}
        if not wanted:
            continue
        record = recorded(file.parent / "case.py", python)
        seen = causes(record)
        right = all(kinds & seen for kinds in wanted.values())
        score.count("cases: causes", right, f"{file.parent.name}: {sorted(seen)}, not {wanted}")
        compiles = Counter(c.name for c in record.compiles if c.kind != "eager") if record is not None else Counter()
        for name, count in (truth["observed"]["compiles"] or {}).items():
            score.count(
                "cases: compiles", compiles[name] == count, f"{file.parent.name}: {name} {compiles[name]}, not {count}"
            )


def _causes_of(codes: Sequence[str]) -> set[str]:
    """The causes that prove findings of these codes right; a changed object that stays the same key is none."""
    return set().union(*(CAUSES_BY_CODE.get(code, set()) for code in codes if code != "JIT206"))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with another version of jax")
    parser.add_argument("-v", action="store_true", help="say what is wrong")
    options = parser.parse_args()
    score = Score()
    score_oracle(score, options.python)
    score_cases(score, options.python)
    for figure, of in score.of.items():
        print(f"{figure}: {score.right[figure]} of {of}")
    for text in score.wrong if options.v else ():
        print(text)


if __name__ == "__main__":
    main()
