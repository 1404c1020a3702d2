"""``--dynamic``: findings are put to JAX before they are shown, repairs before they are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from jitlint.check import Analysis
from jitlint.cli.options import Options
from jitlint.dynamic import confirm
from jitlint.dynamic.call_sites import find_call_sites
from jitlint.dynamic.judge import Verdict
from jitlint.dynamic.rollback import still_traces
from jitlint.dynamic.run import Limits
from jitlint.dynamic.variants import Variants
from jitlint.findings import Finding
from jitlint.fix.apply import Skipped
from jitlint.project.config import Config


class Trial:
    """How findings and repairs are tried, as options and configuration say."""

    def __init__(self, options: Options, config: Config) -> None:
        if not config.dynamic.allow_import:
            raise click.UsageError("--dynamic imports your modules, which dynamic.allow-import = false forbids")
        self._config = config
        # What the configuration names is meant from its folder; a bare name is looked up as a command.
        configured = config.dynamic.python
        if configured is not None and len(Path(configured).parts) > 1:
            configured = str(config.root / configured)
        python = options.python or configured
        self._summary = confirm.Summary({}, {}, (), (), {})
        self._options = confirm.Options(
            python=None if python is None else Path(python),
            limits=Limits(seconds=options.timeout or config.dynamic.timeout),
            allow=options.dynamic_allow_import,
            signatures=config.dynamic.signatures,
            construct=config.dynamic.construct,
        )

    def judged(self, analysis: Analysis) -> Analysis:
        """The analysis with a verdict in each finding, and with what JAX raised unforeseen."""
        options = replace(self._options, call_sites=find_call_sites(analysis.project, self._config))
        findings, self._summary = confirm.confirm(analysis.findings, analysis.project, options)
        wanted = [finding for finding in findings if finding.code in analysis.codes]
        return replace(analysis, findings=tuple(sorted(wanted, key=lambda finding: finding.sort_key)))

    def refuse(self, fixed: Sequence[Finding], analysis: Analysis, texts: Mapping[str, str]) -> list[Skipped]:
        """The repairs that JAX does not accept."""
        bad = still_traces(fixed, analysis.project, texts, self._options)
        return [Skipped(each.finding, each.reason) for each in bad]

    def figures(self) -> str:
        """What came of the trial, in a line."""
        counts = [
            f"{self._summary.verdicts.get(verdict, 0)} {word}"
            for verdict, word in (
                (Verdict.CONFIRMED, "confirmed"),
                (Verdict.REFUTED, "refuted and left out"),
                (Verdict.UNRESOLVED, "unresolved"),
            )
        ]
        reasons = Counter(self._summary.failures.values()).most_common(1)
        missing = f"JAX (not found: {reasons[0][0]})" if reasons else "JAX (not found)"
        where = f"JAX {self._summary.jax}" if self._summary.jax else missing
        traced = f"traced {self._summary.traced} of {len(self._summary.targets)} jitted functions"
        return f"{where} {traced}; findings: {', '.join(counts)}; unforeseen errors: {self._summary.unforeseen}."

    def reasons(self) -> list[str]:
        """Why findings are unresolved and modules could not be imported, a line each."""
        unresolved = [f"unresolved ({count}): {reason}" for reason, count in sorted(self._summary.unresolved.items())]
        failures = [f"{name}: {reason}" for name, reason in sorted(self._summary.failures.items())]
        functions = [
            f"not traced: {target.module}.{target.qualname}: {target.reason}"
            for target in self._summary.targets
            if not target.traced
        ]
        return [*unresolved, *failures, *functions]

    @property
    def variants(self) -> tuple[Variants, ...]:
        """What each jitted function was compiled for."""
        return self._summary.variants
