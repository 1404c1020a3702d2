"""Private functions that are called nowhere but in code that constants of the module shut off.

``if JAX_MODE: return …`` before the rest of a function, ``if NUMPY_MODE:`` around it: what only that code calls is never
run, whatever callers of the function give.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.semantics import calls
from jitlint.semantics.source import descendants
from jitlint.semantics.values import Const

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.values import Func


def note(interp: Interpreter, branch: cst.If, holds: bool, falls: bool) -> None:
    """Remember the code that is never run where a branch is decided by a constant of the module; ``falls`` where
    control goes on behind what is run of it."""
    func, name = interp.frame.func, branch.test
    if func is None or type(name) is not cst.Name or name.value in interp.frame.env.slots:
        return
    if not isinstance(interp.frame.module.env.slots.get(name.value), Const):
        return
    shut: list[cst.CSTNode] = [branch.body] if not holds else [] if branch.orelse is None else [branch.orelse]
    if not falls and isinstance(func.lazy, cst.FunctionDef):
        body = func.lazy.body.body
        at = next((i for i, statement in enumerate(body) if statement is branch), len(body))
        shut += body[at + 1 :]
    interp.shut_off.setdefault(id(interp.frame.module), {})[id(branch)] = shut


def is_unreachable(interp: Interpreter, func: Func) -> bool:
    """Is a private function of a module named in code only that is never run?"""
    if func.owner is not None or func.frame is not None or not func.name.startswith("_") or func.name.startswith("__"):
        return False
    module = calls.module_of(interp, func)
    shut = interp.shut_off.get(id(module))
    if not shut or any(m.env.slots.get(func.name) is func for m in interp.modules.values() if m is not module):
        return False
    dead = {
        id(name)
        for part in itertools.chain(*shut.values())
        for name in descendants(part, cst.Name)
        if name.value == func.name
    }
    word = re.compile(rf"\b{func.name}\b")
    named = sum(len(word.findall(statement.text)) for statement in module.module.index.statements)
    return 0 < len(dead) == named - 1  # once by itself
