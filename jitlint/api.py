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
from typing import Any, Literal

import libcst as cst

from jitlint.findings import Applicability, Certainty, Edit, Fix, NewImport, Severity, Step

__all__ = [
    "Applicability",
    "Certainty",
    "Edit",
    "Fix",
    "NewImport",
    "Report",
    "Rule",
    "Severity",
    "Step",
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
