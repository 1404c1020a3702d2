"""The dynamic mode as the command line calls it: findings in, findings with verdicts and a summary out."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jitlint.dynamic.judge import (
    CONCRETIZATION,
    RAISES,
    STALE,
    Case,
    Evidence,
    Judgement,
    Verdict,
    asks_for_a_value,
    is_guess,
    judge,
)
from jitlint.dynamic.plan import CallSite, Plan, plan_target
from jitlint.dynamic.protocol import ModuleRun, Place, Raised
from jitlint.dynamic.recipes import find_recipes
from jitlint.dynamic.run import DEFAULT_LIMITS, Limits, ModuleRequest, Watch, run_modules
from jitlint.dynamic.sites import complete_targets
from jitlint.dynamic.targets import Target, find_targets
from jitlint.dynamic.variants import Variants, collect_variants
from jitlint.findings import Finding, Severity, Span, Step
from jitlint.project.model import Module, Project

UNFORESEEN = ("JIT902", "unforeseen-error")
TOOL_CODES = ("JIT900", "JIT901", "JIT902")
MISSING = "there is no "
NOT_REACHED = "no call that was traced reaches this place"


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: ``allow`` are patterns of module names or paths that may be imported; empty allows all."""

    python: Path | None = None
    limits: Limits = DEFAULT_LIMITS
    allow: tuple[str, ...] = ()
    signatures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    call_sites: Mapping[tuple[str, int], Sequence[CallSite]] = field(default_factory=dict)
    """Calls that static analysis followed, by (path, row) of the function they call."""
    processes: int | None = None
    construct: bool = True
    """Whether constructors and functions that make functions may be called for what they make."""


