"""The binding-time analysis: abstract values, the interpreter over libcst, and the events that rules are called on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitlint.api import Rule
    from jitlint.findings import Finding
    from jitlint.project.config import Config
    from jitlint.project.model import Project
    from jitlint.semantics.driver import Analysis
    from jitlint.semantics.forecast import Forecast
    from jitlint.semantics.observed import Observations


def estimates(project: Project, config: Config, observed: Observations | None = None) -> list[Forecast]:
    """How many programs every jitted function of the modules that are reported on is compiled for, as far as seen.
    ``observed`` is what a recorded run passed to jitted functions."""
    from jitlint.semantics import forecast

    return forecast.of(_run(project, config, (), observed))


def analyse(
    project: Project, config: Config, rules: Sequence[Rule], observed: Observations | None = None
) -> Sequence[Finding]:
    """The findings of these rules in the modules of a project that are reported on: unsorted, nothing suppressed.
    ``observed`` is what a recorded run passed to jitted functions."""
    return _run(project, config, rules, observed).findings


def _run(project: Project, config: Config, rules: Sequence[Rule], observed: Observations | None = None) -> Analysis:
    from jitlint.knowledge import load
    from jitlint.project.target import jax_target
    from jitlint.semantics import driver

    knowledge = load([Path(p) for p in config.extra_models])
    root = next((m.path.parent for m in project.modules), Path())
    while not (root / "pyproject.toml").exists() and not (root / ".git").exists() and root != root.parent:
        root = root.parent
    return driver.analyse(
        project, knowledge, rules, jax_target(config, root), frozenset(config.assume_jitted), observed
    )
