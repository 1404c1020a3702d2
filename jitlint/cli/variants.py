"""``--variants``: how many programs each jitted function is compiled for, as estimated, as traced and as recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitlint.dynamic.variants import Variants
    from jitlint.semantics.forecast import Forecast


@dataclass(frozen=True, slots=True)
class Counted:
    """One jitted function with all that is said of the number of its programs."""

    filename: str
    row: int
    name: str
    estimates: tuple[Forecast, ...] = ()
    """One for each place where it is jitted, as far as calls were seen."""
    traced: Variants | None = None
    """What the dynamic mode saw."""

    @property
    def estimated(self) -> str:
        """The estimate in words; "" where there is none."""
        from jitlint.semantics.variation import bound

        if not self.estimates:
            return ""
        if len(self.estimates) == 1:
            return self.estimates[0].count
        numbers = [each.number for each in self.estimates]
        if None in numbers:
            return next(each.count for each in self.estimates if each.number is None)
        words = bound(all(each.exact for each in self.estimates), any(each.short for each in self.estimates))
        return f"{words} {sum(number or 0 for number in numbers)}"

    @property
    def agrees(self) -> bool | None:
        """Whether what was traced or recorded is what was estimated; None where there are not both, with numbers."""
        counted = self.traced.total if self.traced is not None else self.recorded
        numbers = [each.number for each in self.estimates]
        if counted is None or not numbers or None in numbers:
            return None
        return counted == sum(number or 0 for number in numbers)

    @property
    def recorded(self) -> int | None:
        """How often the recorded run traced it."""
        return next((each.recorded for each in self.estimates if each.recorded is not None), None)

    def lines(self) -> list[str]:
        """The rows of the table for people."""
        place = f"{self.filename}:{self.row}: {self.name}"
        if self.traced is None:
            return [line for each in self.estimates for line in each.text.splitlines()]
        out = [f"{place}: {self.traced.total} variant{'s' if self.traced.total != 1 else ''}"]
        for variant in self.traced.variants:
            size = "" if variant.equations is None else f" ({variant.equations} equations)"
            times = "" if variant.count == 1 else f" {variant.count} times"
            out.append(f"    {variant.text}{size}{times}")
        if self.estimated:
            out.append(f"    estimated: {self.estimated}")
        return [*out, *(f"    help: {advice}" for advice in self.traced.advice)]

    def to_json(self) -> dict[str, Any]:
        """As the JSON formats have it."""
        from jitlint.dynamic.confirm import variants_json

        numbers = [each.number for each in self.estimates]
        known = bool(numbers) and None not in numbers
        estimate = {
            "count": sum(number or 0 for number in numbers) if known else None,
            "exact": known and all(each.exact and not each.short for each in self.estimates),
            "text": self.estimated,
            "causes": [cause for each in self.estimates for cause in each.causes],
        }
        return {
            "filename": self.filename,
            "row": self.row,
            "function": self.name,
            "estimate": estimate if self.estimates else None,
            "traced": None if self.traced is None else variants_json(self.traced),
            "recorded": self.recorded,
            "agrees": self.agrees,
        }


def counted(estimates: Sequence[Forecast], traced: Sequence[Variants], paths: Mapping[str, str]) -> list[Counted]:
    """Every jitted function once, by place. ``paths`` are the paths of files by their shown names.

    A function that is jitted at several places has several estimates, and one list of what was traced.
    """
    tried = {(paths.get(each.path, each.path), each.row, each.name): each for each in traced}
    groups: dict[tuple[str, int, str], list[Forecast]] = {}
    out = []
    for each in estimates:
        place = _definition(each)
        if place is not None and place in tried:
            groups.setdefault(place, []).append(each)
        elif not traced or each.calls:
            out.append(Counted(each.filename, each.row, each.name, (each,)))
    for place, variants in tried.items():
        known = tuple(each for each in groups.get(place, ()) if each.calls)
        out.append(Counted(variants.path, variants.row, variants.name, known, variants))
    return sorted(out, key=lambda found: (found.filename, found.row, found.name))


def _definition(forecast: Forecast) -> tuple[str, int, str] | None:
    if forecast.defined is None:
        return None
    path, row = forecast.defined
    return path, row, forecast.function.rpartition(".")[2]
