"""Stale reads: what traced code read, and the program changed afterwards, where JAX does not look again.

Runs after the program. Every entry remembers the first read of each outer slot under each signature it was traced
with, and the interpreter remembers every write. A read is stale when the slot is written after it and before a later
call with the same signature, which JAX answers from its cache. Functions that nobody in the project calls may run in
any order, and again: a write in one of them makes a read possibly stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.bare import root_name
from jitlint.semantics.entry import Call, Entry
from jitlint.semantics.events import Bucket, StaleRead
from jitlint.semantics.lifetime import is_thread_local
from jitlint.semantics.renewal import fills, made_once, renewed, sets_up
from jitlint.semantics.source import descendants, filling, fills_once
from jitlint.semantics.state import Box, Read, Write
from jitlint.semantics.values import (
    NONE,
    Bound,
    ClassV,
    Const,
    DictV,
    Env,
    Func,
    Host,
    Jitted,
    ListV,
    Obj,
    Partial,
    SetV,
    Tup,
    Value,
    Wrapped,
    members,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

_SETUP = {"__init__", "__post_init__", "__new__", "__setstate__", "__set_name__", "setup", "__init_subclass__"}
"""Methods that run once, before anything else."""
DEPTH = 3
"""How deep containers are followed."""


def emit_stale_reads(interp: Interpreter) -> None:
    """Record a :class:`StaleRead` for each read that is, or may be, stale."""
    for group in _groups(interp):
        calls = sorted((c for e in group for c in e.calls), key=lambda c: c.time)
        cleared = [time for e in group for time in e.cleared]
        for entry in group:
            for read in list(entry.reads.values()):
                end = min((time for time in cleared if time > read.time), default=None)
                before = (c for c in calls if c.time < read.time) if entry.statics or entry.opaque else ()
                traced = max(before, key=lambda c: c.time, default=None)
                answered = [c for c in calls if (end is None or c.time < end) and not _asks_for_other(entry, c, traced)]
                found = _change(interp, entry, read, answered)
                if found is not None:
                    write, kind, certain = found
                    _emit(interp, entry, read, write, kind, certain)


def _groups(interp: Interpreter) -> list[list[Entry]]:
    """Entries that share one cache: JAX keys it on the function and the options, not on what ``jit`` returned."""
    groups: dict[Any, list[Entry]] = {}
    held = (v for mod in interp.modules.values() for v in mod.env.slots.values())
    alive = {id(v.entry) for v in held if isinstance(v, Jitted)}
    ended = _ended(interp)
    closed = []
    for entry in interp.entries:
        key = _cache_key(entry, alive)
        group = groups.setdefault(key, [])
        began = min((call.time for call in entry.calls), default=entry.time)
        if group and isinstance(entry.func, Bound) and all(ended.get(id(e), began) < began for e in group):
            closed.append(group)
            group = groups[key] = []
        group.append(entry)
    return [*closed, *groups.values()]


def _ended(interp: Interpreter) -> dict[int, int]:
    """For jitted functions that every attribute and global that held them has lost: when."""
    held: dict[int, set[Any]] = {}
    lost: dict[int, dict[Any, int]] = {}
    for slot, writes in interp.writes.items():
        box, _ = interp.written[slot[0]]
        if isinstance(box, Env) and box.parent is not None:
            continue
        for write in writes:
            if isinstance(write.value, Jitted):
                held.setdefault(id(write.value.entry), set()).add(slot)
            if isinstance(write.before, Jitted) and write.certain and not write.before.entry.held:
                lost.setdefault(id(write.before.entry), {})[slot] = write.time
    return {entry: max(times.values()) for entry, times in lost.items() if times.keys() >= held.get(entry, set())}


def _cache_key(entry: Entry, alive: set[int]) -> Any:
    func = entry.func
    options = (entry.static_nums, entry.static_names)
    if isinstance(func, Bound) and (entry.kept or id(entry) in alive):
        # two bound methods of one object share the cache as long as the first jitted one is alive
        return (id(func.func), id(func.self), options)
    return (id(func), options)


def _change(interp: Interpreter, entry: Entry, read: Read, calls: list[Call]) -> tuple[Write, str, bool] | None:
    """The write that makes a read stale, what kind of read it is, and whether that is certain."""
    if is_thread_local(read.box):
        return None
    for box, key in _slots(entry, read):
        writes = [
            w
            for w in interp.writes.get((id(box), key), ())
            if not w.traced and not (isinstance(box, Obj) and _makes(w, box)) and not _found_missing(box, w, read)
        ]
        if not writes:
            continue
        kind = _kind(interp, entry, read, box)
        for write in writes:
            later = _called_after(write, read, calls)
            if later is not None and write.put_back and not (write.certain and _known(later, read)):
                continue
            if later is not None:
                return write, kind, write.certain and _known(later, read)
        late = _captured_late(entry, read, writes)
        if late is not None:
            return late, "loop", True
        if key is DictV.REST:
            continue
        for write in writes:
            # what a list or dict holds changes all the time in registries and caches: only order proves it stale
            if box is read.box and _any_time(interp, entry, read, write):
                return write, kind, False
    return None


def _makes(write: Write, box: Obj) -> bool:
    """Is the write one of those that make the object: by its constructor, or by what that calls?"""
    if write.function in _SETUP:
        return True
    cls = box.project_class
    if cls is None:
        return False
    for step in write.under:
        if isinstance(step.function, cst.FunctionDef) and step.function.name.value in _SETUP:
            found = cls.lookup(step.function.name.value)
            if isinstance(found, Func) and found.lazy is step.function:
                return True
    return False


def _found_missing(box: Box, write: Write, read: Read) -> bool:
    """Is the read the test that the write's item is missing in a dict? What a trace finds missing there, it fills in."""
    if not isinstance(box, DictV) or write.unit.node is None or write.unit is not read.unit:
        return False
    tests = (around.test for around in filling(write.unit, write.unit.node, write.node))
    return any(node is read.node for test in tests for node in descendants(test, type(read.node)))


