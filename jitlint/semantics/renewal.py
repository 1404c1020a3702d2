"""Writes of attributes after which the program jits anew, or before which nothing can have been traced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import libcst as cst

from jitlint.semantics.entry import Entry
from jitlint.semantics.source import descendants, filling, unsets
from jitlint.semantics.state import Read, Running, Write
from jitlint.semantics.values import NONE, ClassV, Func, Jitted, Obj, Unknown, members

Log = dict[tuple[int, Any], list[Write]]
"""The writes of each slot, by (id of box, key)."""
_NAMED = (cst.Name, cst.Attribute)
_CLEARING = {"clear_cache", "clear_caches"}


def renewed(entry: Entry, write: Write, box: Obj, entries: Iterable[Entry], writes_of: Log) -> bool:
    """Is the function jitted anew after the write of an attribute of ``box``: since what jits it makes the write first,
    or what makes the write jits it afterwards, or throws away what is kept?"""
    maker = entry.frame.func
    if maker is not None:
        jit = entry.frame.running(entry.node)[0]
        for step in write.under:
            if step.function is maker.lazy:
                first = write.time < entry.time if step.frame == jit.frame else _stands_above(step, jit)
                return first and _together((jit,), step)
    own = tuple(_own(write))
    for other in entries:
        if other.node is entry.node and other.time > write.time:
            steps = other.frame.running(other.node)
            for at, step in enumerate(steps):
                mine = next((mine for mine in own if mine.frame == step.frame), None)
                if mine is not None and _together(steps[: at + 1], mine):
                    return True
    frames = {mine.frame for mine in own}
    return _throws_away(entry, write, box) or any(
        other.before is not None
        and any(isinstance(m, Jitted) and m.entry.node is entry.node for m in members(other.before))
        and any(step.frame in frames for step in other.under)
        for key in box.slots
        for other in writes_of.get((id(box), key), ())
    )


def made_once(entry: Entry) -> bool:
    """Is it jitted under a test that this has not been done yet, and kept for the calls after it?"""
    steps = entry.frame.running(entry.node)[:1]
    return entry.kept == "attribute" and any(filling(step.unit, step.function, step.at) for step in steps)


def fills(write: Write, writes: Iterable[Write], box: object, key: object) -> bool:
    """Does the write give its first value to a slot that was None before?"""
    if any(other.node is write.node and other.before is not None and NONE in members(other.before) for other in writes):
        return True
    unknown = write.before is None or isinstance(write.before, Unknown)
    return unknown and isinstance(box, Obj) and _begins_as_none(box, str(key))


def sets_up(entry: Entry, read: Read, write: Write, writes_of: Log) -> bool:
    """Does the function that makes the write also fill in what was None and is read by the same traced code? Then it
    has to run before."""
    if not write.under:
        return False
    setter = write.under[0].function
    for other in entry.reads.values():
        if other.box is read.box and other.key != read.key:
            writes = [w for w in writes_of.get((id(other.box), other.key), ()) if w.function != "__init__"]
            alone = all(w.under and w.under[0].function is setter for w in writes)
            if alone and any(fills(w, writes, other.box, other.key) for w in writes):
                return True
    return False


def _stands_above(step: Running, jit: Running) -> bool:
    here, there = step.unit.span(step.at), jit.unit.span(jit.at)
    return (here.row, here.column) < (there.row, there.column)


def _together(path: tuple[Running, ...], write: Running) -> bool:
    """Is the end of a path of calls reached whenever the write is made, which its first function makes or calls? Not so
    under a test that something is still missing, unless the write is under it too."""
    around = filling(write.unit, write.function, write.at)
    tests = [test for step in path for test in filling(step.unit, step.function, step.at)]
    return all(any(test is other for other in around) for test in tests)


def _own(write: Write) -> Iterator[Running]:
    """The function that makes the write and, where it is private, those that call it."""
    for step in write.under:
        yield step
        if not (isinstance(step.function, cst.FunctionDef) and step.function.name.value.startswith("_")):
            return


def _throws_away(entry: Entry, write: Write, box: Obj) -> bool:
    """Does the function that makes the write, or a method that it calls, clear a cache of jax, or the attributes in
    which compiled functions are kept?"""
    if not write.under:
        return False
    function = write.under[0].function
    called = [call.func for call in descendants(function, cst.Call)]
    if any((c.attr if isinstance(c, cst.Attribute) else c).value in _CLEARING for c in called if isinstance(c, _NAMED)):
        return True
    own = [c.attr.value for c in called if isinstance(c, cst.Attribute) and _is_self(c.value)]
    methods = [box.cls.lookup(name) for name in own] if isinstance(box.cls, ClassV) else []
    bodies = [function, *(method.lazy for method in methods if isinstance(method, Func))]
    return entry.kept == "attribute" and any(unsets(body, write.node) for body in bodies)


def _is_self(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "self"


def _begins_as_none(box: Obj, key: str) -> bool:
    """Is that attribute None in the body of the class, or set to None by its constructor?"""
    if not isinstance(box.cls, ClassV):
        return False
    init = box.cls.lookup("__init__")
    if not isinstance(init, Func):
        return box.cls.lookup(key) == NONE
    return box.cls.lookup(key) == NONE or any(
        isinstance(target.target, cst.Attribute)
        and target.target.attr.value == key
        and isinstance(assign.value, cst.Name)
        and assign.value.value == "None"
        for assign in descendants(init.lazy, cst.Assign)
        for target in assign.targets
    )
