"""Runs the whole analysis: every module, then the functions nobody called, then the rules over what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import libcst as cst

from jitlint.api import Report, Rule
from jitlint.collector import collector_paused
from jitlint.findings import Certainty, Finding, Severity, Span, Step
from jitlint.knowledge import Knowledge
from jitlint.project.model import JaxTarget, Limits, Module, Project
from jitlint.project.names import prefixes
from jitlint.semantics import captured, demands, metadata, mutation, roots, staleness
from jitlint.semantics.context import Context
from jitlint.semantics.depth import with_room
from jitlint.semantics.events import Event, Fault
from jitlint.semantics.interp import Interpreter
from jitlint.semantics.modelled import PLACE
from jitlint.semantics.observed import Observations
from jitlint.semantics.source import Unit


@dataclass(slots=True)
class Analysis:
    """What came out: the findings (unsorted, nothing suppressed) and the interpreter for who asks further."""

    findings: list[Finding]
    interp: Interpreter


def analyse(
    project: Project,
    knowledge: Knowledge,
    rules: Sequence[Rule],
    target: JaxTarget | None = None,
    assume_jitted: frozenset[str] = frozenset(),
    observed: Observations | None = None,
    prepare: Callable[[Interpreter], None] | None = None,
    limits: Limits | None = None,
) -> Analysis:
    """Run the analysis over a project and the rules over its events. ``observed`` is what a recorded run passed to
    jitted functions; ``prepare`` is given the interpreter before it runs, to watch it; ``limits`` says what is much."""
    interp = Interpreter(project, knowledge, assume_jitted, observed, limits)
    if prepare is not None:
        prepare(interp)

    def everything() -> list[Finding]:
        _interpret(interp, project)
        demands.report(interp)
        metadata.report(interp)
        mutation.emit_mutated_statics(interp)
        staleness.emit_stale_reads(interp)
        captured.emit_captured(interp)
        ctx = Context(interp, target or JaxTarget())
        return list(run_rules(interp, ctx, rules))

    with collector_paused():
        return Analysis(with_room(everything), interp)


def run(interp: Interpreter, project: Project) -> None:
    """Interpret the whole project: modules that jax can matter to, then what nothing in them calls."""
    with_room(lambda: _interpret(interp, project))


def _interpret(interp: Interpreter, project: Project) -> None:
    for module in relevant(project.modules):
        interp.module(module)
    roots.run_uncalled(interp)


def relevant(modules: Sequence[Module]) -> list[Module]:
    """The modules that mention jax, and those that import such a module, directly or through others, in the order of
    ``Project.modules`` however they are given. Importing a package can run any of its modules."""
    chosen = {m.display for m in modules if m.index.mentions_jax}
    grown = True
    while grown:
        names = {prefix for m in modules if m.display in chosen for prefix in prefixes(m.name)}
        more = {m.display for m in modules if m.display not in chosen and not names.isdisjoint(m.index.imports)}
        chosen |= more
        grown = bool(more)
    return sorted((m for m in modules if m.display in chosen), key=lambda m: (not m.reported, m.display))


def run_rules(interp: Interpreter, ctx: Context, rules: Sequence[Rule]) -> Iterable[Finding]:
    """Call each rule on the events it names; findings at modules that are not reported on are dropped."""
    by_type: dict[type[Event], list[Rule]] = {}
    for rule in rules:
        for kind in rule.on:
            by_type.setdefault(kind, []).append(rule)
    seen: set[tuple[str, str, Span]] = set()
    for event in ctx.events():
        for rule in by_type.get(type(event), ()):
            if not event.unit.module.reported:
                continue
            for report in rule.check(event, ctx):
                finding = _finding(ctx, rule, event, report)
                key = (finding.code, finding.filename, finding.span)
                if key not in seen:
                    seen.add(key)
                    yield finding


def _finding(ctx: Context, rule: Rule, event: Event, report: Report) -> Finding:
    unit: Unit = report.unit if isinstance(report.unit, Unit) else event.unit
    module: Module = unit.module
    certainty = report.certainty
    if certainty is None:
        certainty = Certainty.POSSIBLE if isinstance(event, Fault) and not event.certain else Certainty.DEFINITE
    severity = report.severity or rule.severity
    if certainty is Certainty.POSSIBLE and severity is Severity.ERROR:
        severity = Severity.WARNING
    trace = report.trace if report.trace is not None else ctx.path(event)
    return Finding(
        rule.code,
        rule.name,
        report.message,
        module.display,
        unit.span(report.node),
        severity,
        certainty,
        report.help,
        tuple(step for step in trace if step.filename != PLACE),
        report.fix,
        qualname=event.function,
        properties=report.properties,
    )


def steps(origins: Iterable[tuple[str, cst.CSTNode, Unit]]) -> tuple[Step, ...]:
    """Trace steps at nodes."""
    out = []
    for what, node, unit in origins:
        span = unit.span(node)
        out.append(Step(unit.module.display, span.row, what, span.column))
    return tuple(out)
