"""How well the forecast of ``jitlint check --variants`` agrees with what JAX does.

usage: python benchmarks/prediction.py [--more DIR] [--write FILE] [-v]

Every program of ``benchmarks/recompiling``, of the fixtures on recompiling (and of DIR) is run under JAX, with a count
of how often the body of each jitted function runs while it is traced, and forecast by jitlint, which does not run it.
A program is a file, or a folder with a ``main.py``. Programs with a line ``N = …`` are also run and forecast with
twice as many turns. Three figures: the number is exactly right; the class (one, bounded, grows with N) is right; the
cause is the one that the program names on its first line.
``--write`` puts the table into a Markdown file.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from jitlint.project.config import Config
from jitlint.project.modules import load_project
from jitlint.semantics import estimates
from jitlint.semantics.forecast import Forecast

HERE = Path(__file__).resolve().parent
FIXTURES = [HERE.parent / "fixtures" / "rules" / f"JIT{n}" for n in (204, 205, *range(301, 308))]
RUNNER = """
import collections, json, os, runpy, sys
import jax
from jax._src import core
traces = collections.Counter()
folder = os.path.dirname(sys.argv[1])
sys.path.insert(0, folder)
def profile(frame, event, arg):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(folder) and not core.trace_state_clean():
        traces[code.co_name] += 1
out, sys.stdout = sys.stdout, sys.stderr
sys.setprofile(profile)
runpy.run_path(sys.argv[1], run_name="__main__")
sys.setprofile(None)
print(json.dumps(traces), file=out)
"""


@dataclass(frozen=True)
class Row:
    """A jitted function of a program: what JAX did and what was forecast, at N and at twice N."""

    program: str
    function: str
    traced: tuple[int, ...]
    forecast: tuple[int | None, ...]
    cause: str | None
    kinds: tuple[str, ...]

    @property
    def exact(self) -> bool:
        return self.traced == self.forecast

    @property
    def classes(self) -> tuple[str, str]:
        return _class(self.traced), _class(self.forecast)

    @property
    def caused(self) -> bool | None:
        """Whether the cause is right; None where the program names none."""
        if self.cause is None:
            return None
        return not self.kinds if self.cause == "" else self.cause in self.kinds


def _class(numbers: tuple[int | None, ...]) -> str:
    if None in numbers or len(set(numbers)) > 1:
        return "grows"
    return "one" if numbers[0] == 1 else "bounded"


def traces(program: Path) -> dict[str, int]:
    """How often the body of each function ran while JAX traced, by name. Raises CalledProcessError when it fails."""
    command = [sys.executable, "-c", RUNNER, str(program)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    return found


def forecasts(program: Path) -> dict[str, list[Forecast]]:
    """What jitlint foresees, by the name of the function."""
    out: dict[str, list[Forecast]] = {}
    place = program.parent if program.name == "main.py" else program
    for each in estimates(load_project([place], Config()), Config()):
        out.setdefault(each.function, []).append(each)
    return out


def _total(found: list[Forecast]) -> int | None:
    numbers = [f.number for f in found]
    return None if None in numbers else sum(n for n in numbers if n is not None)


def rows(program: Path, folder: Path) -> list[Row]:
    """The rows of one program."""
    text = program.read_text()
    versions = [text]
    if match := re.search(r"^N = (\d+)$", text, re.M):
        versions.append(text.replace(match.group(0), f"N = {2 * int(match.group(1))}"))
    traced, foreseen = [], []
    for number, version in enumerate(versions):
        place = folder / f"v{number}" / program.name
        if program.name == "main.py":
            shutil.copytree(program.parent, place.parent, ignore=shutil.ignore_patterns("__pycache__"))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(version)
        traced.append(traces(place))
        foreseen.append(forecasts(place))
    first = text.partition("\n")[0]
    named = dict(part.split("=") for part in first.removeprefix("# causes:").split()) if "# causes:" in first else {}
    out = []
    for name, found in foreseen[0].items():
        kinds = tuple(dict.fromkeys(k for f in found for k in f.kinds))
        counts = tuple(t.get(name, 0) for t in traced)
        numbers = tuple(_total(f.get(name, [])) for f in foreseen)
        title = program.parent.name if program.name == "main.py" else program.stem
        out.append(Row(title, name, counts, numbers, named.get(name), kinds))
    return out


def programs(folder: Path) -> list[Path]:
    """The programs of a folder: its files, and the main files of the folders in it."""
    files = [p for p in folder.glob("*.py") if ".fixed" not in p.name]
    return sorted([*files, *folder.glob("*/main.py")])


def table(found: list[Row]) -> str:
    """The figures and the rows as Markdown."""
    caused = [r.caused for r in found if r.caused is not None]
    figures = (
        ("number exactly right", sum(r.exact for r in found), len(found)),
        ("class right (one, bounded, grows)", sum(a == b for a, b in (r.classes for r in found)), len(found)),
        ("cause right", sum(caused), len(caused)),
    )
    lines = ["| figure | right | of | share |", "|---|---|---|---|"]
    lines += [f"| {name} | {right} | {of} | {right / max(1, of):.2f} |" for name, right, of in figures]
    lines += ["", "| program | function | JAX traced | forecast | causes |", "|---|---|---|---|---|"]
    for r in found:
        foreseen = ", ".join("grows" if n is None else str(n) for n in r.forecast)
        name = r.function.replace("<", "&lt;")
        lines.append(f"| {r.program} | {name} | {', '.join(map(str, r.traced))} | {foreseen} | {', '.join(r.kinds)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--more", type=Path, action="append", default=[], help="a folder of further programs")
    parser.add_argument("--write", type=Path, help="the Markdown file to write the table to")
    parser.add_argument("-v", action="store_true", help="name the programs that were forecast wrongly")
    options = parser.parse_args()
    found: list[Row] = []
    skipped = []
    for folder in [HERE / "recompiling", *FIXTURES, *options.more]:
        for program in programs(folder):
            with tempfile.TemporaryDirectory() as temporary:
                try:
                    found += rows(program, Path(temporary))
                except subprocess.CalledProcessError:
                    skipped.append(program.name)
    text = table(found)
    print(text.partition("\n\n")[0])
    if skipped:
        print(f"left out, since they fail under JAX: {', '.join(skipped)}")
    for r in found if options.v else ():
        if not r.exact or r.caused is False:
            print(r)
    if options.write:
        head = "# Forecasts held against JAX\n\nMade by `python benchmarks/prediction.py`: see its first lines.\n\n"
        options.write.write_text(f"{head}{text}\n")


if __name__ == "__main__":
    main()
