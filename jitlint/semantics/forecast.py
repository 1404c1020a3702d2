"""The forecast of ``--variants``: every jitted function, the programs it will be compiled for, and their causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitlint.semantics import replay, variants
from jitlint.semantics.variants import Cause, Estimate

if TYPE_CHECKING:
    from jitlint.semantics.driver import Analysis

_WORDS = {
    "static": "the value of the static {name}",
    "fresh": "the identity of the static {name}",
    "shape": "the shape of {name}",
    "dtype": "the dtype of {name}",
    "weak": "the weak type of {name}",
    "structure": "the structure of {name}",
    "spelling": "how {name} is passed",
    "function": "the function itself",
}


@dataclass(frozen=True, slots=True)
class Forecast:
    """One jitted function: where it is jitted, its name, how many programs, and why more than one."""

    filename: str
    row: int
    name: str
    number: int | None
    """How many; None when it grows with the turns of a loop or the calls of a function."""
    exact: bool
    count: str
    """``exactly 5``, ``at most 8``, ``at least 2``, ``about 4``, ``one per iteration``, ``no call seen``."""
    function: str = "?"
    """The name of the function that is traced in the end, under ``grad``, ``partial`` and their kin."""
    causes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """The kinds of the causes: ``function static fresh shape dtype weak structure spelling``."""

    defined: tuple[str, int] | None = None
    """Path and first row of the function that is traced in the end, decorators included."""
    calls: bool = True
    """Some call of it was seen."""
    short: bool = False
    """Calls were left out that may bring more."""
    recorded: int | None = None
    """How often a process of the recorded run traced it; None where there is no record, or it is not in it."""

    @property
    def text(self) -> str:
        """The lines that people read."""
        seen = "" if self.recorded is None else f"; recorded: {self.recorded}"
        head = f"{self.filename}:{self.row}: {self.name}: {self.count}{seen}"
        return "\n".join([head, *(f"    {cause}" for cause in self.causes)])


def of(analysis: Analysis) -> list[Forecast]:
    """The forecasts of an analysis, in the order of places."""
    interp = analysis.interp
    sites = {id(e.node): e for e in interp.entries if e.unit.module.reported}
    out = []
    for entry in sites.values():
        row = entry.unit.span(entry.node).row
        found = variants.estimate(interp, entry.node)
        where = (entry.unit.module.display, row, entry.name)
        target = entry.target
        function = target.name if target is not None else entry.name
        defined = None if target is None else (str(target.unit.module.path), target.first_row)
        seen = replay.observed(interp, entry)
        recorded = None if seen is None else seen.traces
        if found is None:
            out.append(
                Forecast(*where, 0, False, "no call seen", function, (), (), defined, calls=False, recorded=recorded)
            )
            continue
        causes = _merged(found)
        lines = tuple(_line(c) for c in causes)
        kinds = tuple(dict.fromkeys(c.kind for c in causes))
        count = (found.count.number, found.count.exact, found.count.text)
        short = found.count.short
        out.append(Forecast(*where, *count, function, lines, kinds, defined, short=short, recorded=recorded))
    return sorted(out, key=lambda f: (f.filename, f.row, f.name))


def _merged(found: Estimate) -> list[Cause]:
    """One cause of each kind for each parameter: a list that grows changes in all its leaves."""
    chosen: dict[tuple[str, str], Cause] = {}
    structures = {c.part.param for c in found.causes if c.kind == "structure"}
    for cause in found.causes:
        if cause.kind in ("shape", "dtype", "weak") and cause.part.param in structures:
            continue
        chosen.setdefault((cause.part.param, cause.kind), cause)
    return list(chosen.values())


def _line(cause: Cause) -> str:
    name = f"`{cause.part.param}{cause.part.path}`"
    what = _WORDS[cause.kind].format(name=name)
    where = "from call to call"
    if cause.loop is not None:
        where = f"in the loop at line {cause.loop.unit.span(cause.loop.node).row}"
    values = ", ".join(dict.fromkeys(v for v in cause.values[:4] if v))
    return f"{what} changes {where}: {cause.count.text}{f' ({values})' if values else ''}"
