"""The loop of ``--fix``: apply what can be applied, look again, until nothing is left to repair.

Nothing is written while it runs: later passes see the earlier ones as texts that stand in for files. So a difference
can be shown without writing, and a file is written once, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jitlint.check import Analysis
from jitlint.findings import Finding, Fix
from jitlint.fix.apply import OVERLAPS, Skipped, applicable, apply_fixes
from jitlint.fix.files import write_atomic
from jitlint.project.index import Unparsable
from jitlint.project.sources import read_source

MAX_PASSES = 10


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair came to: the new texts by filename, what was fixed, what was not and why, and what remains."""

    texts: dict[str, str]
    """Module texts, for a notebook that of all its cells; :func:`documents` gives what stands in the files."""
    fixed: tuple[Finding, ...]
    """As users see them, with places from before the pass that fixed them."""
    skipped: tuple[Skipped, ...]
    before: Analysis
    after: Analysis
    converged: bool = True
    """False if after the last pass there was still something to repair: a fault of a rule."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file to rewrite: where it is, what it holds now and what it is to hold, and in which encoding."""

    name: str
    path: Path
    old: str
    new: str
    encoding: str


Refuse = Callable[[Sequence[Finding], Analysis, Mapping[str, str]], Sequence[Skipped]]


def repair(
    check: Callable[[Mapping[str, str]], Analysis], *, unsafe: bool = False, refuse: Refuse | None = None
) -> Repair:
    """Repair in memory what ``check`` reports.

    ``check`` analyses the program with some texts (by filename) in place of the files. Only files that it checked are
    changed: a fix that would reach into another is skipped. ``refuse`` is asked about the fixes of a pass, with the
    texts that they make together, and says which of them must not stay.
    """
    texts: dict[str, str] = {}
    fixed: list[Finding] = []
    before = analysis = check(texts)
    skipped: tuple[Skipped, ...] = ()
    for _ in range(MAX_PASSES):
        candidates, outside = _within(analysis, unsafe)
        applied = apply_fixes(candidates, analysis.text, unsafe=unsafe)
        refused = refuse(applied.fixed, analysis, applied.texts) if refuse is not None and applied.texts else ()
        if refused:
            bad = {skip.finding.sort_key for skip in refused}
            candidates = [finding for finding in candidates if finding.sort_key not in bad]
            applied = apply_fixes(candidates, analysis.text, unsafe=unsafe)
        skipped = (*outside, *refused, *(skip for skip in applied.skipped if skip.reason != OVERLAPS))
        if not applied.texts:
            return Repair(texts, tuple(fixed), skipped, before, analysis)
        texts = {**texts, **applied.texts}
        fixed += analysis.located(applied.fixed)
        analysis = check(texts)
    return Repair(texts, tuple(fixed), skipped, before, analysis, converged=not _within(analysis, unsafe)[0])


def documents(texts: Mapping[str, str], before: Analysis) -> list[Document]:
    """What to write for new module texts of files that ``before`` read: in order, without what stays as it is."""
    made = []
    for name, text in sorted(texts.items()):
        module = before.by_name[name]
        if module.notebook is None:
            document = Document(name, module.path, module.text, text, module.encoding)
        else:
            notebook = module.notebook
            document = Document(name, module.path, notebook.document, notebook.rewritten(text), module.encoding)
        if document.new != document.old:
            made.append(document)
    return made


def write(document: Document) -> str | None:
    """Write a document; the reason if it was not, and then the file is as it was."""
    try:
        if read_source(document.path).text != document.old:
            return "it has changed since it was read"
        write_atomic(document.path, document.new, document.encoding)
    except Unparsable as fault:
        return fault.message
    except OSError as error:
        return error.strerror or str(error)
    except UnicodeEncodeError:
        return f"the repair needs characters that {document.encoding} lacks"
    return None


def _can(finding: Finding, unsafe: bool) -> bool:
    return applicable(finding.fix, unsafe=unsafe)


def _within(analysis: Analysis, unsafe: bool) -> tuple[list[Finding], list[Skipped]]:
    """The findings whose fix stays within the checked files, and the others."""
    inside, outside = [], []
    for finding in analysis.findings:
        if finding.fix is None or not _can(finding, unsafe):
            continue
        foreign = sorted(_files(finding.fix) - analysis.files)
        if foreign:
            outside.append(Skipped(finding, f"the fix changes {foreign[0]}, which was not checked"))
        else:
            inside.append(finding)
    return inside, outside


def _files(fix: Fix) -> set[str]:
    return {edit.filename for edit in fix.edits} | {new.filename for new in fix.imports}
