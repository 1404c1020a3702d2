"""How well the forecast of ``jitlint check --variants`` agrees with what JAX does.

usage: python benchmarks/prediction.py [--more DIR] [--write FILE] [-v]

Every program of ``benchmarks/recompiling``, of the fixtures on recompiling (and of DIR) is run under the recorder of
``jitlint trace``, which counts how often each jitted function is traced and says why, and forecast by jitlint, which
does not run it.
A program is a file, or a folder with a ``main.py``. Programs with a line ``N = …`` are also run and forecast with
twice as many turns. Four figures: the number is exactly right; the class (one, bounded, grows with N) is right; the
cause is the one that the program names on its first line; of functions that were traced more than once, every cause
that was recorded is among those foreseen.
``--write`` puts the table into a Markdown file.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from jitlint.project.config import Config
from jitlint.project.modules import load_project
from jitlint.recorder.launch import environment
from jitlint.recorder.record import RecordError, load_record
from jitlint.recorder.runtime.causes import Cause
from jitlint.semantics import estimates
from jitlint.semantics.forecast import Forecast

HERE = Path(__file__).resolve().parent
FIXTURES = [HERE.parent / "fixtures" / "rules" / f"JIT{n}" for n in (204, 205, *range(301, 308))]
KINDS = {"new_function_object": "function", "weak_type": "weak"}
"""What the recorder calls causes, where the forecast has another word; the value of a static argument that equals only
itself is ``fresh``."""
SEEN = ("static", "shape", "dtype", "weak_type", "structure", "spelling", "new_function_object")
"""The causes that a forecast can name."""


@dataclass(frozen=True)
class Traced:
    """What became of the functions of one name in a run: how often they were traced, and why more than once."""

    count: int = 0
    kinds: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Row:
    """A jitted function of a program: what JAX did and what was forecast, at N and at twice N."""

    program: str
    function: str
    traced: tuple[int, ...]
    forecast: tuple[int | None, ...]
    cause: str | None
    kinds: tuple[str, ...]
    recorded: frozenset[str] = frozenset()
    """The kinds of the causes that the recorder gives."""

    @property
    def foreseen(self) -> bool | None:
        """Whether the causes that were recorded are foreseen; None where there are none."""
        return self.recorded <= set(self.kinds) if self.recorded else None

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


def traces(program: Path, folder: Path) -> dict[str, Traced]:
    """What the recorder sees of a run, by the names of functions. Raises CalledProcessError when the program fails."""
    folder.mkdir()
    env = {**environment(folder), "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, str(program)], env=env, capture_output=True, check=True, timeout=300)
    found: dict[str, Traced] = {}
    try:
        record = load_record(folder)
    except RecordError:
        return {}
    for trace in (each for each in record.traces if not each.library):
        before = found.get(trace.name, Traced())
        kinds = {_kind(cause) for cause in trace.causes if cause.kind in SEEN}
        found[trace.name] = Traced(before.count + 1, before.kinds | kinds)
    return found


def _kind(cause: Cause) -> str:
    if cause.kind == "static" and "equals only itself" in cause.note:
        return "fresh"
    return KINDS.get(cause.kind, cause.kind)


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
        traced.append(traces(place, folder / f"record{number}"))
        foreseen.append(forecasts(place))
    first = text.partition("\n")[0]
    named = dict(part.split("=") for part in first.removeprefix("# causes:").split()) if "# causes:" in first else {}
    out = []
    for name, found in foreseen[0].items():
        kinds = tuple(dict.fromkeys(k for f in found for k in f.kinds))
        simple = name.rpartition(".")[2]
        counts = tuple(t.get(simple, Traced()).count for t in traced)
        recorded = traced[0].get(simple, Traced()).kinds
        numbers = tuple(_total(f.get(name, [])) for f in foreseen)
        title = program.parent.name if program.name == "main.py" else program.stem
        out.append(Row(title, name, counts, numbers, named.get(name), kinds, recorded))
    return out


def programs(folder: Path) -> list[Path]:
    """The programs of a folder: its files, and the main files of the folders in it."""
    files = [p for p in folder.glob("*.py") if ".fixed" not in p.name]
    return sorted([*files, *folder.glob("*/main.py")])


def table(found: list[Row]) -> str:
    """The figures and the rows as Markdown."""
    caused = [r.caused for r in found if r.caused is not None]
    foreseen = [r.foreseen for r in found if r.foreseen is not None]
    figures = (
        ("number exactly right", sum(r.exact for r in found), len(found)),
        ("class right (one, bounded, grows)", sum(a == b for a, b in (r.classes for r in found)), len(found)),
        ("cause right, as the program names it", sum(caused), len(caused)),
        ("cause right, as the recorder names it", sum(foreseen), len(foreseen)),
    )
    lines = ["| figure | right | of | share |", "|---|---|---|---|"]
    lines += [f"| {name} | {right} | {of} | {right / max(1, of):.2f} |" for name, right, of in figures]
    lines += ["", "| program | function | JAX traced | forecast | causes |", "|---|---|---|---|---|"]
    for r in found:
        numbers = ", ".join("grows" if n is None else str(n) for n in r.forecast)
        name = r.function.replace("<", "&lt;")
        lines.append(f"| {r.program} | {name} | {', '.join(map(str, r.traced))} | {numbers} | {', '.join(r.kinds)} |")
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
        if not r.exact or r.caused is False or r.foreseen is False:
            print(r)
    if options.write:
        head = "# Forecasts held against JAX\n\nMade by `python benchmarks/prediction.py`: see its first lines.\n\n"
        options.write.write_text(f"{head}{text}\n")


if __name__ == "__main__":
    main()