@dataclass(frozen=True, slots=True)
class TargetOutcome:
    """What came of one jitted function: traced (in the import or by a planned call), or why not."""

    module: str
    qualname: str
    traced: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run of the dynamic mode came to."""

    verdicts: Mapping[Verdict, int]
    unresolved: Mapping[str, int]
    """Reasons of unresolved findings, with their number."""
    targets: tuple[TargetOutcome, ...]
    variants: tuple[Variants, ...]
    failures: Mapping[str, str]
    """Modules that could not be imported to their end, by shown name, with the reason."""
    jax: str = ""
    python: str = ""
    unforeseen: int = 0

    @property
    def traced(self) -> int:
        """How many jitted functions JAX has traced."""
        return sum(target.traced for target in self.targets)

    def to_json(self) -> dict[str, Any]:
        """As the JSON output carries it."""
        return {
            "jax": self.jax,
            "python": self.python,
            "verdicts": {verdict.value: count for verdict, count in self.verdicts.items()},
            "unresolved": dict(self.unresolved),
            "traced": self.traced,
            "jitted": len(self.targets),
            "failures": dict(self.failures),
            "variants": [variants_json(each) for each in self.variants],
        }


def variants_json(variants: Variants) -> dict[str, Any]:
    """The variants of one function as JSON data."""
    return {
        "function": variants.name,
        "filename": variants.path,
        "row": variants.row,
        "count": variants.total,
        "advice": list(variants.advice),
        "variants": [
            {
                "arguments": [{"name": a.name, "kind": a.kind, "type": a.text} for a in each.arguments],
                "equations": each.equations,
                "filename": each.path,
                "row": each.row,
                "count": each.count,
            }
            for each in variants.variants
        ],
    }


def confirm(findings: Sequence[Finding], project: Project, options: Options) -> tuple[tuple[Finding, ...], Summary]:
    """Put findings to the trial.

    The findings come back in their order, each with ``verdict``, ``verdict_reason`` and, for a confirmed error,
    ``raised`` among its properties; after them, one JIT902 for each error that JAX raised and none of them foresaw.
    ``findings`` have the places of module texts (``Module.text``). Nothing that the user's code does raises here.
    """
    trial = Trial(findings, project, options)
    runs = run_modules(trial.requests, options.python, options.limits, options.processes)
    evidence = Evidence(runs, trial.why_not(runs))
    verdicts = {case.id: judge(case, evidence) for case in trial.cases}
    annotated = [_annotated(finding, verdicts.get(case_id(index))) for index, finding in enumerate(findings)]
    unforeseen = tuple(trial.unforeseen(evidence))
    return (*annotated, *unforeseen), trial.summary(runs, list(verdicts.values()), len(unforeseen))


def case_id(index: int) -> str:
    """What the worker calls the finding at an index."""
    return f"f{index}"


def _annotated(finding: Finding, judgement: Judgement | None) -> Finding:
    if judgement is None:
        return finding
    properties: dict[str, object] = {
        **finding.properties,
        "verdict": judgement.verdict.value,
        "verdict_reason": judgement.reason,
    }
    if judgement.error is not None and judgement.verdict is Verdict.CONFIRMED:
        properties["raised"] = {"class": judgement.error.name, "message": judgement.error.message}
    return replace(finding, properties=properties)


class Trial:
    """The findings of one project, the modules to import for them, and what to trace there."""

    def __init__(
        self,
        findings: Sequence[Finding],
        project: Project,
        options: Options,
        overlay: Mapping[str, str] | None = None,
    ) -> None:
        self._options = options
        self._modules = {m.display: m for m in project.modules if m.text.strip()}
        self._by_path = {str(m.path): m for m in self._modules.values()}
        self._overlay = {str(m.path): text for name, text in (overlay or {}).items() if (m := self._modules.get(name))}
        self.cases = tuple(
            Case(case_id(i), finding, str(module.path), module.text, self._related(finding))
            for i, finding in enumerate(findings)
            if finding.code not in TOOL_CODES and (module := self._modules.get(finding.filename))
        )
        self._recipes = find_recipes(tuple(self._modules.values()))
        self.plans = {name: self._plan(module) for name, module in self._modules.items() if module.reported}
        self.refused: dict[str, str] = {}
        self.requests = tuple(self._request(module) for module in self._chosen())

    def _related(self, finding: Finding) -> tuple[tuple[str, int], ...]:
        return tuple((str(m.path), s.row) for s in finding.trace if (m := self._modules.get(s.filename)))

    # -- what to run

    def _plan(self, module: Module) -> tuple[Plan, ...]:
        leaks = any(case.finding.code == "JIT406" for case in self.cases)
        return tuple(
            plan_target(
                target,
                module.name,
                self._options.signatures,
                self._options.call_sites.get((str(module.path), target.row), ()),
                leaks=leaks,
                construct=self._options.construct,
                receivers=self._recipes.of(f"{module.name}.{target.owner}") if target.owner else None,
            )
            for target in self._targets(module)
        )

    def _targets(self, module: Module) -> tuple[Target, ...]:
        text = self._overlay.get(str(module.path), module.text)
        return complete_targets(find_targets(text), module, text, self._recipes)

    def _chosen(self) -> list[Module]:
        """Modules with findings, and modules that jit something, as far as they may be imported."""
        marked = {case.finding.filename for case in self.cases}
        out = []
        for name, module in self._modules.items():
            if not module.reported:
                continue
            if not (name in marked or self.plans[name] or (module.index.mentions_jax and "jit" in module.text)):
                continue
            if not self._allowed(module):
                self.refused[str(module.path)] = "importing it is not allowed (--dynamic-allow-import)"
                continue
            out.append(module)
        return out

    def _allowed(self, module: Module) -> bool:
        names = (module.name, module.display, module.path.name)
        patterns = self._options.allow
        return not patterns or any(fnmatch.fnmatch(name, pattern) for name in names for pattern in patterns)

    def _request(self, module: Module) -> ModuleRequest:
        roots = list(dict.fromkeys([import_root(module), *map(import_root, self._modules.values())]))
        path = str(module.path)
        return ModuleRequest(
            name=module_name(module),
            path=path,
            source=self._overlay.get(path, module.text),
            roots=tuple(str(root) for root in roots),
            jobs=tuple(job.encode() for plan in self.plans[module.display] for job in plan.jobs),
            watch=tuple(_watch(case) for case in self.cases) if not self._overlay else (),
            stale=tuple(
                place
                for case in self.cases
                if case.finding.code in STALE
                for place in ((case.path, case.finding.span.row), *case.related)
            ),
            overlay={other: text for other, text in self._overlay.items() if other != path},
        )

    # -- what came of it

    def why_not(self, runs: Sequence[ModuleRun]) -> Any:
        """A function from (path, row) to the reason why nothing was seen there."""
        by_path = {run.path: run for run in runs}

        def reason(path: str, row: int) -> str:
            if path in self.refused:
                return self.refused[path]
            run = by_path.get(path)
            if run is None:
                return NOT_REACHED
            if run.failure:
                return run.failure
            module = self._by_path[path]
            for plan in self.plans.get(module.display, ()):
                if plan.target.row <= row <= plan.target.last_row and (why := plan_failure(plan, run)):
                    return why
            return import_failure(run) or NOT_REACHED

        return reason

    def unforeseen(self, evidence: Evidence) -> Iterable[Finding]:
        """JIT902 for each uncaught error of JAX at a place that no finding of an error marks."""
        raising = [case for case in self.cases if case.finding.code in RAISES]
        seen: set[tuple[str, int]] = set()
        for raised in evidence.errors():
            place = raised.error.place
            if place is None or not counts(raised, evidence) or (place.path, place.row) in seen:
                continue
            seen.add((place.path, place.row))
            module = self._by_path.get(place.path)
            if module is None or not module.reported or any(case.at(place.path, place.row) for case in raising):
                continue
            yield self._finding(module, raised, place)

    def _finding(self, module: Module, raised: Raised, place: Place) -> Finding:
        code, name = UNFORESEEN
        rows = module.text.splitlines()
        row = rows[place.row - 1] if place.row <= len(rows) else ""
        span = Span(place.row, len(row) - len(row.lstrip()) + 1, place.row, len(row.rstrip()) + 1)
        steps = [self._step(frame) for frame in reversed(raised.error.frames[1:]) if frame.path in self._by_path]
        message = f"JAX raised {raised.error.name} here: {first_sentence(raised.error.message)}"
        found = {"class": raised.error.name, "message": raised.error.message}
        properties: dict[str, object] = {"verdict": Verdict.CONFIRMED.value, "raised": found}
        return Finding(
            code=code,
            name=name,
            message=message,
            filename=module.display,
            span=span,
            severity=Severity.ERROR,
            trace=tuple(steps),
            qualname="" if place.function.startswith("<") else place.function,
            properties=properties,
        )

    def _step(self, frame: Place) -> Step:
        return Step(self._by_path[frame.path].display, frame.row, f"called in {frame.function}")

    def summary(self, runs: Sequence[ModuleRun], judgements: Sequence[Judgement], unforeseen: int) -> Summary:
        """The figures of a run."""
        by_path = {run.path: run for run in runs}
        traced = {(t.path, t.row) for run in runs for t in run.traces if t.ok or by_itself(t.error, t.job)}
        targets = []
        failures: dict[str, str] = {}
        for name, plans in self.plans.items():
            module = self._modules[name]
            run = by_path.get(str(module.path))
            why = self.refused.get(str(module.path)) or (run.failure or import_failure(run) if run else "")
            if why:
                failures[name] = why
            for plan in plans:
                done = was_traced(plan, str(module.path), run, traced)
                reason = "" if done else self._target_reason(plan, run, why)
                targets.append(TargetOutcome(module.name, plan.target.qualname, done, reason))
        shown = {str(m.path): m.display for m in self._modules.values()}
        return Summary(
            verdicts=Counter(judgement.verdict for judgement in judgements),
            unresolved=Counter(j.reason for j in judgements if j.verdict is Verdict.UNRESOLVED),
            targets=tuple(targets),
            variants=tuple(_shown(each, shown) for each in collect_variants(runs)),
            failures=failures,
            jax=next((run.jax for run in runs if run.jax), ""),
            python=next((run.python for run in runs if run.python), ""),
            unforeseen=unforeseen,
        )

    @staticmethod
    def _target_reason(plan: Plan, run: ModuleRun | None, why: str) -> str:
        return (plan_failure(plan, run) if run is not None and not run.failure else "") or why or NOT_REACHED


def counts(raised: Raised, evidence: Evidence) -> bool:
    """Whether an error is the program's own: nobody caught it, JAX raised it, and no guess of ours brought it about."""
    if not raised.escaped or not raised.error.by_jax:
        return False
    source = (raised.job or "").partition(":")[2]
    if source.startswith("probe"):
        return False
    if source.startswith(("signature", "call")) or asks_for_a_value(raised.error):
        return True
    first = [run.problems[0] for run in evidence.runs if run.problems]
    return "UnexpectedTracerError" in raised.error.ancestry or any(raised is problem for problem in first)


