"""What the engine believes of a function: each parameter, assignment, call and test, with the reason for tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.findings import Span
from jitlint.semantics import driver
from jitlint.semantics.interp import Interpreter
from jitlint.semantics.running import Frame
from jitlint.semantics.source import Unit
from jitlint.semantics.values import Array, Tree, Value, describe, join, traced_leaf

if TYPE_CHECKING:
    from jitlint.knowledge import Knowledge
    from jitlint.project.model import Module, Project

_SHOWN = (cst.Param, cst.Name, cst.Call, cst.Comparison, cst.UnaryOperation, cst.BooleanOperation)


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of one piece of a function: its place, its text, the value in a few words, and why."""

    span: Span
    text: str
    value: str
    why: str


@dataclass(slots=True)
class Watcher:
    """Looks over the shoulder of an interpreter (as its ``watch``) and remembers what expressions are worth."""

    asked: Callable[[Frame], bool]
    """Whether what runs in this frame is of interest."""
    seen: dict[cst.CSTNode, tuple[Unit, Value]] = field(default_factory=dict)

    def note(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Remember what a node was worth, joined over all visits."""
        if not isinstance(node, _SHOWN) or not self.asked(frame):
            return
        before = self.seen.get(node)
        self.seen[node] = (frame.unit, value if before is None else join(before[1], value))

    def beliefs(self, *, reads: bool) -> list[Belief]:
        """What was seen, sorted by place; ``reads`` says whether names that are only read are wanted."""
        found = {
            Belief(unit.span(node), _text(unit, node), describe(value), _why(value))
            for node, (unit, value) in self.seen.items()
            if reads or not isinstance(node, cst.Name) or _is_target(unit, node)
        }
        return sorted(found, key=lambda belief: (belief.span, belief.text))


def explain(
    project: Project, knowledge: Knowledge, module: Module, *, function: str | None = None, row: int | None = None
) -> list[Belief]:
    """What the analysis believes of ``function`` (a name, dotted for methods), or of the line ``row``.

    Sorted by place; empty when there is no such function, or nothing in the program runs it.
    """

    def asked(frame: Frame) -> bool:
        if frame.unit.module is not module:
            return False
        if function is not None:
            return frame.qualname == function or frame.qualname.endswith(f".{function}")
        statement = frame.unit.statement
        return row is not None and statement.first_row <= row <= statement.last_row

    interp = Interpreter(project, knowledge)
    watcher = Watcher(asked)
    interp.watch = watcher.note
    driver.run(interp, project)
    beliefs = watcher.beliefs(reads=row is not None)
    if row is not None:
        beliefs = [b for b in beliefs if b.span.row <= row <= b.span.end_row]
    return beliefs


def _is_target(unit: Unit, node: cst.Name) -> bool:
    """Is a name bound here? Reads of names say nothing that their binding did not."""
    return node in unit.targets


def _text(unit: Unit, node: cst.CSTNode) -> str:
    text = node.name.value if isinstance(node, cst.Param) else " ".join(unit.code(node).split())
    return text if len(text) <= 48 else text[:47] + "…"


def _why(value: Value) -> str:
    leaf = traced_leaf(value)
    if not isinstance(leaf, Array | Tree) or leaf.origin is None:
        return ""
    return "; ".join(_steps(leaf))


def _steps(leaf: Array | Tree) -> Iterator[str]:
    assert leaf.origin is not None
    for step in leaf.origin.chain():
        span = step.unit.span(step.node)
        yield f"{step.what} ({step.unit.module.display}:{span.row})"
