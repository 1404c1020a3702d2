"""Runs jitlint on pinned packages of the registry, and holds what it finds against findings that people judged.

Run from the checkout: ``python -m benchmarks.ecosystem [--only NAME,…] [-j N] [--record] [--output DIR]``. The wheels
that ``packages.toml`` lists are downloaded once, into a cache folder outside of the checkout, and unpacked, never
built. ``findings.toml`` has each finding with a label (true, false or undecided) and the reason for it.

Exit codes: 0 nothing is new that wants a label, 1 something is, 2 a package could not be had, or jitlint failed on it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.ecosystem import checks, figures, packages, record
from benchmarks.ecosystem.record import Comparison, Recorded


def default_cache() -> Path:
    """Where downloads are kept unless told otherwise."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jitlint-ecosystem"


def report(comparison: Comparison) -> str:
    """What is new, gone and changed, for people."""
    rows = [f"new: {_line(finding)}" for finding in comparison.new]
    rows += [f"gone: {_line(finding)}" for finding in comparison.gone]
    rows += [
        f"changed: {_line(new)}, was {old.severity}{f', {old.times} times' if old.times != new.times else ''}"
        for old, new in comparison.changed
    ]
    counts = f"{len(comparison.new)} new, {len(comparison.gone)} gone, {len(comparison.changed)} changed"
    owed = f"{len(comparison.unlabelled)} without a label"
    return "\n".join([*rows, f"{counts}; of those found now, {owed}."])


def _line(finding: Recorded) -> str:
    key = finding.key
    label = f" [{finding.label}]" if finding.label else ""
    return f"{key.package} {key.path} {key.rule} {finding.severity}{label} in {key.function or 'module'}: {key.text}"


def tables(findings: Sequence[Recorded]) -> str:
    """All figures on labels, in Markdown."""
    return "\n\n".join((figures.by_severity(findings), figures.by_rule(findings), figures.of_sample(findings)))


def main() -> None:
    """Run, print tables, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR", help="keep downloads there")
    parser.add_argument(
        "--unpacked", type=Path, action="append", default=[], metavar="DIR", help="look for unpacked wheels there first"
    )
    parser.add_argument("--only", metavar="NAME,…", help="only these packages")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="processes for each package")
    parser.add_argument("--output", type=Path, metavar="DIR", help="also write the tables and all findings there")
    parser.add_argument("--record", action="store_true", help="write what was found to the record, labels kept")
    parser.add_argument("--figures", action="store_true", help="run nothing; only the figures of the record")
    options = parser.parse_args()
    if options.figures:
        print(tables(record.load()))
        return
    listed = {package.name: package for package in packages.load()}
    names = options.only.split(",") if options.only else list(listed)
    if unknown := set(names) - set(listed):
        parser.error(f"the list has no {', '.join(sorted(unknown))}")
    outcomes: dict[str, checks.Outcome] = {}
    failed = False
    for name in names:
        try:
            folder = packages.sources(listed[name], options.cache, options.unpacked)
            outcomes[name] = checks.check(folder, options.jobs)
        except (packages.PackageError, checks.CheckError) as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr, flush=True)
        else:
            found = outcomes[name]
            print(f"{name}: {len(found.findings)} findings, {found.cpu:.0f} s", file=sys.stderr, flush=True)
    recorded = record.load()
    run = [finding for name, outcome in outcomes.items() for finding in record.from_run(name, outcome.findings)]
    comparison = record.compare(recorded, run, outcomes)
    text = figures.packages_table(outcomes, listed) + "\n\n" + tables(comparison.current)
    print(f"{text}\n\n{report(comparison)}")
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "tables.md").write_text(text + "\n", encoding="utf-8")
        found_now = {name: outcome.findings for name, outcome in outcomes.items()}
        (options.output / "findings.json").write_text(json.dumps(found_now, indent=1) + "\n", encoding="utf-8")
    if options.record:
        others = [finding for finding in recorded if finding.key.package not in outcomes]
        record.write([*others, *comparison.current])
    sys.exit(2 if failed else 1 if comparison.unlabelled else 0)


if __name__ == "__main__":
    main()
