"""``--fix --dynamic``: a fix stays only if its function still traces with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jitlint.dynamic.confirm import Options, Trial, counts, first_sentence, import_failure
from jitlint.dynamic.judge import Evidence, asks_for_a_value
from jitlint.dynamic.protocol import Error, ModuleRun
from jitlint.dynamic.run import run_modules
from jitlint.findings import Finding
from jitlint.project.model import Project


@dataclass(frozen=True, slots=True)
class Rollback:
    """A fix that must not stay: the finding it was for, and why."""

    finding: Finding
    reason: str


def still_traces(
    fixed: Sequence[Finding], project: Project, after: Mapping[str, str], options: Options
) -> tuple[Rollback, ...]:
    """Which of the fixes to take back, given the texts that all of them together make (by shown filename).

    ``project`` has the texts before, and ``options.call_sites`` belong to them. A fix fails if its function raises an
    error of JAX with it, or if a module that it changes no longer imports although it did. Where nothing can be run,
    it stays.
    """
    before_runs = _run(fixed, project, {}, options)
    after_runs = _run(fixed, project, after, replace(options, call_sites={}))
    paths = {module.display: str(module.path) for module in project.modules}
    out = []
    for finding in fixed:
        reason = _fails(finding, {paths[name] for name in _files(finding) if name in paths}, before_runs, after_runs)
        if reason:
            out.append(Rollback(finding, reason))
    return tuple(out)


def _files(finding: Finding) -> set[str]:
    edits = finding.fix.edits if finding.fix else ()
    return {finding.filename, *(edit.filename for edit in edits)}


def _run(
    fixed: Sequence[Finding], project: Project, texts: Mapping[str, str], options: Options
) -> dict[str, ModuleRun]:
    trial = Trial(fixed, project, options, overlay=texts)
    return {run.path: run for run in run_modules(trial.requests, options.python, options.limits, options.processes)}


def _fails(finding: Finding, paths: set[str], before: Mapping[str, ModuleRun], after: Mapping[str, ModuleRun]) -> str:
    function = finding.qualname.rpartition(".")[2]
    evidence = Evidence(list(after.values()), lambda path, row: "")
    for raised in evidence.errors():
        error = raised.error
        # A name that is missing is the fix's doing whatever the arguments are.
        ours = counts(raised, evidence) or asks_for_a_value(error) or "NameError" in error.ancestry
        if raised.escaped and ours and _concerns(error, paths, function):
            who = "JAX" if error.by_jax else "Python"
            return f"with the fix, {who} raised {error.name}: {first_sentence(error.message)}"
    for path in sorted(paths & set(after) & set(before)):
        worked = not before[path].failure and not import_failure(before[path])
        why = after[path].failure or import_failure(after[path])
        if worked and why:
            return f"with the fix, {why}"
    return ""


def _concerns(error: Error, paths: set[str], function: str) -> bool:
    """Whether an error of JAX went through the function that was repaired."""
    return bool(function) and any(f.path in paths and f.function == function for f in error.frames)