def was_traced(plan: Plan, path: str, run: ModuleRun | None, traced: Collection[tuple[str, int]]) -> bool:
    """Whether a jitted function was traced: it itself, or what its jit call was given."""
    if (path, plan.target.row) in traced:
        return True
    if run is None or plan.target.site is None:
        return False
    first, last = plan.target.site
    given = [
        function for function, places in run.sites.items() for p, row in places if p == path and first <= row <= last
    ]
    ended = [run.jobs[job.id].outcome for job in plan.jobs if job.id in run.jobs]
    return any(function in traced for function in given) or any(outcome in ("ok", "leak") for outcome in ended)


def by_itself(error: str | None, job: str | None) -> bool:
    """Whether an exception of this class is the program's own doing: not that of guessed arguments, unless JAX asked
    for a concrete value, which it would have done with any."""
    return error is not None and (not is_guess(job) or error in CONCRETIZATION)


def plan_failure(plan: Plan, run: ModuleRun) -> str:
    """Why no planned call of a function came to be traced; "" if one did."""
    results = [run.jobs[job.id] for job in plan.jobs if job.id in run.jobs]
    names = [(result.error.name if result.error is not None else None, result.id) for result in results]
    if any(r.outcome in ("ok", "leak") for r in results) or any(by_itself(*each) for each in names):
        return ""
    reasons = Counter(result.reason for result in results if result.reason)
    # What most attempts failed for: an array of no dimensions is often refused before anything else is.
    reason = reasons.most_common(1)[0][0] if reasons else plan.reason
    if not reason and names:
        reason = f"with the arguments that were guessed for it, it raised {names[0][0]}"
    # What an import that failed has not defined is missing because of that.
    return (import_failure(run) or reason) if reason.startswith(MISSING) else reason


