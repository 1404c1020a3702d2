"""Scores jitlint on faults that people committed and later repaired in public repositories.

Run from the checkout: ``python -m benchmarks.fixes --repositories DIR [--only ID,…] [--json FILE] [-v]``. DIR holds git
directories (clones, bare or not) named ``owner+name``, or ``owner/name``; the list ``faults.toml`` says which. For each
fault the whole tree is checked as it was before the repair, and if the fault is found, as it is after.

  found            a finding with a fitting code on a line where the fault shows
  found and gone   and no such finding on a line of the same text after the repair
  in repository    found, among the faults whose evidence lies in the repository
  lookalikes       findings (errors and warnings) where nothing is wrong
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.fixes.faults import Fault, Lookalike, load
from benchmarks.fixes.trees import CheckError, Trees


@dataclass(frozen=True)
class Outcome:
    """What became of one fault or lookalike. ``verdict`` is ``gone``, ``stays``, ``missed``, ``quiet``, ``flagged``,
    ``absent`` (the commit is not at hand) or ``failed``."""

    id: str
    place: str
    code: str
    verdict: str
    note: str


def judge_fault(fault: Fault, trees: Trees) -> Outcome:
    """Is the fault found before the repair, and not after it?"""
    found = trees.findings(fault.repository, fault.before)
    if found is None:
        return _outcome(fault, "absent")
    hits = [f for f in found.get(fault.file, ()) if _row(f) in fault.lines and fault.is_told_by(f["code"])]
    if not hits:
        return _outcome(fault, "missed")
    after = trees.findings(fault.repository, fault.after)
    if after is None:
        return _outcome(fault, "absent")
    old = trees.lines(fault.repository, fault.before, fault.file)
    new = trees.lines(fault.repository, fault.after, fault.file)
    texts = {_text(old, _row(hit)) for hit in hits}
    codes = {hit["code"] for hit in hits}
    left = [f for f in after.get(fault.file, ()) if f["code"] in codes and _text(new, _row(f)) in texts]
    return _outcome(fault, "stays" if left else "gone", ", ".join(sorted(codes)))


def judge_lookalike(lookalike: Lookalike, trees: Trees) -> Outcome:
    """Is the line left alone?"""
    found = trees.findings(lookalike.repository, lookalike.before)
    place = f"{lookalike.repository} {lookalike.file}:{lookalike.line}"
    if found is None:
        return Outcome(lookalike.id, place, "-", "absent", lookalike.suggests)
    loud = [
        f["code"]
        for f in found.get(lookalike.file, ())
        if _row(f) == lookalike.line and f.get("severity") in ("error", "warning")
    ]
    return Outcome(lookalike.id, place, ", ".join(loud) or "-", "flagged" if loud else "quiet", lookalike.suggests)


def _outcome(fault: Fault, verdict: str, codes: str = "") -> Outcome:
    place = f"{fault.repository} {fault.file}:{fault.line}"
    return Outcome(fault.id, place, codes or fault.code or "-", verdict, fault.kind)


def _row(finding: Mapping[str, Any]) -> int:
    return int(finding["location"]["row"])


def _text(lines: Sequence[str], row: int) -> str | None:
    return lines[row - 1].strip() if 0 < row <= len(lines) else None


def figures(faults: Iterable[Fault], outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """The figures by name, each as a count and what it is of."""
    by_id = {outcome.id: outcome for outcome in outcomes}
    judged = [f for f in faults if by_id[f.id].verdict in ("gone", "stays", "missed")]
    found = [f for f in judged if by_id[f.id].verdict != "missed"]
    quiet = Counter(o.verdict for o in outcomes if o.verdict in ("quiet", "flagged"))
    return {
        "found": (len(found), len(judged)),
        "found and gone": (sum(by_id[f.id].verdict == "gone" for f in judged), len(judged)),
        "in repository": (sum(not f.elsewhere for f in found), sum(not f.elsewhere for f in judged)),
        "lookalikes": (quiet["flagged"], quiet.total()),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True, metavar="DIR", help="the git directories")
    parser.add_argument("--only", metavar="ID,…", help="only these faults and lookalikes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write figures and verdicts there")
    parser.add_argument("--timeout", type=float, default=1800, metavar="SECONDS", help="for one tree (default 1800)")
    parser.add_argument("-v", "--verbose", action="store_true", help="each verdict as it comes")
    options = parser.parse_args()
    if not options.repositories.is_dir():
        parser.error(f"{options.repositories} is no folder")
    faults, lookalikes = load()
    items: list[Fault | Lookalike] = [*faults, *lookalikes]
    only = set(options.only.split(",")) if options.only else {x.id for x in items}
    unknown = only - {x.id for x in items}
    if unknown:
        parser.error(f"the list has no {', '.join(sorted(unknown))}")
    items = [x for x in items if x.id in only]
    trees = Trees(options.repositories, options.timeout)
    outcomes: list[Outcome] = []
    for item in sorted(items, key=lambda x: (x.repository, x.before)):
        try:
            outcome = judge_fault(item, trees) if isinstance(item, Fault) else judge_lookalike(item, trees)
        except CheckError as error:
            outcome = Outcome(item.id, f"{item.repository} {item.before[:12]}", "-", "failed", str(error))
        outcomes.append(outcome)
        if options.verbose:
            print(f"{outcome.verdict:8} {outcome.id} {outcome.code:8} {outcome.place}  {outcome.note}", flush=True)
    result = figures([f for f in faults if f.id in only], outcomes)
    left_out = Counter(o.verdict for o in outcomes if o.verdict in ("absent", "failed"))
    for name, (count, of) in result.items():
        print(f"{name}: {count}/{of}")
    for verdict, count in sorted(left_out.items()):
        print(f"{verdict}: {count}")
    if options.json is not None:
        rows = [vars(o) for o in sorted(outcomes, key=lambda o: o.id)]
        options.json.write_text(json.dumps({"figures": result, "verdicts": rows}, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if left_out["failed"] else 0)


if __name__ == "__main__":
    main()
