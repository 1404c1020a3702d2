"""What the analysis knows of a value, in words: for tests of the engine and for questions about it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import libcst as cst

from jitlint.knowledge import load
from jitlint.project.config import Config
from jitlint.project.modules import load_project
from jitlint.semantics import roots
from jitlint.semantics.interp import Interpreter
from jitlint.semantics.running import Frame
from jitlint.semantics.values import Value, describe, join


def revealed(text: str) -> dict[int, str]:
    """What is known of the argument of each ``reveal(...)`` in a module's text, by row.

    A call that runs more than once (in a loop, in several calls of its function, in both arms of a branch) gives the
    join of what it was given. A row that is never reached is left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "revealed.py"
        path.write_text(text, encoding="utf-8")
        project = load_project([path], Config())
        interp = Interpreter(project, load())
        reader = _Reader(interp)
        interp.watch = reader.note
        for module in project.modules:
            interp.module(module)
        roots.run_uncalled(interp)
    return {row: reader.words[row] for row in sorted(reader.words)}


class _Reader:
    """Watches the interpreter for calls of ``reveal``."""

    def __init__(self, interp: Interpreter) -> None:
        self.words: dict[int, str] = {}
        self._values: dict[int, Value] = {}
        self._interp = interp
        self._last: dict[int, Value] = {}
        """What each expression gave when it ran last."""

    def note(self, frame: Frame, node: cst.CSTNode, value: Value) -> None:
        """Called with each expression after it ran; the argument of a call ran just before the call."""
        match node:
            case cst.Call(func=cst.Name("reveal"), args=[cst.Arg(value=argument)]):
                row = frame.unit.span(node).row
                given = self._last[id(argument)]
                words = describe(given)  # now: what is in a list changes later
                if row in self._values and words != self.words[row]:
                    given = join(self._values[row], given)
                    words = describe(given)
                self.words[row], self._values[row] = words, given
            case _:
                self._last[id(node)] = value
