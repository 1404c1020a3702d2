"""The binding-time analysis: abstract values, the interpreter over libcst, and the events that rules are called on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitlint.api import Rule
    from jitlint.findings import Finding
    from jitlint.knowledge import Knowledge
    from jitlint.project.config import Config
    from jitlint.project.model import JaxTarget, Project
    from jitlint.semantics.driver import Analysis
    from jitlint.semantics.forecast import Forecast
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.observed import Observations


def estimates(project: Project, config: Config, observed: Observations | None = None) -> list[Forecast]:
    """How many programs every jitted function of the modules that are reported on is compiled for, as far as seen.
    ``observed`` is what a recorded run passed to jitted functions."""
    from jitlint.semantics import forecast

    return forecast.of(run(project, config, (), observed))


def analyse(
    project: Project, config: Config, rules: Sequence[Rule], observed: Observations | None = None
) -> Sequence[Finding]:
    """The findings of these rules in the modules of a project that are reported on: unsorted, nothing suppressed.
    ``observed`` is what a recorded run passed to jitted functions."""
    return run(project, config, rules, observed).findings


def run(
    project: Project,
    config: Config,
    rules: Sequence[Rule],
    observed: Observations | None = None,
    prepare: Callable[[Interpreter], None] | None = None,
    target: JaxTarget | None = None,
) -> Analysis:
    """As :func:`analyse`, with the interpreter for who asks further. ``prepare`` is given it before it runs. ``target``
    is the JAX to write fixes for; without it, what the project says."""
    from jitlint.knowledge import load
    from jitlint.project.model import Limits
    from jitlint.project.target import project_target
    from jitlint.semantics import driver

    knowledge = load([Path(p) for p in config.extra_models]) if config.extra_models else _built_in()
    target = target or project_target(project.modules, config)
    limits = Limits(config.unroll_threshold, config.captured_constant_bytes, config.max_variants)
    assumed = frozenset(config.assume_jitted)
    return driver.analyse(project, knowledge, rules, target, assumed, observed, prepare, limits)


@cache
def _built_in() -> Knowledge:
    """What is known without files of the user: read once, as it never changes."""
    from jitlint.knowledge import load

    return load()