def _slots(entry: Entry, read: Read) -> Iterator[tuple[Box, Any]]:
    """The slots that a read depends on: its own, and those of the containers that it got."""
    yield read.box, read.key
    inner = {id(r.box) for r in entry.reads.values()}
    yield from _content(read.value, inner, 0)


def _content(value: Value, read_apart: set[int], depth: int) -> Iterator[tuple[Box, Any]]:
    """The slots of a container, unless single items of it were read (those speak for themselves)."""
    if depth > DEPTH:
        return
    if isinstance(value, Tup):
        for v in value.items or ():
            yield from _content(v, read_apart, depth + 1)
    elif isinstance(value, ListV | DictV | SetV) and id(value) not in read_apart:
        for key, v in list(value.slots.items()):
            yield value, key
            yield from _content(v, read_apart, depth + 1)


def _called_after(write: Write, read: Read, calls: Iterable[Call]) -> Call | None:
    """The first call that JAX answers from the trace of the read though the slot was written since."""
    if write.time < read.time:
        return None
    for call in calls:
        same = call.signature is None or read.signature is None or call.signature == read.signature
        apart = write.root is not None and call.moment.run is not write.run  # nobody knows which is called first
        if call.time > write.time and same and not apart:
            return call
    return None


def _known(call: Call, read: Read) -> bool:
    return call.signature is not None and call.signature == read.signature


def _captured_late(entry: Entry, read: Read, writes: list[Write]) -> Write | None:
    """A write by a later turn of the loop in which the jitted function, or the one it calls that reads the variable, was
    made, before it was first traced."""
    if not isinstance(read.box, Env):
        return None
    makers: list[tuple[int, Iterable[Any]]] = [(entry.time, entry.loops)]
    born = read.reader.birth if isinstance(read.reader, Func) else 0  # what is made after a write has seen it
    if isinstance(read.reader, Func) and not isinstance(read.value, Func | Jitted):
        makers.append((read.reader.birth, read.reader.loops))
    for made, loops in makers:
        going_on = {loop for loop, since in read.turns if since <= made}
        made_in = {id(loop.node) for loop in loops if read.box.birth <= loop.birth} - going_on
        for write in writes:
            if max(made, born) < write.time < read.time and any(id(loop.node) in made_in for loop in write.loops):
                return write
    return None


