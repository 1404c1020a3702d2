"""Classes of libraries whose behaviour the library data gives as Python code: they are run as classes of the project are.

What happens in such code is nobody's fault and is never reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jitlint.project.index import index_source
from jitlint.project.model import Module
from jitlint.semantics.values import LibV, Value

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

PLACE = "<library>"
"""Where such code stands, for what shows paths."""


def named(interp: Interpreter, dotted: str) -> Value:
    """What a name of a library stands for: the class that its data describes by code, else the name itself."""
    name = interp.knowledge.canonical(dotted)
    model = interp.knowledge.class_(name)
    if model is None or model.source is None:
        return LibV(name)
    where, _, cls = model.name.rpartition(".")
    path = Path(__file__).parent / PLACE / f"{model.name}.py"
    module = Module(where, path, PLACE, model.source, False, index_source(model.source), reported=False)
    return interp.module(module).env.slots.get(cls, LibV(name))
