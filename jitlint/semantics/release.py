"""Freeing what an analysis has made, for a process that has others to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitlint.semantics.source import forget_trees

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter


def release(interp: Interpreter) -> None:
    """Let go of an analysis that is done; nothing can be asked of the interpreter afterwards.

    A scope holds the functions that are made in it, and they hold the scope: where such circles are broken, all is freed
    with the last reference to it. The cyclic garbage collector would look through all of it first, which takes several
    times as long.
    """
    for box, _ in interp.written.values():
        box.slots.clear()
    for module in interp.modules.values():
        module.env.slots.clear()
    for func in interp.functions:
        func.env.slots.clear()
        func.frame = None
    for cls in interp.classes:
        cls.take_apart()
    for entry in interp.entries:
        entry.frame = entry.target = None
        for held in (entry.calls, entry.roots, entry.reads, entry.results, entry.returned, entry.cache):
            held.clear()
    vars(interp).clear()
    forget_trees()