def import_failure(run: ModuleRun) -> str:
    """Why the import of a module did not get to its end; "" if it did."""
    if run.late:
        # Row 0 is the import of the packages around it.
        what = (
            f"the import was stopped in line {run.late[0]}" if run.late[0] else "the import of its package was stopped"
        )
        return f"{what} because its time was over"
    if run.problems:
        first = run.problems[0]
        detail = first.error.message
        where = f" (line {first.statement})" if first.statement else " (in its package)"
        if first.error.name == "SystemExit":
            return f"the module exits while it is imported{where}"
        return f"importing it raised {first.error.name}{f': {first_sentence(detail)}' if detail else ''}{where}"
    return ""


def import_root(module: Module) -> Path:
    """The folder from which ``import module.name`` finds this module."""
    parts = module.name.split(".")
    file = module.path.parent if module.is_package else module.path.with_suffix("")
    if list(file.parts[-len(parts) :]) == parts:
        return Path(*file.parts[: -len(parts)])
    return module.path.parent


def module_name(module: Module) -> str:
    """The dotted name a module is imported under: its own, or its file's where the project had to call it otherwise."""
    file = module.path.parent if module.is_package else module.path.with_suffix("")
    parts = module.name.split(".")
    return module.name if list(file.parts[-len(parts) :]) == parts else file.name


def first_sentence(text: str) -> str:
    """The first sentence of a message, without what follows a colon-free full stop."""
    head, stop, _ = text.partition(". ")
    return head if stop else text.rstrip(".")


def _watch(case: Case) -> Watch:
    span = case.finding.span
    rows = case.text.splitlines() or [""]

    def in_bytes(row: int, column: int) -> int:
        line = rows[row - 1] if 0 < row <= len(rows) else ""
        return len(line[: column - 1].encode())

    start, end = in_bytes(span.row, span.column), in_bytes(span.end_row, span.end_column)
    return Watch(case.id, case.path, span.row, start, span.end_row, end)


def _shown(variants: Variants, shown: Mapping[str, str]) -> Variants:
    """With the names of files as users see them."""
    inner = tuple(replace(each, path=shown.get(each.path, each.path)) for each in variants.variants)
    return replace(variants, path=shown.get(variants.path, variants.path), variants=inner)
