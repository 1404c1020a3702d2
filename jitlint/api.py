"""All that a rule module imports: the rule record, the events it can be called on, and what it reports.

A rule is a docstring, one function and one constant::

    '''What it does, why it matters, example, use instead, when it is silent, fix safety.'''

    from collections.abc import Iterator

    from jitlint.api import Context, Report, Rule, Severity, TruthTest


    def check(event: TruthTest, ctx: Context) -> Iterator[Report]:
        ...


    RULE = Rule(code="JIT101", name="traced-branch", severity=Severity.ERROR, since="0.1.0", on=(TruthTest,), check=check)

The engine interprets the program once and records *events* (a truth test, a host conversion, a traced shape, a jit
site, a call of a jitted function, an effect …), each at a libcst node and with the abstract values that met there.
Rules are called on the events they name; they never follow variables themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

import libcst as cst

from jitlint.findings import Applicability, Certainty, Edit, Fix, NewImport, Severity, Step
from jitlint.semantics import errors
from jitlint.semantics.context import Context
from jitlint.semantics.entry import Call, Entry, Root
from jitlint.semantics.events import (
    ArrayWanted,
    BadArgument,
    BadResult,
    BadSite,
    BlindTest,
    Captured,
    ControlFlow,
    DonatedUse,
    DynamicShape,
    Effect,
    EntryCall,
    Event,
    GradientCut,
    ItemAssignment,
    KeyReuse,
    LeakedUse,
    LostUpdate,
    Misuse,
    MutatedStatic,
    NeedsConcrete,
    OuterWrite,
    Site,
    StaleRead,
    StaticArgument,
    StaticField,
    Timing,
    TracedUse,
    TruthTest,
    Unrolled,
    WeakState,
)
from jitlint.semantics.source import Unit

__all__ = [
    "Applicability",
    "ArrayWanted",
    "BadArgument",
    "BadResult",
    "BadSite",
    "BlindTest",
    "Call",
    "Captured",
    "Certainty",
    "Context",
    "ControlFlow",
    "DonatedUse",
    "DynamicShape",
    "Edit",
    "Effect",
    "Entry",
    "EntryCall",
    "Event",
    "Fix",
    "GradientCut",
    "ItemAssignment",
    "KeyReuse",
    "LeakedUse",
    "LostUpdate",
    "Misuse",
    "MutatedStatic",
    "NeedsConcrete",
    "NewImport",
    "OuterWrite",
    "Report",
    "Root",
    "Rule",
    "Severity",
    "Site",
    "StaleRead",
    "StaticArgument",
    "StaticField",
    "Step",
    "Timing",
    "TracedUse",
    "TruthTest",
    "Unrolled",
    "WeakState",
    "close_matches",
    "is_guarded",
    "is_swallowed",
    "setting_help",
]


@dataclass(frozen=True, slots=True)
class Report:
    """What a rule found: the libcst node to mark, what happens, and what to write instead.

    ``severity`` and ``certainty`` default to the rule's and the event's own.
    """

    node: cst.CSTNode
    message: str
    help: str | None = None
    severity: Severity | None = None
    certainty: Certainty | None = None
    trace: tuple[Step, ...] | None = None
    fix: Fix | None = None
    properties: dict[str, object] = field(default_factory=dict)
    unit: Unit | None = None
    """The source that ``node`` stands in, where it is not the event's."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as a constant value: what it is called, what it is called on, and the function that decides.

    ``fix`` says what repairs it offers: ``safe``, ``unsafe`` or ``none``. Rules of status ``preview`` and rules of
    severity info are off unless selected.
    """

    code: str
    name: str
    severity: Severity
    since: str
    on: tuple[type[Any], ...]
    check: Callable[[Any, Any], Iterator[Report]]
    fix: Literal["safe", "unsafe", "none"] = "none"
    status: Literal["stable", "preview"] = "stable"


def is_guarded(event: TracedUse) -> bool:
    """Does code around it, in the traced function, catch the error that it raises, by name or at large?"""
    return errors.caught_on_purpose(event.error, event.guards) or is_swallowed(event)


def is_swallowed(event: TracedUse) -> bool:
    """Does an ``except`` around it, in the traced function, catch the error without meaning to?"""
    return errors.caught_at_large(event.error, event.guards)


def setting_help(event: Event, ctx: Context) -> str | None:
    """Advice to make a setting static, where that cures the event."""
    roots = ctx.settings_behind(event)
    if not roots:
        return None
    names = ", ".join(f"`{r.name}`" for r in roots)
    return f"make {names} static: `static_argnames=({', '.join(repr(r.name) for r in roots)},)` on `{roots[-1].entry.name}`"


def close_matches(name: str, entry: Entry) -> list[str]:
    """Parameters of a jitted function whose names are close to a misspelt one."""
    return get_close_matches(
        name, [p.name for p in entry.params or () if p.name not in (entry.static_names or ())], n=2, cutoff=0.6
    )
