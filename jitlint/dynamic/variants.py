"""Variants: what each jitted function was compiled for, and what would make several of them one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jitlint.dynamic.protocol import Argument, ModuleRun, Trace

CONTROL_FLOW = frozenset({"scan", "while_loop", "fori_loop", "map", "cond", "switch", "associative_scan"})
"""Called outside jit, these compile their functions on their own."""
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\](~?)")


@dataclass(frozen=True, slots=True)
class Variant:
    """One cache key of a function: its arguments, the size of the program, and where it was first called."""

    arguments: tuple[Argument, ...]
    equations: int | None
    path: str
    row: int
    count: int = 1
    """Traces with the same arguments: more than one means a new function object each time."""
    planned: bool = False
    """Only a planned call has it; the import did not get there."""

    @property
    def text(self) -> str:
        """``x: f32[32,784], train=True``."""
        return ", ".join(f"{a.name}={a.text}" if a.kind == "static" else f"{a.name}: {a.text}" for a in self.arguments)


@dataclass(frozen=True, slots=True)
class Variants:
    """The variants of one function. ``compiles`` is how often JAX compiled it; tracing alone compiles nothing."""

    path: str
    row: int
    name: str
    variants: tuple[Variant, ...]
    compiles: int
    advice: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many programs are made: what JAX compiled, or would for what was only traced."""
        seen = sum(v.count for v in self.variants if not v.planned)
        return (self.compiles or seen) + sum(v.planned for v in self.variants)


def collect_variants(runs: Sequence[ModuleRun]) -> tuple[Variants, ...]:
    """The variants of every jitted function (and un-jitted ``lax.scan`` and its kin) traced from the host."""
    groups: dict[tuple[str, int, str], list[Trace]] = {}
    loops: dict[tuple[str, int, str], dict[tuple[str, int], list[Trace]]] = {}
    compiled: Counter[str] = Counter()
    for run in runs:
        compiled.update(name for name, job in run.compiles if job is None)
        for trace in run.traces:
            if not trace.ok or not _is_call(trace.job):
                continue
            if trace.transform in ("jit", "pmap"):
                groups.setdefault((trace.path, trace.row, trace.name), []).append(trace)
            elif trace.transform in CONTROL_FLOW and trace.depth == 0 and trace.calls:
                place = trace.calls[0]
                bodies = loops.setdefault((place.path, place.row, f"lax.{trace.transform}"), {})
                bodies.setdefault((trace.path, trace.row), []).append(trace)
    names = Counter(name for _, _, name in groups)
    out = []
    for (path, row, name), traces in sorted(groups.items()):
        outermost = [t for t in traces if t.depth == 0]
        # The log of compilations knows names only; where two functions share one, the traces have to do.
        compiles = compiled[name] if names[name] == 1 else 0
        if not outermost and not compiles:
            continue
        chosen = outermost or traces
        merged = _merge(chosen)
        out.append(Variants(path, row, name, merged, compiles, advise(merged)))
    for (path, row, name), bodies in sorted(loops.items()):
        merged = _merge(max(bodies.values(), key=len))
        out.append(Variants(path, row, name, merged, 0, advise(merged)))
    return tuple(out)


def _is_call(job: str | None) -> bool:
    """Whether a trace stands for a call that the program makes: in the import, or planned from a call it has."""
    return job is None or (job.split(":")[1:2] in (["call"], ["signature"]) and not job.endswith(":leaks"))


def _merge(traces: Sequence[Trace]) -> tuple[Variant, ...]:
    """Traces with equal arguments as one variant; a planned call that repeats one of the import adds nothing."""
    found: dict[tuple[Argument, ...], Variant] = {}
    for trace in traces:
        known = found.get(trace.arguments)
        # What was planned in one module may be called by the import of another.
        if known is None or (known.planned and trace.job is None):
            place = trace.calls[0] if trace.calls else None
            where = (place.path, place.row) if place else (trace.path, trace.row)
            found[trace.arguments] = Variant(trace.arguments, trace.equations, *where, planned=trace.job is not None)
        elif trace.job is None:
            found[trace.arguments] = replace(known, count=known.count + 1)
    return tuple(found.values())


def advise(variants: Sequence[Variant]) -> tuple[str, ...]:
    """What would merge the variants of a function, one sentence per cause."""
    out: list[str] = []
    if any(v.count > 1 for v in variants):
        out.append("the same arguments were traced again: make the jitted function once and keep it")
    names = dict.fromkeys(a.name for v in variants for a in v.arguments)
    for name in names:
        given = [next((a for a in v.arguments if a.name == name), None) for v in variants]
        seen = list(dict.fromkeys(given))
        if len(seen) > 1:
            out.append(_cause(name, [a for a in seen if a is not None], missing=None in seen))
    return tuple(out)


def _cause(name: str, seen: Sequence[Argument], *, missing: bool) -> str:
    kinds = {a.kind for a in seen}
    if missing or len(kinds) > 1:
        return f"`{name}` is sometimes passed and sometimes not: always pass it the same way"
    if kinds == {"static"}:
        return f"`{name}` is static and has {len(seen)} values: trace it if nothing needs it static"
    arrays = [_ARRAY.findall(a.text) for a in seen]
    skeletons = {_ARRAY.sub("_", a.text) for a in seen}
    if len(skeletons) > 1 or len({len(found) for found in arrays}) > 1:
        return f"the structure of `{name}` differs: keep keys and lengths the same, or pad"
    shapes, dtypes, weak = ([tuple(leaf[i] for leaf in found) for found in arrays] for i in (1, 0, 2))
    causes = []
    if len(set(shapes)) > 1:
        causes.append(f"`{name}` has {len(set(shapes))} shapes: pad it to one, or to a few")
    if len(set(dtypes)) > 1:
        causes.append(f"`{name}` has {len(set(dtypes))} dtypes: convert it to one before the call")
    elif len(set(weak)) > 1:
        causes.append(f"`{name}` is weakly typed at first: give it a dtype, as in jnp.asarray({name}, dtype)")
    return "; ".join(causes) or f"`{name}` differs between calls"
