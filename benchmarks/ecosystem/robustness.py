"""Runs jitlint on code that has nothing to do with JAX, or everything, and reports where it fails.

Run from the checkout: ``python -m benchmarks.ecosystem.robustness [--stdlib] [--as-jax] [FOLDER…]``. Each package of
a folder is a run of its own, large ones in parts, and so are its single modules. With ``--as-jax`` a comment that
mentions JAX is added to each file of a copy, so that none is left out of the analysis for not using it.

Exit codes: 0 nothing failed, 1 something crashed, had an internal error or took too long.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.ecosystem import checks

_MENTION = b"\n# jax\n"
MANY_FILES = 200
"""Larger packages are taken apart: what is analysed as one takes too long."""

_SKIPPED = {"__pycache__", "site-packages", "dist-packages"}


def pieces(folder: Path, within: str = "") -> Iterator[tuple[str, list[Path]]]:
    """The packages of a folder, large ones in parts, and its single modules."""
    entries = sorted(folder.iterdir())
    for entry in entries:
        if entry.is_dir() and entry.name not in _SKIPPED and not entry.name.startswith("."):
            files = [path for path in sorted(entry.rglob("*.py")) if path.is_file()]
            if len(files) > MANY_FILES:
                yield from pieces(entry, f"{within}{entry.name}/")
            elif files:
                yield within + entry.name, files
    single = [entry for entry in entries if entry.suffix == ".py" and entry.is_file()]
    for start in range(0, len(single), MANY_FILES):
        yield f"{within}*.py {start // MANY_FILES + 1}", single[start : start + MANY_FILES]


def copied(files: Sequence[Path], folder: Path, target: Path, as_jax: bool) -> None:
    """A copy of the files below ``folder``, each with a mention of JAX if asked for."""
    for path in files:
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        if as_jax:
            place.write_bytes(place.read_bytes() + _MENTION)


def main() -> None:
    """Run piece by piece, and say what fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="such as a site-packages")
    parser.add_argument("--stdlib", action="store_true", help="also the standard library of this Python")
    parser.add_argument("--as-jax", action="store_true", help="analyse each file as if it used JAX")
    parser.add_argument("--only", metavar="NAME,…", help="only these pieces")
    parser.add_argument("--seconds", type=float, default=1800, metavar="N", help="for one piece (default 1800)")
    options = parser.parse_args()
    folders = [*options.folders, *([Path(sysconfig.get_path("stdlib"))] if options.stdlib else [])]
    if not folders:
        parser.error("name a folder, or --stdlib")
    only = set(options.only.split(",")) if options.only else None
    failed, files, lines, findings = 0, 0, 0, 0
    for folder in folders:
        for name, paths in pieces(folder):
            if only is not None and name.split("/")[0] not in only:
                continue
            with tempfile.TemporaryDirectory(prefix="jitlint-robustness-") as scratch:
                copied(paths, folder, Path(scratch), options.as_jax)
                try:
                    found = checks.check(Path(scratch), options=["--exclude", ""], seconds=options.seconds)
                except checks.CheckError as error:
                    failed += 1
                    print(f"{name}: {error}", flush=True)
                    continue
            loud = sum(finding["severity"] != "info" for finding in found.findings)
            files, lines, findings = files + found.files, lines + found.lines, findings + loud
            print(f"{name}: {found.files} files, {found.lines} lines, {found.cpu:.0f} s, {loud} findings", flush=True)
            for finding in found.findings:
                if finding["severity"] != "info":
                    row = finding["location"]["row"]
                    print(f"    {finding['filename']}:{row} {finding['code']} {finding['message']}", flush=True)
    print(f"{files} files, {lines} lines, {findings} errors and warnings, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
