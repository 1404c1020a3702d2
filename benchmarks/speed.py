"""Times jitlint on real code, as ratios to the bare parse and to other linters on the same files.

Run from the checkout: ``python -m benchmarks.speed [--curve] [--peers PYTHON] [--markdown] FOLDER...``.

Every figure is processor time (user and system, child processes too) of whole commands, start-up included, and the
peak memory of the largest process; only ratios within one run mean anything. With ``--curve`` growing parts of the
files are timed as well, for the exponent of growth. ``--peers`` is a Python that has other linters installed; those
that it lacks are left out. The files are copied, and everything is done on the copy.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PARSERS = {
    "`ast.parse`": "import ast, sys\nfor name in sys.stdin.read().split('\\0'):\n    ast.parse(open(name, 'rb').read())\n",
    "`libcst.parse_module`": (
        "import libcst, sys\nfor name in sys.stdin.read().split('\\0'):\n"
        "    libcst.parse_module(open(name, 'rb').read())\n"
    ),
}
"""Programs that parse the files named on their standard input."""

PEERS: Mapping[str, tuple[str, ...]] = {
    "Ruff": ("-m", "ruff", "check", "--isolated", "--no-cache", "--quiet"),
    "jaxlint, without rules on documentation": ("-m", "jaxlint", "check", "--no-doc", "--jobs=1"),
    "TorchFix": ("-m", "torchfix", "--select", "ALL", "-j", "1"),
    "Fixit": ("-m", "fixit", "lint"),
    "Pylint": ("-m", "pylint", "--rcfile=", "--jobs=1", "--score=n", "--recursive=y"),
}
"""Arguments for a Python that has them; a folder follows."""

MAX_SECONDS = 1200
"""After so long a command is taken to hang."""

_BYTE_CODE = str(Path(tempfile.gettempdir(), "jitlint-speed-byte-code"))

CURVE = (10_000, 30_000, 100_000, 300_000)
"""Lines of code."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took: seconds of processor time, seconds that passed, and megabytes of its largest process."""

    cpu: float
    wall: float
    memory: float