def _any_time(interp: Interpreter, entry: Entry, read: Read, write: Write) -> bool:
    """May the write happen after the trace, in a function that somebody outside of the project calls?"""
    if write.root is None or write.function in _SETUP:
        return False
    if isinstance(write.value, Const | Host) and write.value.via == "shape":
        return False
    if fills(write, interp.writes[id(read.box), read.key], read.box, read.key):
        return False
    if entry.made_under is not None and not _outlives(entry):
        return False
    if entry.calls and all(_asks_anew(entry, call) for call in entry.calls):
        return False
    if isinstance(read.box, Obj) and not _is_known(entry, read.box):
        return False
    if isinstance(read.box, Obj) and (
        sets_up(entry, read, write, interp.writes) or renewed(entry, write, read.box, interp.entries, interp.writes)
    ):
        return False
    if _before_in_own_call(read, write) or write.put_back:
        return False
    if not _spelled_self(read.node) and "." in write.unit.module.name:
        return False  # a switch of a package, which programs set before they begin, as far as is known
    if write.unit.node is not None and fills_once(write.unit, write.unit.node, write.node):
        return False
    return entry.made_under is None or entry.made_under is not write.root or made_once(entry)


def _asks_for_other(entry: Entry, call: Call, traced: Call | None) -> bool:
    """Is a static argument another function than the one that was given when the call was traced? Where it is not known
    which are static, functions are: JAX takes them in no other way."""
    return traced is not None and any(
        isinstance(given := call.bound.get(name), Func | Partial | Wrapped) and given is not traced.bound.get(name)
        for name in (call.bound if entry.opaque else entry.statics)
    )


def _asks_anew(entry: Entry, call: Call) -> bool:
    """Is a static argument a function that the code makes anew which makes the call? The cache has nothing for it."""
    given = (call.bound.get(name) for name in entry.statics)
    makers = {value.made_in for value in given if isinstance(value, Func | Partial | Wrapped)}
    around = call.frame if makers else None
    while around is not None:
        if around.number in makers and around.func is not None:
            return True
        around = around.caller
    return False


def _is_known(entry: Entry, box: Obj) -> bool:
    """Is it one object for all, as far as known? The instance that is made up for a class stands for any."""
    if not isinstance(box.cls, ClassV) or box.cls.slots.get(("self",)) is not box:
        return True
    if isinstance(entry.func, Bound) and entry.func.self is box or _is_static_argument(entry, box):
        return True
    makers = (entry.target, entry.frame.func if entry.frame is not None else None)
    return any(isinstance(func, Func) and func.owner is box.cls for func in makers)


def _before_in_own_call(read: Read, write: Write) -> bool:
    """Does a function bind its own variable, and read it in a closure afterwards? The next call has a variable anew."""
    box = read.box
    own = isinstance(box, Env) and box.parent is not None and box.name == write.function
    return own and write.time < read.time


def _outlives(entry: Entry) -> bool:
    """Is the jitted callable kept from one run of the function that made it to the next?"""
    return entry.kept in ("attribute", "global")


def _kind(interp: Interpreter, entry: Entry, read: Read, box: Box) -> str:
    if isinstance(read.box, Obj | ClassV) and _spelled_self(read.node):
        return "self"
    if isinstance(read.box, Obj) and _is_static_argument(entry, read.box):
        return "static"
    if box is not read.box or isinstance(read.box, ListV | DictV | SetV):
        return "container"
    if isinstance(read.box, Obj | ClassV):
        return "attribute"
    return "closure" if isinstance(read.box, Env) and read.box.parent is not None else "global"


def _spelled_self(node: cst.CSTNode) -> bool:
    return root_name(node) == "self"


def _is_static_argument(entry: Entry, box: Box) -> bool:
    given = (call.bound.get(name, NONE) for call in entry.calls for name in entry.statics)
    return any(id(v) == id(box) for value in given for v in members(value))


def _emit(interp: Interpreter, entry: Entry, read: Read, write: Write, kind: str, certain: bool) -> None:
    event = StaleRead(
        node=read.node,
        unit=read.unit,
        function=read.function,
        time=read.time,
        name=read.unit.code(read.node),
        kind=kind,
        entry=entry,
        changed_at=write.node,
        changed_unit=write.unit,
        certain=certain,
        changed_in=write.function,
        helper=isinstance(read.value, Func | Jitted),
        value=read.value,
        reader=read.reader.name if isinstance(read.reader, Func) else "",
    )
    events = interp.events.setdefault((StaleRead, id(read.node), ""), Bucket()).events
    if certain and events and not getattr(events[0], "certain", True):
        events.insert(0, event)
    else:
        events.append(event)