def run(command: Sequence[str], folder: Path, text: str = "", environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command in ``folder`` with ``text`` on its standard input, and say what it took, whatever it returned.

    Raises RuntimeError for a command that broke, or did not end.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as said:
        given.write(text)
        given.seek(0)
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(environment or {})},
        )
        alarm = threading.Timer(MAX_SECONDS, process.kill)
        alarm.start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        errors = said.read()
        alarm.cancel()
    if process.returncode < 0 or "Traceback" in errors:
        raise RuntimeError(f"{' '.join(command)}: {errors[-400:]}\nexit code {process.returncode}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - started, used.ru_maxrss / unit)


def best(costs: Iterable[Cost]) -> Cost:
    """The least disturbed of several runs."""
    return min(costs, key=lambda cost: cost.cpu)


class Corpus:
    """Python files in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = sorted(folder.rglob("*.py"))
        self.lines = sum(path.read_bytes().count(b"\n") for path in self.files)

    def jitlint(self, jobs: int, path: str = ".", *, cache: bool = True) -> Cost:
        """What a check takes, with byte code that is kept, as in an installation."""
        kept = ["--cache-dir", str(self.folder.parent / f"{self.folder.name}-cache")] if cache else ["--no-cache"]
        command = [sys.executable, "-m", "jitlint", "check", "--isolated", "--quiet", "--exit-zero", f"-j{jobs}"]
        environment = {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": _BYTE_CODE}
        return run([*command, *kept, path], self.folder, environment=environment)

    def parse(self, program: str) -> Cost:
        """What parsing every file takes."""
        return run([sys.executable, "-c", program], self.folder, "\0".join(map(str, self.files)))

    def change(self) -> Path:
        """Change one line of one file in the middle."""
        path = self.files[len(self.files) // 2]
        path.write_text(path.read_text(encoding="utf-8") + "\n_changed = 1\n", encoding="utf-8")
        return path


def lay_out(folders: Sequence[Path], target: Path) -> Corpus:
    """A copy of the Python files below ``folders``, side by side as they are installed."""
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            place = target / folder.name / path.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return Corpus(target)


def part(corpus: Corpus, lines: int, target: Path) -> Corpus:
    """A copy of whole packages, and of the files of the last of them, up to a number of lines."""
    count = 0
    for path in corpus.files:
        if count >= lines:
            break
        place = target / path.relative_to(corpus.folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        count += path.read_bytes().count(b"\n")
    return Corpus(target)


WHOLE = "jitlint, without cache"
BASE = "`libcst.parse_module`"


def measured(corpus: Corpus, repeat: int) -> Iterator[tuple[str, Cost]]:
    """jitlint and the bare parsers."""
    for name, program in PARSERS.items():
        yield name, best(corpus.parse(program) for _ in range(repeat))
    corpus.jitlint(1, str(corpus.files[0]), cache=False)
    yield WHOLE, best(corpus.jitlint(1, cache=False) for _ in range(repeat))
    yield "jitlint, cold", corpus.jitlint(1)
    yield "jitlint, nothing changed", best(corpus.jitlint(1) for _ in range(max(3, repeat)))
    corpus.change()
    yield "jitlint, one line changed", corpus.jitlint(1)
    one = str(
        min((path for path in corpus.files if "jax" in path.read_text("utf-8")), key=lambda path: path.stat().st_size)
    )
    corpus.jitlint(1, one)
    yield "jitlint, one small file, nothing changed", best(corpus.jitlint(1, one) for _ in range(3))


def others(corpus: Corpus, python: str) -> Iterator[tuple[str, Cost | str]]:
    """The peers that ``python`` has, and why not the others."""
    for name, arguments in PEERS.items():
        module = arguments[1]
        there = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
        if not there:
            yield name, "not installed"
            continue
        try:
            run([python, *arguments, "--help"], corpus.folder)  # leaves its byte code
            yield name, run([python, *arguments, "."], corpus.folder)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            yield name, "failed"


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """The power of the lines that the seconds grow with: the slope of the line through the logarithms."""
    logs = [(math.log(lines), math.log(seconds)) for lines, seconds in points]
    middle = [sum(column) / len(logs) for column in zip(*logs, strict=True)]
    above: float = sum((x - middle[0]) * (y - middle[1]) for x, y in logs)
    below: float = sum((x - middle[0]) ** 2 for x, _ in logs)
    return above / below


def table(rows: Sequence[tuple[str, Cost | str]]) -> str:
    """The rows in Markdown."""
    base = next(cost.cpu for name, cost in rows if name == BASE and isinstance(cost, Cost))
    lines = [f"| what | seconds | times {BASE} | peak MB |", "|---|--:|--:|--:|"]
    for name, cost in rows:
        if isinstance(cost, Cost):
            lines.append(f"| {name} | {cost.cpu:.2f} | {cost.cpu / base:.2f} | {cost.memory:.0f} |")
        else:
            lines.append(f"| {name} | {cost} | | |")
    return "\n".join(lines)


def curve(corpus: Corpus, scratch: Path) -> str:
    """How time and memory grow with the lines, in Markdown."""
    points: list[tuple[int, float]] = []
    lines = ["| lines | seconds | seconds for 10,000 lines | peak MB |", "|--:|--:|--:|--:|"]
    for limit in CURVE:
        if points and points[-1][0] >= corpus.lines:
            break
        some = part(corpus, limit, scratch / f"part{limit}" / "site-packages")
        cost = some.jitlint(1, cache=False)
        points.append((some.lines, cost.cpu))
        each = cost.cpu / some.lines * 10_000
        lines.append(f"| {some.lines:,} | {cost.cpu:.1f} | {each:.2f} | {cost.memory:.0f} |")
    grown = f"\nTime grows with the {exponent(points):.2f}th power of the lines.\n" if len(points) > 1 else ""
    return "\n".join(lines) + "\n" + grown


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="packages to check")
    parser.add_argument("--curve", action="store_true", help="also time growing parts of the files")
    parser.add_argument("--peers", metavar="PYTHON", help="a Python that has other linters")
    parser.add_argument("--jobs", type=int, metavar="N", help="also compare the time that passes with N processes")
    parser.add_argument("--repeat", type=int, default=1, help="take the best of so many runs")
    options = parser.parse_args()
    for folder in options.folders:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder")
        if any(folder.glob("*.dist-info")):  # laid out as one package, its packages would not find each other
            parser.error(f"{folder} holds what was installed: name the folders of the packages in it")
    with tempfile.TemporaryDirectory(prefix="jitlint-speed-") as name:
        scratch = Path(name)
        corpus = lay_out([folder.absolute() for folder in options.folders], scratch / "site-packages")
        print(f"{corpus.lines:,} lines in {len(corpus.files)} files, Python {sys.version.split()[0]}\n", flush=True)
        rows: list[tuple[str, Cost | str]] = list(measured(corpus, options.repeat))
        if options.peers is not None:
            rows += others(corpus, options.peers)
        print(table(rows) + "\n", flush=True)
        if options.jobs is not None:
            one, many = (best_wall(corpus, jobs, options.repeat) for jobs in (1, options.jobs))
            print(
                f"With {options.jobs} processes {many.wall / one.wall:.2f} times the time of one passes.\n", flush=True
            )
        if options.curve:
            print(curve(corpus, scratch))


def best_wall(corpus: Corpus, jobs: int, repeat: int) -> Cost:
    """The quickest of several runs without a cache."""
    return min((corpus.jitlint(jobs, cache=False) for _ in range(repeat)), key=lambda cost: cost.wall)


if __name__ == "__main__":
    main()
