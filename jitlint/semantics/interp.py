"""The abstract interpreter: it runs a program over its libcst trees, in evaluation order, with abstract values.

Statements and plain expressions are here; ``operators`` holds what Python's operators do, ``attributes`` attribute
access, ``calls`` calls of the project's functions and classes, ``library`` calls into libraries as the knowledge data
describes them, ``transforms`` what jax transforms do to their functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache
from itertools import repeat
from typing import Any, ClassVar

import libcst as cst

from jitlint.knowledge import ClassModel, Knowledge
from jitlint.project.model import Limits, Module, Project, TopStatement
from jitlint.semantics import (
    attributes,
    calls,
    chosen,
    errors,
    flags,
    instances,
    library,
    lifetime,
    operators,
    tables,
    transforms,
    trips,
    twins,
    unreachable,
)
from jitlint.semantics.bare import last_name, literal, path
from jitlint.semantics.effort import Effort
from jitlint.semantics.entry import Entry
from jitlint.semantics.events import (
    ArrayWanted,
    BlindTest,
    Bucket,
    Effect,
    Event,
    Fault,
    ItemAssignment,
    LeakedUse,
    OuterWrite,
    TracedUse,
)
from jitlint.semantics.missed import Missed
from jitlint.semantics.moment import Moment, Turn
from jitlint.semantics.observed import Observations
from jitlint.semantics.running import Frame, Guard, Loop, Trace
from jitlint.semantics.source import Unit, bound_in_loop
from jitlint.semantics.state import Box, Changes, Trail, Write
from jitlint.semantics.timing import Stopwatch
from jitlint.semantics.values import (
    FALSE,
    FALSY,
    GIVEN,
    NO_LOOPS,
    NONE,
    TRUE,
    TRUTHY,
    UNKNOWN,
    Array,
    Bound,
    ClassV,
    Const,
    DictV,
    Env,
    Func,
    Host,
    Jitted,
    Level,
    LibV,
    ListV,
    ModuleV,
    Obj,
    Origin,
    Partial,
    SetV,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Wrapped,
    join,
    join_all,
    members,
    merge_tups,
    traced_leaf,
)

_NOTHING = nullcontext()
MAX_LOOP_PASSES = 4
UNROLL = 8
"""Loops of known length up to this are run turn by turn, so that what each turn sees is exact."""
UNROLL_ELEMENTS = 16
"""The same for comprehensions over other things than numbers: a few different things, not a count."""
MAX_NESTED_TURNS = 64
STEPS_PER_STATEMENT = 40_000
STEPS_PER_FUNCTION = 12_000
"""A function that nothing calls is run with unknown arguments: little is to be learned from long runs."""
MAX_WRITES = 16
"""Writes of one slot that are remembered: the first ones and the last."""


class Interpreter:
    """Runs modules and functions abstractly and records events."""

    def __init__(
        self,
        project: Project,
        knowledge: Knowledge,
        assume_jitted: frozenset[str] = frozenset(),
        observed: Observations | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.project = project
        self.limits = limits or Limits()
        self.knowledge = knowledge
        self.assume_jitted = assume_jitted
        self.observed = observed or {}
        """What a recorded run passed to jitted functions."""
        self.recorded_at = ""
        """Where the recorded run made the call that is being run, if that is no place of the project."""
        self.trail = Trail()
        self.modules: dict[str, ModuleV] = {}
        """By how paths are shown, which tells modules apart."""
        self.events: dict[tuple[type[Event], int, str], Bucket] = {}
        self.entries: list[Entry] = []
        self.functions: list[Func] = []
        self.classes: list[ClassV] = []
        self.frames: list[Frame] = []
        self.traces: list[Trace] = []
        self.loops: list[Loop] = []
        self.guards: list[Guard] = []
        self.managers: list[tuple[int, frozenset[str]]] = []
        """The context managers that run and put something back: the number of frames around each, and what."""
        self.time = 0
        self.steps = 0
        self.budget = STEPS_PER_STATEMENT
        self.choice: tuple[cst.BaseExpression, cst.BaseExpression, Value, Value] | None = None
        """The last expression that a test chose the value of which was not decided, such as a conditional one, with the
        test and the values where it holds and where it does not."""
        self.made: list[Entry] = []
        """The entries that the running root made, see :meth:`new_root`."""
        self.effort = Effort(STEPS_PER_STATEMENT // 3)
        self.missed = Missed()
        self.quiet = 0
        """While above zero nothing is recorded."""
        self.forks = 0
        """How many branches that may or may not be taken are running."""
        self.compile_time = 0
        self.jit_off = 0
        self.lax_off = 0
        """Above zero under ``jax.disable_jit``, where loops of ``lax`` run as Python does."""
        self.writes: dict[tuple[int, Any], list[Write]] = {}
        self.stopwatch = Stopwatch()
        self.constants: dict[int, Array] = {}
        """Large concrete arrays that traced code computed with, by id."""
        self.used_keys = Box(None)
        """The PRNG keys that were consumed, by what identifies them."""
        self.current: cst.CSTNode | None = None
        """The innermost statement that is running."""
        self.leaking: list[tuple[Box, Any, cst.CSTNode, Unit, bool, OuterWrite | None]] = []
        """Slots outside of the running trace that traced values were stored in, and whether that is told."""
        self.leaking_memo: list[tuple[Any, cst.CSTNode, Unit]] = []
        self.leaked_under: dict[int, Any] = {}
        """For statements that leak, by the id of the node: the root they ran under."""
        self.unusable = False
        """Some value was marked that must not be used: a tracer that leaked, a buffer that was donated."""
        self.donated_uses: dict[tuple[int, int], cst.CSTNode] = {}
        """The first use of a donated buffer, by the ids of the call that donated it and of the root."""
        self.root: Any = None
        """The function nobody calls that is being run, if any."""
        self.written: dict[int, tuple[Box, list[Any]]] = {}
        """The boxes named in ``writes`` by their ids, with the slots, to keep them alive: their ids stay theirs."""
        self.boxes: list[Box] = []
        """Others that are named by their ids, and kept alive."""
        self.called: dict[int, int] = {}
        self.called_in_traces: set[int] = set()
        """Functions that traced code calls, by the id of the definition."""
        self.memo: dict[Any, Value] = {}
        self.shut_off: dict[int, dict[int, list[cst.CSTNode]]] = {}
        """Code that constants of its module shut off, by the ids of the module and of the branch."""
        self.skipped = 0
        """Calls that were not followed since the root began: what they give may be anything."""
        self.running: dict[int, int] = {}
        """How often each function is on the stack, by the id of its definition."""
        self.library_names: dict[tuple[str, str], Value] = {}
        """Attributes of libraries met so far."""
        self._builtins: dict[str, Value] = {}
        self.activity = 0
        """How many events were recorded."""
        self.news = 0
        """How many of them told something that others like them had not."""
        self.epoch = 0
        """Changes while module top levels run, where globals come and go."""
        self.decides: frozenset[Any] = NO_LOOPS
        """The loops over which the last test changes that could not be decided."""
        self.raised = 0
        """How many certain truth tests of tracers were met."""
        self.expecting = 0
        """Above zero where a test expects an error."""
        self.handling = 0
        """Handlers of exceptions that are running."""
        self.other_types = 0
        """Above zero in host code for what was not given, where other arguments may be of other types."""
        self.absent = 0
        """Traced code runs for something that a caller gives and that may be nothing."""
        self.left_out = 0
        """The same, or for an argument that calls may leave out."""
        self.unsure = 0
        """Above zero in a function that is only one of several that may be called there: what is met is possible."""
        self.assumed = 0
        """Above zero in a function that a library is assumed to trace: only what needs a tracer's value is recorded."""
        self.conventional: dict[int, tuple[Func, ClassV | None, ClassModel, str]] = {}
        """Functions that libraries trace, as a rule, by an id: with owner, row and name of the method."""
        self.states: dict[int, tuple[Func, Func, ClassV | None, ClassModel]] = {}
        """Functions that make a state, by an id, with those that are given it and give the next, and the class whose
        methods they are."""
        self.muted = 0
        self.concrete = 0
        """Above zero in the later arms of a decision whose first test raises: they are never reached."""
        self.last_operand: tuple[cst.BooleanOperation, Value] | None = None
        """What the second operand of the last ``and`` or ``or`` was worth: who tests the whole tests it."""
        self.blind: dict[int, BlindTest] = {}
        """Tests that are blind to tracers, by the id of their node, until something is decided by them."""
        self.watch: Callable[[Frame, cst.CSTNode, Value], None] | None = None
        self.make_unit: Callable[[Module, TopStatement], Unit] = Unit
        """Where the units of a module come from, for who keeps their trees."""
        self.runs_uncalled: Callable[[Unit], bool] | None = None
        """In which statements of modules the functions are run that nothing calls; None: in all."""

    callers: ClassVar[Mapping[type[Value], Callable[[Interpreter, Any, calls.Args, cst.CSTNode], Value]]] = {
        Func: calls.call_function,
        LibV: library.call,
        Bound: library.call_bound,
        ClassV: calls.instantiate,
        Jitted: transforms.call_jitted,
        Wrapped: transforms.call_wrapped,
        Obj: calls.call_instance,
        Partial: calls.call_partial,
        Union: calls.call_either,
    }
    """What calls a value of each type, see :func:`calls.call_value`."""

    # ---------------------------------------------------------------- context

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def unit(self) -> Unit:
        return self.frames[-1].unit

    @property
    def trace(self) -> Trace | None:
        """The innermost trace, or None on the host."""
        return self.traces[-1] if self.traces else None

    @property
    def staging(self) -> bool:
        """True where any jax operation, on constants too, gives a tracer."""
        if not self.compile_time:
            for t in self.traces:
                if t.staging:
                    return True
        return False

    @property
    def tracing(self) -> bool:
        """True where Python runs once for many calls (callbacks and plain grad do not count)."""
        for t in self.traces:  # noqa: SIM110
            if t.staging or t.kind == "vmap":
                return True
        return False

    def around(self) -> frozenset[Loop]:
        """The loops that are running."""
        return frozenset(self.loops) if self.loops else NO_LOOPS

    def moment(self) -> Moment:
        """Where in the run of the program this is."""
        turns = tuple([Turn(loop, loop.turn, loop.passes) for loop in self.loops])
        if not self.frames:
            return Moment(turns, (), not self.forks)
        chain = self.frames[-1].chain
        if chain is None:
            chain = self.frames[-1].chain = tuple([id(f.call) for f in self.frames if f.func is not None])
        return Moment(turns, chain, not self.forks, self.frames[0])

    def tick(self) -> int:
        """A new moment in the order of events."""
        self.time += 1
        return self.time

    def emit(self, event: Event) -> None:
        """Record an event; the place and the context are filled in."""
        if self.quiet or self.expecting and isinstance(event, Fault):
            return
        if self.assumed and (not isinstance(event, TracedUse) or isinstance(event.value, Union)):
            return
        event.time = self.tick()
        self.activity += 1
        event.function = self.frame.qualname
        if self.absent and isinstance(event, TracedUse) or self.left_out and isinstance(event, OuterWrite | LeakedUse):
            return
        if self.unsure and isinstance(event, Fault):
            event.possible = True
        if isinstance(event, TracedUse | ArrayWanted | ItemAssignment) and self.traces and self._is_chosen():
            event.possible = True
            if twins.is_other(self, event):
                return
        if isinstance(event, TracedUse) and self._eager_shards():
            event.possible = True  # what is the same on each device has a value there
        if self.other_types and isinstance(event, ArrayWanted):
            event.possible = True
        event.trace = tuple(self.traces)
        event.loops = tuple(self.loops)
        event.frame = self.frame
        inner = self.guards[self.traces[-1].guards_at :] if self.traces else ()
        if inner:
            event.guards = frozenset().union(*(g.names for g in inner))
        if isinstance(event, TracedUse) and self.traces and not self._arrives(event, inner):
            return
        if isinstance(event, Fault) and self.forks > (self.traces[0].forks if self.traces else 0):
            event.tested = True
        key = (type(event), id(event.node), event.role)
        self.news += self.events.setdefault(key, Bucket()).add(event)

    def _is_chosen(self) -> bool:
        """Does a test lead here that asks for what nobody in the project gives?"""
        outermost = self.traces[0]
        return outermost.tests > 0 or self.forks > 0 and outermost.entry is not None and outermost.entry.probed

    def _eager_shards(self) -> bool:
        """Does ``shard_map`` run its function here without a jit around it?"""
        kinds = {t.kind for t in self.traces if t.staging}
        return kinds == {"shard_map"}

    def _arrives(self, event: TracedUse, guards: Sequence[Guard]) -> bool:
        """Does the run of a trace come this far? What raises ends the body of the ``try`` that catches it, and what a
        ``try`` that leaves for traced values lets pass is concrete."""
        if self.concrete or any(g.tripped for g in guards):
            return False
        for guard in reversed(guards):
            if event.error and not guard.names.isdisjoint(errors.ancestry(event.error)):
                certain = guard.around == (self.forks, len(self.loops)) and not event.possible and not self.muted
                guard.tripped, guard.doubted = guard.tripped or certain, True
                break
        return True

    def origin(self, what: str, node: cst.CSTNode, before: Origin | None = None) -> Origin:
        """A step of a trace path at ``node`` in the running unit."""
        return Origin(what, node, self.unit, before)

    def new_root(self, steps: int) -> None:
        """Begin counting anew: a top-level statement, or a function that is run on its own, may cost so much."""
        self._end_root()
        self.budget = self.steps + steps
        self.effort.new_root(steps)
        self.skipped = 0

    def _end_root(self) -> None:
        """Remember which jitted functions were made by what was not run to its end: calls of them may be missing."""
        if self.steps > self.budget:
            for entry in self.made:
                entry.cut_short = True
        self.made = []

    @contextmanager
    def as_root(self, module: ModuleV, unit: Unit, key: Any, func: Func | None = None) -> Iterator[Frame]:
        """What runs in here is called by nothing in the project; ``key`` tells it from the rest, ``func`` is a function
        that gets unknown arguments. Gives the frame that calls are made from."""
        self.new_root(STEPS_PER_FUNCTION)
        if not self.frames:
            self.trail.settle()
        frame = Frame(module.env, unit, module, "", root=func)
        self.frames.append(frame)
        self.root = key
        try:
            yield frame
        finally:
            self.root = None
            self.frames.pop()
            self._end_root()

    # ---------------------------------------------------------------- writes

    def write(self, box: Box, key: Any, value: Value, node: cst.CSTNode | None = None) -> None:
        """Set a slot, and remember when for staleness."""
        if not self.quiet and node is not None:
            self._log_write(box, key, value, node)
        self.trail.write(box, key, value)

    def _log_write(self, box: Box, key: Any, value: Value, node: cst.CSTNode) -> None:
        before = box.slots.get(key)
        if isinstance(value, Const) and before == value or before is value and isinstance(value, Box | Func | LibV):
            return
        log = self.writes.setdefault((id(box), key), [])
        if not log:
            self.written.setdefault(id(box), (box, []))[1].append(key)
        frame = self.frames[-1]
        func = frame.func
        write = Write(
            self.tick(),
            node,
            frame.unit,
            tuple(self.loops),
            bool(self.traces) and self.tracing,
            not self.forks,
            func.name if func is not None else "",
            self.root,
            self.frames[0],
            before,
            value,
            func is not None and (func.flavour == "contextmanager" or func.name in ("__enter__", "__exit__")),
            frame.running(node) if isinstance(box, Obj) else (),
        )
        if len(log) < MAX_WRITES:
            log.append(write)
        else:
            log[-1] = write

    def forget_writes(self, env: Env) -> None:
        """Drop what is remembered of the variables of a call that has ended, which nothing can read any more."""
        _, names = self.written.pop(id(env), (env, ()))
        for name in names:
            del self.writes[id(env), name]

    def fork(self, arms: list[Callable[[], bool]]) -> list[bool]:
        """Run each arm from the same state and continue from the join of those that fall through."""
        alternatives: list[Changes] = []
        flows = []
        frame = self.frame
        frame.nesting += 1
        for arm in arms:
            mark = self.trail.mark()
            concrete = frame.concrete
            self.forks += 1
            flows.append(arm())
            self.forks -= 1
            self.concrete -= frame.concrete - concrete
            frame.concrete = concrete
            if flows[-1]:
                alternatives.append(self.trail.changes(mark))
            self.trail.undo(mark)
        frame.nesting -= 1
        self.trail.merge(alternatives, join)
        return flows

    # ---------------------------------------------------------------- modules

    def module(self, module: Module) -> ModuleV:
        """The value of a module, run on first use."""
        found = self.modules.get(module.display)
        if found is None:
            found = self.modules[module.display] = ModuleV(module)
        if found.state == "new":
            found.state = "running"
            self._run_module(found)
            found.state = "done"
        return found

    def _run_module(self, mod: ModuleV) -> None:
        mod.env.slots["__name__"] = Const("__main__")
        mod.env.slots["__file__"] = Host("str")
        mod.env.slots["__doc__"] = Host("str")
        budget, made = self.budget, self.made
        with self.on_host():
            self._run_statements(mod)
            self._end_root()
        self.budget, self.made = budget, made

    @contextmanager
    def on_host(self) -> Iterator[None]:
        """What runs in here runs outside of every trace, loop and ``try`` that is running."""
        saved = (self.traces, self.loops, self.guards, self.compile_time, self.jit_off, self.lax_off, self.concrete)
        self.traces, self.loops, self.guards, self.concrete = [], [], [], 0
        self.compile_time = self.jit_off = self.lax_off = 0
        try:
            yield
        finally:
            (
                self.traces,
                self.loops,
                self.guards,
                self.compile_time,
                self.jit_off,
                self.lax_off,
                self.concrete,
            ) = saved

    def _run_statements(self, mod: ModuleV) -> None:
        mark = self.trail.mark()
        first: Frame | None = None
        for statement in mod.module.index.statements:
            unit = self.make_unit(mod.module, statement)
            if first is None:
                first = Frame(mod.env, unit, mod, "")
                self.frames.append(first)
                first.mark = mark
            first.unit = unit
            self.new_root(STEPS_PER_STATEMENT)
            if statement.kind == "def" and not statement.text.startswith("@"):
                self._lazy_def(statement.binds, unit, mod)
                continue
            self.epoch += 1
            node = unit.node
            if node is None:
                continue
            if len(self.frames) > 1 and _is_for_main(node):
                with self._run_apart(Frame(mod.env, unit, mod, "", mark=mark)):
                    self.statement(node)
            else:
                self.statement(node)
        if first is not None:
            self.frames.pop()

    @contextmanager
    def _run_apart(self, bottom: Frame) -> Iterator[None]:
        """What runs in here is of a run of the program of its own, not of the module's that imports this one."""
        around, self.frames = self.frames, [bottom]
        yield
        self.frames = around

    def _lazy_def(self, binds: tuple[str, ...], unit: Unit, mod: ModuleV) -> None:
        node = unit.node
        if isinstance(node, cst.FunctionDef):
            self.statement(node)
        else:
            for name in binds:
                self.trail.write(mod.env, name, UNKNOWN)

    # ---------------------------------------------------------------- statements

    def block(self, node: cst.BaseSuite | cst.Module) -> bool:
        """Run the statements of a body; True when control falls out of its end."""
        for statement in node.body:  # noqa: SIM110 - no generator between a statement and what it holds
            if not self.statement(statement):
                return False
        return True

    def statement(self, node: cst.CSTNode) -> bool:
        """Run one statement; True when control goes on behind it."""
        self.steps += 1
        if self.steps > self.budget:
            self.missed.rest(self)
            return True
        method = _STATEMENTS.get(type(node))
        if method is None:
            return True
        around, self.current = self.current, node
        falls: bool
        if type(node) in _UNDOING:
            frame = self.frames[-1]
            frame.nesting += 1
            falls = method(self, node)
            frame.nesting -= 1
        else:
            falls = method(self, node)
        self.current = around
        return falls

    def _simple_line(self, node: cst.SimpleStatementLine | cst.SimpleStatementSuite) -> bool:
        for small in node.body:  # noqa: SIM110
            if not self.statement(small):
                return False
        return True

    def _expr(self, node: cst.Expr) -> bool:
        value = self.eval(node.value)
        operators.thrown_away(self, node.value, value)
        return True

    def _assign(self, node: cst.Assign) -> bool:
        value = self.eval(node.value)
        for t in node.targets:
            self.assign(t.target, value, node)
        if self.choice is not None and self.choice[0] is node.value and type(node.targets[0].target) is cst.Name:
            _, test, one, other = self.choice
            if chosen.is_steady(self.frame, test):
                chosen.note(self.frame, node.targets[0].target.value, test, one, other)
        if len(node.targets) == 1 and type(node.targets[0].target) is cst.Name:
            flags.note(self, node.targets[0].target.value, node.value, value)
        return True

    def _ann_assign(self, node: cst.AnnAssign) -> bool:
        if node.value is not None:
            value = self.eval(node.value)
            if isinstance(value, Unknown):
                value = calls.from_annotation(self, node.annotation.annotation) or value
            self.assign(node.target, value, node)
        return True

    def _aug_assign(self, node: cst.AugAssign) -> bool:
        old = self.eval(node.target)
        value = self.eval(node.value)
        new = operators.augmented(self, node, old, value)
        if new is not None:
            self.assign(node.target, new, node, augmented=True)
        return True

    def assign(self, target: cst.BaseExpression, value: Value, node: cst.CSTNode, augmented: bool = False) -> None:
        """Bind a target (name, attribute, subscript, tuple of targets) to a value."""
        # by type: an instance check against a class of libcst that fails is slow
        if type(target) is cst.Name:
            self.assign_name(target.value, value, node)
            if self.watch is not None:
                self.watch(self.frame, target, value)
        elif type(target) is cst.Tuple or type(target) is cst.List:
            self._unpack(target, value, node)
        elif type(target) is cst.Attribute:
            obj = self.eval(target.value)
            attributes.set_attribute(self, obj, target.attr.value, value, node, target)
        elif type(target) is cst.Subscript:
            obj = self.eval(target.value)
            index = self.index(target)
            operators.set_item(self, obj, index, value, node, target, augmented)
        elif type(target) is cst.StarredElement:
            self.assign(target.value, value, node)

    def _unpack(self, target: cst.Tuple | cst.List, value: Value, node: cst.CSTNode) -> None:
        elements = target.elements
        content = operators.iterate(self, value, target, count=len(elements))
        star = next((i for i, e in enumerate(elements) if type(e) is cst.StarredElement), None)
        if content.items is not None and star is None and len(content.items) == len(elements):
            for e, v in zip(elements, content.items, strict=True):
                self.assign(e.value, v, node)
            return
        if content.items is not None and star is not None and len(content.items) >= len(elements) - 1:
            items = list(content.items)
            after = len(elements) - star - 1
            rest = Tup(tuple(items[star : len(items) - after]))
            if isinstance(value, Array) and (not value.shape or value.shape[0] is None):
                rest = Tup(None, replace(value, shape=None, via=None))  # as many as there are
            values: list[Value] = [*items[:star], ListV(rest, node), *items[len(items) - after :]]
            for e, v in zip(elements, values, strict=True):
                self.assign(e.value, v, node)
            return
        each = content.any_item()
        for i, e in enumerate(elements):
            v = ListV(Tup(None, each), node) if i == star else each
            self.assign(e.value, v, node)

    def assign_name(self, name: str, value: Value, node: cst.CSTNode) -> None:
        """Bind a name in the scope that the compiler says."""
        frame = self.frames[-1]
        scope = frame.scope
        if scope is not None and frame.class_body is None:
            if name in scope.globals:
                operators.outer_write(self, frame.module.env, name, value, node, "global", name)
                lifetime.keep(self, value, "global")
                self.write(frame.module.env, name, value, node)
                return
            if name in scope.nonlocals:
                env = frame.env.parent
                while env is not None and name not in env.slots and env.parent is not None:
                    env = env.parent
                if env is not None:
                    operators.outer_write(self, env, name, value, node, "nonlocal", name)
                    lifetime.keep(self, value, "global")
                    self.write(env, name, value, node)
                return
        if frame.class_body is not None:
            self.trail.write(frame.class_body, name, value)
            return
        self.write(frame.env, name, value, node)

    def _if(self, node: cst.If, after_raise: bool = False) -> bool:
        if type(node.test) in _VARIABLES and last_name(node.test).endswith("TYPE_CHECKING"):
            # what only type checkers see is good for annotations, and what runs has the last word
            return self.block(node.body) and self._else(node.orelse)
        before = self.raised
        self.muted += after_raise
        known = self.test(node.test, "if", node)
        self.muted -= after_raise
        raises = after_raise or self.raised > before
        if known is not None:
            self.refine(node.test, known)
            falls = self.block(node.body) if known else self._else(node.orelse)
            unreachable.note(self, node, known, falls)
            return falls

        absent = self._asks_for_none(node.test)
        left_out = self._asks_for_left_out(node.test) if absent is None else absent

        missing = tables.missing(self, node.test)
        steady = chosen.is_steady(self.frame, node.test)
        made: list[dict[str, Value]] = []

        # two of them, since a ladder of ``elif`` is as deep as it is long
        def then() -> bool:
            with self._not_given(absent is True, left_out is True):
                said = self.enter(node.test, True)
                self._pass_over(missing is True)
                falls = self.block(node.body)
                self.frame.said = said
            made.append(chosen.changed(self, mark, steady))
            return falls

        def other() -> bool:
            with self._not_given(absent is False, left_out is False):
                said = self.enter(node.test, False)
                self._pass_over(missing is False)
                falls = self._else(node.orelse, raises)
                self.frame.said = said
            made.append(chosen.changed(self, mark, steady))
            return falls

        mark, loops = self.trail.mark(), self.decides
        slots = dict(self.frame.env.slots) if steady else {}
        flows = self.fork([then, other])
        self._pass_over(missing is not None and flows[not missing] and not flows[missing])
        if all(flows) and not loops:
            chosen.note_all(self.frame, node.test, made, slots)
        if loops:
            if not all(flows):
                self.frame.decided |= loops
            for box, key, value in self.trail.changes(mark).values():
                if isinstance(value, Const | Host | Union):
                    self.trail.write(box, key, operators.decided_by(value, loops))
        return any(flows)

    def _pass_over(self, unlikely: bool) -> None:
        """From here to the end of the branch or function (where it is ``unlikely``), uses of traced values are not told."""
        if unlikely:
            self.concrete += 1
            self.frame.concrete += 1

    @contextmanager
    def perhaps(self, several: bool) -> Iterator[None]:
        """While this runs for one of ``several`` alternatives of a value, what it does is possible only."""
        self.unsure += several
        yield
        self.unsure -= several

    def _not_given(self, holds: bool, left_out: bool) -> AbstractContextManager[None]:
        """While this runs (and ``holds``), code for what was not given. It is often meant for the host only: what it
        does under a trace is not told where a caller gives what may be nothing, and who does that is likely to know
        what for, nor where nobody calls, and it is a part of something. Other arguments may have other types than
        elsewhere. Of what may be ``left_out`` it is only the writes that are not told."""
        return self._without(holds, left_out) if holds or left_out else _NOTHING

    @contextmanager
    def _without(self, holds: bool, left_out: bool) -> Iterator[None]:
        traced = holds and bool(self.traces)
        seen = bool(self.traces) and not any(t.entry is not None and t.entry.probed for t in self.traces)
        unwritten = left_out and seen
        self.unsure += traced
        self.absent += traced
        self.left_out += unwritten
        self.other_types += holds and not traced
        yield
        self.unsure -= traced
        self.absent -= traced
        self.left_out -= unwritten
        self.other_types -= holds and not traced

    def enter(self, test: cst.BaseExpression, holds: bool) -> dict[str, Value]:
        """Begin what is run where a test holds or does not; functions that are made there keep what it says. Gives what
        the tests around it ``said``, for the frame when it has ended."""
        frame = self.frames[-1]
        said = frame.said
        frame.said = dict(said)
        self.refine(test, holds)
        if frame.chosen:
            chosen.recall(self, test, holds)
        return said

    def _asks_for_none(self, test: cst.BaseExpression) -> bool | None:
        """For a test against None of what may be None, the outcome that says None (None: it is no such test)."""
        if type(test) is not cst.Comparison or len(test.comparisons) != 1:
            return None
        [one] = test.comparisons
        how = type(one.operator)
        if how is not cst.Is and how is not cst.IsNot or type(one.comparator) is not cst.Name:
            return None
        unsaid = Unknown if self.staging else Unknown | Union
        if one.comparator.value != "None" or not isinstance(self.peek(test.left), unsaid):
            return None
        return how is cst.Is

    def _asks_for_left_out(self, test: cst.BaseExpression) -> bool | None:
        """For a test against None of an argument that may be nothing, as its parameter says, or of which only its leaves
        are known, the outcome that says None (None: it is no such test)."""
        if type(test) is not cst.Comparison:
            return None
        match test:
            case cst.Comparison(
                left=cst.Name(value=name),
                comparisons=[
                    cst.ComparisonTarget(operator=cst.Is() | cst.IsNot() as how, comparator=cst.Name(value="None"))
                ],
            ) if self.frame.func is not None:
                value = self.peek(test.left)
                optional = self.frame.func.defaults.get(name) == NONE
                if isinstance(value, Tree) or optional and isinstance(value, Union):
                    return isinstance(how, cst.Is)
        return None

    def _else(self, node: cst.If | cst.Else | None, after_raise: bool = False) -> bool:
        if node is None:
            return True
        if isinstance(node, cst.If):
            return self._if(node, after_raise)
        return self.block(node.body)

    def test(self, node: cst.BaseExpression, construct: str, statement: cst.CSTNode | None = None) -> bool | None:
        """Evaluate a condition: True or False when known, None when not; a traced one is recorded."""
        value, raises = self._attempt(node)
        self.muted += raises
        if isinstance(value, Unknown) and self.last_operand is not None and self.last_operand[0] is node:
            operators.truth(self, self.last_operand[1], self.last_operand[0].right, construct)
        known = operators.truth(self, value, node, construct)
        self.decides = operators.varying(value) if known is None else NO_LOOPS
        self.muted -= raises
        if known is None and self.traces and traced_leaf(value) is None:
            return twins.says_traced(self, node)
        return known

    def _attempt(self, node: cst.BaseExpression) -> tuple[Value, bool]:
        """The value of an expression, and whether a truth test inside it raises for certain, so that it has none."""
        before = self.raised
        return self.eval(node), self.raised > before

    def refine(self, test: cst.BaseExpression, holds: bool) -> None:
        """Use what a test says of names and attributes in the arm where it holds (or does not)."""
        # by type: an instance check against a class of libcst that fails is slow
        if type(test) is cst.Name or type(test) is cst.Attribute:
            self._refine_variable(test, holds)
        elif type(test) is cst.Comparison:
            self._refine_comparison(test, holds)
        elif type(test) is cst.Call:
            self._refine_call(test, holds)
        elif type(test) is cst.UnaryOperation:
            if type(test.operator) is cst.Not:
                self.refine(test.expression, not holds)
        elif type(test) is cst.BooleanOperation:
            if holds is (type(test.operator) is cst.And):
                self.refine(test.left, holds)
                self.refine(test.right, holds)
        elif type(test) is cst.NamedExpr:
            self.refine(test.target, holds)

    def _refine_comparison(self, test: cst.Comparison, holds: bool) -> None:
        if len(test.comparisons) != 1:
            return
        [one] = test.comparisons
        how = type(one.operator)
        if how not in _EQUALITIES:
            return
        same = holds is (how is cst.Is or how is cst.Equal)
        if type(one.comparator) is cst.Name and one.comparator.value == "None":
            self._narrow(test.left, lambda v: (v == NONE) == same)
            if how is cst.Is or how is cst.IsNot:
                self._narrow_unknown(test.left, same)
        elif same and (how is cst.Equal or how is cst.NotEqual):
            other = self.peek(one.comparator)
            if isinstance(other, Const):
                self._narrow_to(test.left, other)

    def _refine_call(self, test: cst.Call, holds: bool) -> None:
        match test:
            case cst.Call(func=cst.Name(value="isinstance"), args=[what, kind]):
                kinds = self.peek(kind.value)
                if kinds is not None and holds:
                    self._narrow_tree(what.value, kinds)
                if kinds is not None:
                    self._narrow(what.value, lambda v: instances.is_instance(self, v, kinds) is not (not holds))
                    if not holds and instances.is_tracer_class(kinds):
                        self._narrow_to_known(what.value)
                    elif not holds:
                        self._narrow_to_no_array(what.value, kinds)
            case cst.Call(func=cst.Name(value="hasattr"), args=[what, name]) if holds:
                self._narrow_to_owner(what.value, self.peek(name.value))
            case cst.Call(func=cst.Name(value="callable"), args=[what]):
                self._narrow(what.value, lambda v: calls.is_callable(v) is not (not holds))
            case cst.Call(func=cst.Name() | cst.Attribute(), args=[what]):
                if instances.asks_for_tracer(self, self.peek(test.func)) is (not holds):
                    self._narrow_to_known(what.value)

    def _refine_variable(self, test: cst.Name | cst.Attribute, holds: bool) -> None:
        self._narrow(test, lambda v: operators.known_truth(v) is not (not holds))
        self._narrow_truth(test, holds)
        if holds:
            self._narrow_unknown(test, False)
        if self.frame.flags and isinstance(test, cst.Name):
            asked = flags.meant(self, test.value)
            if asked is not None:
                flag = self.frame.flags.pop(test.value)  # it does not stand for itself
                self.refine(asked, holds)
                self.frame.flags[test.value] = flag

    def _narrow_to_known(self, node: cst.BaseExpression) -> None:
        """What a test found to be no tracer is not traced."""
        place = self.place(node)
        if place is not None and any(traced_leaf(m) is not None for m in members(place[2])):
            known = join_all(m if traced_leaf(m) is None else UNKNOWN for m in members(place[2]))
            self.trail.write(place[0], place[1], known)

    def _narrow_to_no_array(self, node: cst.BaseExpression, kinds: Value) -> None:
        """An argument of unknown structure that failed ``isinstance`` for arrays is something of which no more is known."""
        place = self.place(node)
        if place is None or not any(isinstance(m, Tree) for m in members(place[2])):
            return
        if instances.is_instance(self, Array(Level.TRACED), kinds) is True:
            left = join_all(UNKNOWN if isinstance(m, Tree) else m for m in members(place[2]))
            self.trail.write(place[0], place[1], left)

    def peek(self, node: cst.BaseExpression) -> Value | None:
        self.quiet += 1
        try:
            return self.eval(node) if type(node) in _PEEKED else None
        finally:
            self.quiet -= 1

    def place(self, node: cst.BaseExpression) -> tuple[Box, Any, Value] | None:
        """The slot that a name or attribute chain reads."""
        if type(node) is cst.Name:
            env: Env | None = self.frames[-1].env
            while env is not None:
                if node.value in env.slots:
                    return env, node.value, env.slots[node.value]
                env = env.parent
            return None
        if type(node) is cst.Attribute:
            owner = self.place(node.value)
            if owner is not None and isinstance(owner[2], Obj) and node.attr.value in owner[2].slots:
                box = owner[2]
                return box, node.attr.value, box.slots[node.attr.value]
        return None

    def _narrow(self, node: cst.BaseExpression, keep: Callable[[Value], bool]) -> None:
        place = self.place(node)
        if place is None or not isinstance(place[2], Union):
            return
        box, key, _ = place
        left = [m for m in place[2].members if keep(m)]
        if left and len(left) < len(place[2].members):
            self._say(box, key, left[0] if len(left) == 1 else Union(tuple(left)))

    def _say(self, box: Box, key: Any, value: Value) -> None:
        """Write what a test says of a variable."""
        self.trail.write(box, key, value)
        if box is self.frame.env:
            self.frame.said[key] = value

    def _narrow_unknown(self, node: cst.BaseExpression, none: bool) -> None:
        """What is not known of a local variable is now known to be None, or not to be."""
        place = self.place(node)
        frame = self.frames[-1]
        if place is None or place[0] is not frame.env or frame.func is None:
            return
        given = [_given(m) for m in members(place[2])]
        value = NONE if none else given[0] if len(given) == 1 else Union(tuple(given))
        if any(isinstance(m, Tree) or type(m) is Unknown for m in members(place[2])):
            self._say(place[0], place[1], value)

    def _narrow_truth(self, node: cst.BaseExpression, holds: bool) -> None:
        """What is not known of a variable of a function, or of an attribute, is now known to be true, or not to be."""
        place = self.place(node)
        if place is None or isinstance(place[0], Env) and place[0].parent is None:
            return
        box, key, value = place
        if type(value) is Host and value.type == "bool":
            self._say(box, key, Const(holds, value.loops, value.via))
        elif type(value) is Unknown or value is GIVEN and holds:
            self._say(box, key, TRUTHY if holds else FALSY)

    def _narrow_to(self, node: cst.BaseExpression, value: Const) -> None:
        place = self.place(node)
        if place is not None and isinstance(place[2], Host) and place[2].type == type(value.value).__name__:
            self.trail.write(place[0], place[1], replace(value, loops=place[2].loops))

    def _narrow_to_owner(self, node: cst.BaseExpression, name: Value | None) -> None:
        """What has an attribute that a tracer lacks is none."""
        place = self.place(node)
        if place is None or not isinstance(name, Const) or not isinstance(name.value, str):
            return
        attribute = name.value

        narrowed = join_all(UNKNOWN if attributes.lacks(self, m, attribute) else m for m in members(place[2]))
        if narrowed != place[2]:
            self.trail.write(place[0], place[1], narrowed)

    def _narrow_tree(self, node: cst.BaseExpression, kinds: Value) -> None:
        """An argument of unknown structure that passed ``isinstance`` for a container is one, and what passed it for
        something else than arrays is nothing of which more is known."""
        place = self.place(node)
        if place is None or not any(isinstance(m, Tree) for m in members(place[2])):
            return
        if instances.is_instance(self, Array(Level.TRACED), kinds) is not False:
            return
        kind = kinds.name if isinstance(kinds, LibV) else ""

        def contained(v: Value) -> Value:
            if not isinstance(v, Tree):
                return v
            match kind.rpartition(".")[2]:
                case "tuple":
                    return Tup(None, v)
                case "list" | "Sequence" | "MutableSequence":
                    return ListV(Tup(None, v), node)
                case "dict" | "Mapping" | "MutableMapping":
                    return DictV(rest=v, site=node)
            return UNKNOWN

        self.trail.write(place[0], place[1], join_all(contained(m) for m in members(place[2])))

    # -- loops

    def _for(self, node: cst.For) -> bool:
        iterable = self.eval(node.iter)
        if not isinstance(iterable, Unknown) and operators.is_outer_iterator(self, iterable, node.iter):
            self.effect("iterator", "for", node.iter, [])
        content = operators.iterate(self, iterable, node.iter)
        loop = Loop(node, self.unit, self.frame.number, None if content.items is None else len(content.items))
        if content.items is None:
            loop.trip = operators.trip_count(iterable)
        loop.traced = self.tracing
        varying = content.kind != "same"
        if content.items is not None and not content.items:
            return self._else(node.orelse)
        turns = self._turns(content)
        if turns is not None:
            return self._for_unrolled(node, loop, content.items or ())
        each = operators.any_turn(content)
        if varying:
            each = operators.element(self, each, loop)

        def bind() -> bool:
            self.assign(node.target, each, node)
            return True

        return self._loop(node, loop, bind, lambda: self.block(node.body), endless=False)

    def _turns(self, content: Tup, most: int = UNROLL) -> int | None:
        if content.items is None or len(content.items) > most:
            return None
        turns = len(content.items)
        for loop in self.loops:
            if loop.turn is not None:
                turns *= loop.trip or 1
        return turns if turns <= MAX_NESTED_TURNS else None

    def _for_unrolled(self, node: cst.For, loop: Loop, items: tuple[Value, ...]) -> bool:
        frame = self.frame
        self.loops.append(loop)
        mark = self.trail.mark()
        breaks: list[Changes] = []
        alive = True
        began = self.time
        for turn, item in enumerate(items):
            loop.turn = turn
            loop.since = self.time
            self._vary_changed(self.trail.changes(mark) if turn else self._state(node), loop, began)
            continues: list[Changes] = []
            frame.loop_outs.append((breaks, continues, mark))
            self.assign(node.target, operators.vary(item, loop), node)
            falls = self.block(node.body)
            frame.loop_outs.pop()
            if continues:
                alternatives = [*([self.trail.changes(mark)] if falls else []), *continues]
                self.trail.undo(mark)
                self.trail.merge(alternatives, join)
                falls = True
            if not falls:
                alive = False
                break
        self.loops.pop()
        self._unrolled_event(node, loop)
        if alive and node.orelse is not None:
            alive = self.block(node.orelse.body)
        if breaks:
            alternatives = [*([self.trail.changes(mark)] if alive else []), *breaks]
            self.trail.undo(mark)
            self.trail.merge(alternatives, join)
            return True
        return alive

    def _unrolled_event(self, node: cst.CSTNode, loop: Loop) -> None:
        if loop.traced and loop.operations:
            from jitlint.semantics.events import Unrolled

            turns = loop.turn + 1 if loop.turn is not None else loop.passes + 1
            operations = max(1, loop.operations // max(1, turns))
            iterations = loop.trip
            for outer in self.loops:
                if outer.traced and outer.frame == loop.frame:
                    iterations = None if iterations is None or outer.trip is None else iterations * outer.trip
            if self.loops and self.loops[-1].frame != loop.frame:
                # loops of callers are told apart: each of their turns runs this one
                self.loops[-1].operations += operations * (loop.trip or 1)
            if self.staging:  # mapped code that is not compiled runs one operation after the other
                self.emit(Unrolled(node=node, unit=self.unit, iterations=iterations, operations=operations))

    def _while(self, node: cst.While) -> bool:
        loop = Loop(node, self.unit, self.frame.number)
        loop.traced = self.tracing
        loop.trip = trips.while_trip(node, self.peek)
        first = self.test(node.test, "while", node)
        if first is False:
            return self._else(node.orelse)
        endless = first is True and isinstance(node.test, cst.Name | cst.Integer)
        self.refine(node.test, True)
        return self._loop(
            node,
            loop,
            lambda: True,
            lambda: self.block(node.body),
            endless=endless,
            again=None if endless else lambda: self.test(node.test, "while", node) is not False,
        )

    def _loop(
        self,
        node: cst.For | cst.While,
        loop: Loop,
        bind: Callable[[], bool],
        body: Callable[[], bool],
        *,
        endless: bool,
        again: Callable[[], bool] | None = None,
    ) -> bool:
        """Run a loop to a fixpoint. The first turn is taken to happen; later ones may."""
        frame, known = self.frame, self.frame.chosen
        self.loops.append(loop)
        mark = self.trail.mark()
        breaks: list[Changes] = []
        state: Changes = {}
        fell = False
        began = self.time
        for turn in range(MAX_LOOP_PASSES):
            outs: list[Changes] = []
            continues: list[Changes] = []
            inner = self.trail.mark()
            frame.loop_outs.append((breaks, continues, mark))
            loop.passes = turn
            loop.since = self.time
            told = self._told()
            bind()
            self._vary_changed(state if turn else self._state(node), loop, began)
            begun = self.trail.changes(mark) if turn else {}
            frame.chosen = dict(known)
            falls = body()
            if falls and again is not None and not again():
                turn = MAX_LOOP_PASSES
            frame.loop_outs.pop()
            if falls:
                outs.append(self.trail.changes(mark))
                fell = True
            if continues:
                outs.extend(continues)
                fell = True
            if not outs:
                self.trail.undo(inner)
                break
            old = state
            idle = turn == 0 and told == self._told() and not self._carries(mark, loop)
            self.trail.undo(inner)
            if turn == 0:
                self.trail.undo(mark)
                self.trail.merge(outs, join)
                if self.traces:
                    self._widen(mark)
            else:
                current = self.trail.changes(mark)
                self.trail.undo(mark)
                self.trail.merge([current, *outs], join)
            state = self.trail.changes(mark)
            # what is told in any turn is not what is told in the second one
            if idle or turn > 0 and _same(old, begun, state, None if turn == 1 and told != self._told() else loop):
                break
        self.loops.pop()
        self._unrolled_event(node, loop)
        falls = fell and not endless
        if falls and node.orelse is not None:
            falls = self.block(node.orelse.body)
        if isinstance(node, cst.While) and not endless:
            self.refine(node.test, False)
        if breaks:
            alternatives = [*([self.trail.changes(mark)] if falls else []), *breaks]
            self.trail.undo(mark)
            self.trail.merge(alternatives, join)
            return True
        return falls

    def _told(self) -> tuple[int, ...]:
        """How much was met so far that can be another thing in another turn of a loop."""
        return self.activity, len(self.entries), len(self.functions), self.used_keys.version

    def _carries(self, mark: int, loop: Loop) -> bool:
        """Does a turn set what it found set: something that the next one begins with?"""
        return any(old is not None and box.birth <= loop.birth for box, _, old in self.trail.since(mark))

    def _widen(self, mark: int) -> None:
        """Take the lists that the first turn of a loop has made longer for ones that grow with each turn. On the host
        the second turn is run with what it has, since another length is another structure for what is jitted."""
        for box, key, before in self.trail.since(mark):
            now = box.slots.get(key)
            if not isinstance(before, Tup) or not isinstance(now, Tup) or before.items is None or now.items is None:
                continue
            if len(before.items) < len(now.items):
                self.trail.write(box, key, merge_tups(before, now))

    def _state(self, node: cst.For | cst.While) -> Changes:
        """The variables that the loop will change."""
        env = self.frame.env
        return {(id(env), k): (env, k, env.slots[k]) for k in bound_in_loop(node) if k in env.slots}

    def _vary_changed(self, state: Changes, loop: Loop, began: int) -> None:
        """Mark numbers and arrays that the loop has changed since it ``began`` as varying over it (a counter, a state)."""
        marked: dict[int, Value] = {}  # two names of one array stay names of one
        for box, key, value in state.values():
            if (
                isinstance(value, Host)
                and value.via != "shape"
                or isinstance(value, Array)
                and value.level <= Level.HOST
            ) and loop not in value.loops:
                if isinstance(box, Obj) and not self.quiet and not self._written_since(box, key, began):
                    continue  # only a test has said what it is
                new = marked.setdefault(id(value), replace(value, loops=value.loops | {loop}))
                self.trail.write(box, key, new)

    def _written_since(self, box: Box, key: Any, time: int) -> bool:
        log = self.writes.get((id(box), key))
        return log is not None and log[-1].time > time

    def _break(self, node: cst.Break) -> bool:
        outs = self.frame.loop_outs
        if outs:
            outs[-1][0].append(self.trail.changes(outs[-1][2]))
        return False

    def _continue(self, node: cst.Continue) -> bool:
        outs = self.frame.loop_outs
        if outs:
            outs[-1][1].append(self.trail.changes(outs[-1][2]))
        return False

    def _return(self, node: cst.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else NONE
        lifetime.keep(self, value, "returned")
        if self.frame.nesting == 0:
            self.frame.straight = value  # nothing will be undone behind it: the state can stay as it is
        else:
            self.frame.exits.append((value, self.trail.changes(self.frame.mark)))
        return False

    def _raise(self, node: cst.Raise) -> bool:
        if node.exc is not None:
            self.eval(node.exc)
        return False

    def _assert(self, node: cst.Assert) -> bool:
        match node.test:
            case cst.UnaryOperation(operator=cst.Not(), expression=cst.Name() as name):
                if isinstance(self.peek(name), Tree):
                    return True  # whoever asserts this says that nothing is passed, or something empty
        known = self.test(node.test, "assert", node)
        if known is not False:
            self.refine(node.test, True)
        return True

    def _try(self, node: cst.Try | cst.TryStar) -> bool:
        names = frozenset(n for h in node.handlers if not _raises_again(h) for n in self._caught(h))
        mark = self.trail.mark()
        guard = Guard(names, node.handlers[0], (self.forks, len(self.loops))) if node.handlers else None
        if guard is not None:
            self.guards.append(guard)
        falls = self.block(node.body)
        if guard is not None:
            self.guards.pop()
            falls = falls and not guard.tripped
        after = self.trail.changes(mark)
        states = [after] if falls else []
        if falls and node.orelse is not None:
            falls = self.block(node.orelse.body)
            states = [self.trail.changes(mark)] if falls else []
        self.trail.undo(mark)
        flows = [falls]
        for h in node.handlers:
            inner = self.trail.mark()
            # the body may have stopped anywhere: the handler sees the state before it joined with what it wrote
            self.trail.merge([{}, after], join)
            if h.name is not None and isinstance(h.name.name, cst.Name):
                self.assign_name(h.name.name.value, Host("exception"), h)
            self.handling += 1
            ok = self.block(h.body)
            self.handling -= 1
            flows.append(ok)
            if ok:
                states.append(self.trail.changes(inner))
            self.trail.undo(inner)
        self.trail.merge(states, join)
        if guard is not None and guard.doubted and falls and not any(flows[1:]):
            self._pass_over(True)
        if node.finalbody is not None and not self.block(node.finalbody.body):
            return False
        return any(flows)

    def _caught(self, handler: cst.ExceptHandler | cst.ExceptStarHandler) -> Iterator[str]:
        if handler.type is None:
            yield "BaseException"
            return
        types = [e.value for e in handler.type.elements] if isinstance(handler.type, cst.Tuple) else [handler.type]
        for t in types:
            while isinstance(t, cst.Attribute):
                t = t.attr
            if isinstance(t, cst.Name):
                yield t.value

    def _with(self, node: cst.With) -> bool:
        compile_time = jit_off = lax_off = expecting = 0
        managers = len(self.managers)
        for item in node.items:
            expecting += isinstance(item.item, cst.Call) and _expects_error(item.item)
            value = self.eval(item.item)
            entered = calls.enter_context(self, value, item.item)
            if isinstance(value, calls.ContextV) and value.puts_back:
                self.managers.append((len(self.frames), value.puts_back))
            if value == LibV("jax.ensure_compile_time_eval()"):
                compile_time += 1
            elif value == LibV("jax.disable_jit()"):
                jit_off += 1
                lax_off += 1
            elif isinstance(item.item, cst.Call) and _fakes_jit(item.item):
                jit_off += 1
            if item.asname is not None and isinstance(
                item.asname.name, cst.Name | cst.Tuple | cst.List | cst.Attribute
            ):
                self.assign(item.asname.name, entered, node)
        self.compile_time += compile_time
        self.jit_off += jit_off
        self.lax_off += lax_off
        self.expecting += expecting
        self.frame.expects |= expecting > 0
        falls = self.block(node.body)
        del self.managers[managers:]
        self.compile_time -= compile_time
        self.jit_off -= jit_off
        self.lax_off -= lax_off
        self.expecting -= expecting
        return falls

    def _def(self, node: cst.FunctionDef) -> bool:
        value: Value = calls.make_function(self, node)
        for d in reversed(node.decorators):
            value = calls.decorate(self, d, value, node)
        if calls.is_dispatched(node):
            scope = self.frame.class_body or self.frame.env
            value = UNKNOWN if node.name.value in scope.slots else value  # the arguments decide which one is run
        self.assign_name(node.name.value, value, node)
        return True

    def _class(self, node: cst.ClassDef) -> bool:
        value: Value = calls.make_class(self, node)
        for d in reversed(node.decorators):
            value = calls.decorate_class(self, d, value)
        self.assign_name(node.name.value, value, node)
        return True

    def _import(self, node: cst.Import) -> bool:
        for a in node.names:
            dotted = path(a.name)
            value = self.import_module(dotted, 0)
            if a.asname is not None and isinstance(a.asname.name, cst.Name):
                self._bind_import(a.asname.name.value, value, node)
            else:
                top = dotted.split(".")[0]
                self._bind_import(top, self.import_module(top, 0), node)
        return True

    def _bind_import(self, name: str, value: Value, node: cst.CSTNode) -> None:
        if self.frame.class_body is not None:
            self.trail.write(self.frame.class_body, name, value)
        elif self.frame.func is None:
            self.trail.write(self.frame.env, name, value)
        else:
            self.assign_name(name, value, node)

    def import_module(self, dotted: str, level: int) -> Value:
        """A module by name as the running module imports it: of the project, or of a library."""
        found = self.project.resolve(self.frame.module.module, dotted, level)
        if found is not None:
            return self.module(found)
        return LibV(self.knowledge.canonical(dotted)) if dotted else UNKNOWN

    def _import_from(self, node: cst.ImportFrom) -> bool:
        dotted = path(node.module) if node.module is not None else ""
        level = len(node.relative)
        base = self.import_module(dotted, level)
        if isinstance(node.names, cst.ImportStar):
            if isinstance(base, ModuleV):
                for public, found in _starred(base):
                    self._bind_import(public, found, node)
            elif isinstance(base, LibV):
                calls.star_import(self, base.name, node)
            return True
        for a in node.names:
            if not isinstance(a.name, cst.Name):
                continue
            name = a.name.value
            target = a.asname.name.value if a.asname is not None and isinstance(a.asname.name, cst.Name) else name
            value: Value = UNKNOWN
            if isinstance(base, ModuleV):
                inner = base.env.slots.get(name)
                if inner is None:
                    sub = self.project.resolve(self.frame.module.module, f"{dotted}.{name}" if dotted else name, level)
                    inner = self.module(sub) if sub is not None else UNKNOWN
                value = inner
            elif isinstance(base, LibV):
                sub = self.project.resolve(self.frame.module.module, f"{dotted}.{name}" if dotted else name, level)
                value = self.module(sub) if sub is not None else attributes.library_attribute(self, base.name, name)
            elif isinstance(base, Unknown) and level:
                sub = self.project.resolve(self.frame.module.module, f"{dotted}.{name}" if dotted else name, level)
                value = self.module(sub) if sub is not None else UNKNOWN
            self._bind_import(target, value, node)
        return True

    def _del(self, node: cst.Del) -> bool:
        targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for t in targets:
            if isinstance(t, cst.Name):
                if t.value in self.frame.env.slots:
                    self.trail.delete(self.frame.env, t.value)
            elif isinstance(t, cst.Subscript):
                operators.delete_item(self, self.eval(t.value), self.index(t), t)
            elif isinstance(t, cst.Attribute):
                self.eval(t.value)
        return True

    def _match(self, node: cst.Match) -> bool:
        from jitlint.semantics import patterns

        subject = self.eval(node.subject)
        return patterns.match(self, node, subject)

    def _nothing(self, node: cst.CSTNode) -> bool:
        return True

    # ---------------------------------------------------------------- expressions

    def eval(self, node: cst.BaseExpression) -> Value:
        """The value of an expression."""
        self.steps += 1
        if self.steps > self.budget:
            self.missed.rest(self)
            return UNKNOWN
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            return UNKNOWN
        value: Value = method(self, node)
        if self.watch is not None:
            self.watch(self.frame, node, value)
        return value

    def _name(self, node: cst.Name) -> Value:
        constant = _CONSTANTS.get(node.value)
        return self.lookup(node.value, node) if constant is None else constant

    def lookup(self, name: str, node: cst.CSTNode | None) -> Value:
        """The value of a name; reads of outer scopes while tracing are remembered for staleness."""
        frame = self.frames[-1]
        own = frame.env
        if frame.class_body is not None and name in frame.class_body.slots:
            return frame.class_body.slots[name]
        env: Env | None = own
        while env is not None:
            value = env.slots.get(name)
            if value is not None:
                if self.traces and env is not own and node is not None:
                    operators.note_read(self, env, name, value, node)
                return value
            env = env.parent
        found = self._builtins.get(name)
        if found is None:
            found = self._builtins[name] = self._builtin(name)
        return found

    def _builtin(self, name: str) -> Value:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        known = self.knowledge.function(f"builtins.{name}") is not None or name in _BUILTIN_CLASSES
        return LibV(f"builtins.{name}") if known else UNKNOWN

    def _attribute(self, node: cst.Attribute) -> Value:
        base = self.eval(node.value)
        return attributes.get_attribute(self, base, node.attr.value, node)

    def _number(self, node: cst.Integer | cst.Float | cst.Imaginary) -> Value:
        return _number(type(node), node.value)

    def _string(self, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
        if isinstance(node, cst.SimpleString):
            return _literal(node.value)
        for part in (node.left, node.right):
            if isinstance(part, cst.FormattedString | cst.ConcatenatedString):
                self.eval(part)
        return Host("str")

    def _fstring(self, node: cst.FormattedString) -> Value:
        shown: list[Value] = []
        for part in node.parts:
            if type(part) is cst.FormattedStringExpression:
                value = self.eval(part.expression)
                shown.append(value)
                if part.format_spec is not None and part.format_spec and part.conversion is None:
                    operators.formatted(self, value, part.expression, "a format spec")
                    for sub in part.format_spec:
                        if isinstance(sub, cst.FormattedStringExpression):
                            inner = self.eval(sub.expression)
                            operators.formatted(self, inner, sub.expression, "a format spec")
        return operators.text_of(*shown)

    def _tuple(self, node: cst.Tuple) -> Value:
        return self.elements(node.elements)

    def elements(self, elements: Any) -> Tup:
        """The values of the elements of a display, stars expanded."""
        out: list[Value] = []
        loose: Value | None = None
        for e in elements:
            if type(e) is cst.StarredElement:
                content = operators.iterate(self, self.eval(e.value), e.value)
                if content.items is not None and loose is None:
                    out.extend(content.items)
                else:
                    loose = content.any_item() if loose is None else join(loose, content.any_item())
            else:
                v = self.eval(e.value)
                if loose is None:
                    out.append(v)
                else:
                    loose = join(loose, v)
        if loose is None:
            return Tup(tuple(out))
        return Tup(None, join_all([*out, loose]))

    def _list(self, node: cst.List) -> Value:
        return ListV(self.elements(node.elements), node)

    def _set(self, node: cst.Set) -> Value:
        content = self.elements(node.elements)
        for e, v in zip(node.elements, content.items or (), strict=False):
            operators.hashed(self, v, e.value, "a set element")
        return SetV(content.any_item(), node, some=bool(content.items))

    def _dict(self, node: cst.Dict) -> Value:
        out = DictV(site=node)
        for e in node.elements:
            if isinstance(e, cst.StarredDictElement):
                other = self.eval(e.value)
                unknown: dict[Any, Value] = {DictV.REST: traced_leaf(other) or UNKNOWN}
                entries = other.slots if isinstance(other, DictV) else unknown
                out.slots.update(out.updated(entries))
                continue
            assert isinstance(e, cst.DictElement)
            key = self.eval(e.key)
            value = self.eval(e.value)
            operators.hashed(self, key, e.key, "a dict key")
            slot = operators.dict_key(key)
            if slot is None:
                rest = out.rest
                out.slots[DictV.REST] = value if rest is None else join(rest, value)
            else:
                out.slots[slot] = value
        return out

    def _not_or_minus(self, node: cst.UnaryOperation) -> Value:
        if isinstance(node.operator, cst.Not):
            known = self.test(node.expression, "not", node)
            return Host("bool") if known is None else Const(not known)
        value = self.eval(node.expression)
        return operators.unary(self, node, value)

    def _binary(self, node: cst.BinaryOperation) -> Value:
        left = self.eval(node.left)
        right = self.eval(node.right)
        return operators.binary(self, type(node.operator), left, right, node)

    def _boolean(self, node: cst.BooleanOperation) -> Value:
        is_and = isinstance(node.operator, cst.And)
        before = self.raised
        left, raises = self._attempt(node.left)
        self.muted += raises
        known = operators.truth(self, left, node.left, "and" if is_and else "or")
        self.muted -= raises
        if self.raised > before:
            self.muted += 1
            right = self.eval(node.right)
            self.muted -= 1
            return join(left, right)
        if known is not None:
            if known != is_and:
                return left
            self.refine(node.left, is_and)
            return self.eval(node.right)
        mark = self.trail.mark()
        self.refine(node.left, is_and)
        right = self.eval(node.right)
        changes = self.trail.changes(mark)
        self.trail.undo(mark)
        self.trail.merge([{}, changes], join)
        kept = [m for m in members(left) if operators.known_truth(m) is not is_and]
        if not kept or right == Const(not is_and) and _gives_bool(node.left):
            return right
        self.last_operand = (node, right)
        return join(left if len(kept) == len(members(left)) else join_all(kept), right)

    def _comparison(self, node: cst.Comparison) -> Value:
        left = self.eval(node.left)
        out: Value | None = None
        for i, c in enumerate(node.comparisons):
            right = self.eval(c.comparator)
            out = operators.compare(self, c.operator, left, right, node)
            if i < len(node.comparisons) - 1:
                known = operators.truth(self, out, node, "chain")
                if known is False:
                    return FALSE
            left = right
        return out if out is not None else UNKNOWN

    def _ternary(self, node: cst.IfExp) -> Value:
        known = self.test(node.test, "ternary", node)
        if known is not None:
            return self.eval(node.body if known else node.orelse)
        values: list[Value] = []

        def then() -> bool:
            self.refine(node.test, True)
            values.append(self.eval(node.body))
            return True

        def other() -> bool:
            self.refine(node.test, False)
            values.append(self.eval(node.orelse))
            return True

        loops = self.decides
        self.fork([then, other])
        self.choice = (node, node.test, values[0], values[1])
        return operators.decided_by(join(values[0], values[1]), loops)

    def _subscript(self, node: cst.Subscript) -> Value:
        base = self.eval(node.value)
        index = self.index(node)
        return operators.subscript(self, base, index, node)

    def index(self, node: cst.Subscript) -> Value:
        """The value between the brackets; a slice is a ``SliceV``."""
        parts: list[Value] = []
        for e in node.slice:
            inside = e.slice
            if type(inside) is cst.Index:
                v = self.eval(inside.value)
                if inside.star is not None:
                    parts.extend(operators.iterate(self, v, inside.value).items or (UNKNOWN,))
                else:
                    parts.append(v)
            elif type(inside) is cst.Slice:
                bounds = [self.eval(b) if b is not None else NONE for b in (inside.lower, inside.upper, inside.step)]
                parts.append(operators.SliceV(bounds[0], bounds[1], bounds[2], inside))
        if len(parts) == 1 and not (len(node.slice) == 1 and type(node.slice[0].comma) is cst.Comma):
            return parts[0]
        return Tup(tuple(parts))

    def _call(self, node: cst.Call) -> Value:
        return calls.call_node(self, node)

    def _lambda(self, node: cst.Lambda) -> Value:
        return calls.make_function(self, node)

    def _named(self, node: cst.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.assign(node.target, value, node)
        return value

    def _starred(self, node: cst.StarredElement) -> Value:
        return self.eval(node.value)

    def _await(self, node: cst.Await) -> Value:
        value = self.eval(node.expression)
        return UNKNOWN if isinstance(value, Host) else value

    def _yield(self, node: cst.Yield) -> Value:
        frame = self.frame
        open_ = any(loop.turn is None for loop in self.loops if loop.frame == frame.number)
        cut = any(breaks or continues for breaks, continues, _ in frame.loop_outs)
        frame.yields_all &= self.forks == frame.forks and not open_ and not cut
        if node.value is None:
            self.frame.yields.append(NONE)
        elif isinstance(node.value, cst.From):
            content = operators.iterate(self, self.eval(node.value.item), node.value.item)
            frame.yields_all &= content.items is not None
            frame.yields.extend(content.items if content.items is not None else [content.any_item()])
        else:
            value = self.eval(node.value)
            lifetime.keep(self, value, "returned")
            self.frame.yields.append(value)
        return UNKNOWN

    # -- comprehensions

    def generator(self, node: cst.GeneratorExp, enough: Callable[[Value], bool]) -> Value:
        """A generator that is read up to the first element of which ``enough`` is true: the rest is never made."""
        return replace(self.comprehend(node.for_in, lambda: self.eval(node.elt), enough), kind="iterator")

    def _comprehension(self, node: cst.ListComp | cst.GeneratorExp | cst.SetComp) -> Value:
        content = self.comprehend(node.for_in, lambda: self.eval(node.elt))
        if isinstance(node, cst.ListComp):
            return ListV(content, node)
        if isinstance(node, cst.SetComp):
            return SetV(content.any_item(), node)
        return replace(content, kind="iterator")

    def _dict_comp(self, node: cst.DictComp) -> Value:
        out = DictV(site=node)

        def element() -> Value:
            return Tup((self.eval(node.key), self.eval(node.value)))

        content = self.comprehend(node.for_in, element)
        pairs = content.items if content.items is not None else ((content.elem,) if content.elem is not None else ())
        for pair in pairs:
            if not isinstance(pair, Tup) or pair.items is None:
                out.slots[DictV.REST] = UNKNOWN
                continue
            key, value = pair.items
            operators.hashed(self, key, node.key, "a dict key")
            slot = operators.dict_key(key)
            slot = DictV.REST if slot is None else slot
            old = out.slots.get(slot)
            out.slots[slot] = value if old is None or slot is not DictV.REST else join(old, value)
        return out

    def comprehend(
        self, comp: cst.CompFor, element: Callable[[], Value], enough: Callable[[Value], bool] | None = None
    ) -> Tup:
        """Run a comprehension: turn by turn when the length is small and known, else once for any element."""
        iterable = self.eval(comp.iter)
        env = Env(self.frame.env, "<comprehension>")
        frame = self.frame
        outer = frame.env
        content = operators.iterate(self, iterable, comp.iter)
        loop = Loop(comp, self.unit, frame.number, None if content.items is None else len(content.items))
        if content.items is None:
            loop.trip = operators.trip_count(iterable)
        loop.traced = self.tracing
        frame.env = env
        counts = all(isinstance(item, Const) for item in content.items or ())
        turns = self._turns(content, UNROLL if counts else UNROLL_ELEMENTS)
        if turns is None:
            loop.passes = 1
            loop.since = self.time
        self.loops.append(loop)
        made = len(self.functions)
        try:
            if turns is not None and content.items is not None:
                out: list[Value] = []
                loose = False
                for turn, item in enumerate(content.items):
                    loop.turn = turn
                    loop.since = self.time
                    self._comp_assign(comp.target, operators.vary(item, loop), env, len(self.functions) > made)
                    kept = self._comp_filters(comp)
                    if kept is False:
                        continue
                    loose |= kept is None
                    if comp.inner_for_in is not None:
                        inner = self.comprehend(comp.inner_for_in, element)
                        if inner.items is not None:
                            out.extend(inner.items)
                        else:
                            loose = True
                            out.append(inner.any_item())
                    else:
                        out.append(element())
                        if enough is not None and kept and enough(out[-1]):
                            break
                if not loose:
                    return Tup(tuple(out))
                return Tup(None, join_all(out) if out else None)
            self._comp_assign(comp.target, operators.element(self, operators.any_turn(content), loop), env)
            self._comp_filters(comp)
            lengths = content.length_loops
            count = None if comp.ifs else loop.trip
            if comp.inner_for_in is not None:
                return Tup(None, self.comprehend(comp.inner_for_in, element).any_item(), length_loops=lengths)
            out_of_many = element()
            if len(self.functions) > made:
                self._comp_assign(comp.target, operators.element(self, operators.any_turn(content), loop), env, True)
            return Tup(None, out_of_many, length_loops=lengths, count=count)
        finally:
            self.loops.pop()
            frame.env = outer

    def _comp_assign(self, target: cst.BaseExpression, value: Value, env: Env, logged: bool = False) -> None:
        """Bind the variables of a comprehension; ``logged`` where a function made in it may look at them later."""
        if isinstance(target, cst.Name):
            if logged:
                self.write(env, target.value, value, target)
            else:
                self.trail.write(env, target.value, value)
        elif isinstance(target, cst.Tuple | cst.List):
            content = operators.iterate(self, value, target, count=len(target.elements))
            if (
                content.items is not None
                and len(content.items) == len(target.elements)
                and not any(isinstance(e, cst.StarredElement) for e in target.elements)
            ):
                for e, v in zip(target.elements, content.items, strict=True):
                    self._comp_assign(e.value, v, env, logged)
            else:
                each = content.any_item()
                for e in target.elements:
                    self._comp_assign(
                        e.value,
                        ListV(Tup(None, each), target) if isinstance(e, cst.StarredElement) else each,
                        env,
                        logged,
                    )

    def _comp_filters(self, comp: cst.CompFor) -> bool | None:
        result: bool | None = True
        for i in comp.ifs:
            known = self.test(i.test, "filter", comp)
            if known is False:
                return False
            if known is None:
                result = None
            self.refine(i.test, True)
        return result

    def effect(self, kind: str, what: str, node: cst.CSTNode, args: list[Value]) -> None:
        """Record a host effect, if it happens while tracing."""
        reports_error = self.handling and kind in ("log", "print")
        if self.tracing and not self.compile_time and not reports_error:
            self.emit(
                Effect(
                    node=node,
                    unit=self.unit,
                    effect=kind,
                    what=what,
                    traced=any(traced_leaf(a) is not None or getattr(a, "via", None) == "tracer" for a in args),
                )
            )


def _same(old: Changes, begun: Changes, new: Changes, loop: Loop | None) -> bool:
    """Is the state after a pass over a loop that after the one before, or that in which the pass ``begun``, where numbers
    and arrays vary? Without the loop: are its values the same ones, not only alike?"""
    if loop is None:
        return old.keys() == new.keys() and all(value is new[place][2] for place, (_, _, value) in old.items())
    before = {place: value for place, (box, _, value) in old.items() if box.birth <= loop.birth}
    after = {place: value for place, (box, _, value) in new.items() if box.birth <= loop.birth}
    return before.keys() == after.keys() and all(
        _alike(before[place], value, loop) or place in begun and _alike(begun[place][2], value, loop)
        for place, value in after.items()
    )


def _alike(one: Value | None, other: Value | None, loop: Loop, depth: int = 0) -> bool:
    """Are two values of a variable the same, in what they depend on, too? Each pass over a loop makes its own of what is
    made in it."""
    if one is other:
        return True
    if type(one) is not type(other) or one is None or other is None:
        return False
    if isinstance(one, Box):
        assert isinstance(other, Box)
        if depth > 3 or one.site is not other.site or min(one.birth, other.birth) <= loop.birth:
            return False
        slots = other.slots
        return one.slots.keys() == slots.keys() and all(_alike(v, slots[k], loop, depth + 1) for k, v in one.slots.items())
    if one != other and not isinstance(one, Tup | Union):
        return False
    if any(getattr(one, name, None) != getattr(other, name, None) for name in _DEPENDS):
        return False
    if any(_over(getattr(one, name, NO_LOOPS)) != _over(getattr(other, name, NO_LOOPS)) for name in _LOOPS):
        return False
    inside, within = _parts(one), _parts(other)
    return len(inside) == len(within) and all(map(_alike, inside, within, repeat(loop), repeat(depth + 1)))


_DEPENDS = ("via", "count", "kind")
_LOOPS = ("loops", "shape_loops", "length_loops", "decided")
"""What two values may differ in that are equal otherwise."""


def _over(loops: frozenset[Loop]) -> set[tuple[Any, ...]]:
    """What two sets of loops have in common that say the same: each pass over a loop runs those in it anew."""
    return {(x.node, x.trip, x.whole, x.fills) for x in loops}


def _parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Union):
        return value.members
    if isinstance(value, Tup):
        return value.items if value.items is not None else (UNKNOWN, value.elem or UNKNOWN)
    return ()


def _starred(module: ModuleV) -> list[tuple[str, Value]]:
    """What ``from module import *`` binds: the names in ``__all__``, where that is known, else the public ones."""
    listed = module.env.slots.get("__all__")
    content = listed.content if isinstance(listed, ListV) else listed
    items = content.items if isinstance(content, Tup) else None
    names = {i.value for i in items if isinstance(i, Const)} if items is not None else set()
    if items is None or len(names) < len(items):
        return [(name, found) for name, found in module.env.slots.items() if not name.startswith("_")]
    return [(name, found) for name, found in module.env.slots.items() if name in names]


def _fakes_jit(call: cst.Call) -> bool:
    """Chex's context managers that put plain Python in the place of jit and pmap, also where chex itself is read."""
    return last_name(call.func) in ("fake_jit", "fake_pmap", "fake_pmap_and_jit")


def _expects_error(call: cst.Call) -> bool:
    """``pytest.raises(…)``, ``self.assertRaises…(…)``: what goes wrong in there is meant to."""
    name = last_name(call.func)
    return name == "raises" or name.startswith("assertRaises")


def _given(value: Value) -> Value:
    """A value that is not None."""
    if isinstance(value, Tree):
        return replace(value, given=True)
    return GIVEN if type(value) is Unknown else value


def _gives_bool(node: cst.BaseExpression) -> bool:
    """Is the value of an expression its own truth?"""
    match node:
        case cst.BooleanOperation(left=left, right=right):
            return _gives_bool(left) and _gives_bool(right)
        case cst.UnaryOperation(operator=cst.Not()) | cst.Comparison():
            return True
        case cst.Call(func=cst.Name(value="isinstance" | "hasattr" | "callable" | "bool")):
            return True
    return False


def _is_for_main(node: cst.CSTNode) -> bool:
    """Is it ``if __name__ == "__main__":``, or a test against that? Every module is run as the script, see the value of
    ``__name__`` in :meth:`Interpreter._run_module`."""
    match node:
        case cst.If(test=cst.Comparison(left=left, comparisons=[one])):
            return "__name__" in (last_name(left), last_name(one.comparator))
    return False


def _raises_again(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> bool:
    """Does a handler end by raising, so that what it catches gets out all the same?"""
    body = handler.body.body
    last = body[-1] if body else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)


@lru_cache(maxsize=4096)
def _literal(text: str) -> Const:
    """The value of a string literal."""
    return Const(literal(text))


@lru_cache(maxsize=4096)
def _number(kind: type[cst.BaseNumber], text: str) -> Const:
    """The value of a number."""
    text = text.replace("_", "")
    if kind is cst.Float:
        return Const(float(text))
    if kind is cst.Integer:
        return Const(int(text, 0) if len(text) < 40 else 10**40)
    return Const(complex(text.lower()))


_CONSTANTS: dict[str, Value] = {"True": TRUE, "False": FALSE, "None": NONE}


_BUILTIN_CLASSES = frozenset(
    {
        "int",
        "float",
        "bool",
        "str",
        "complex",
        "list",
        "tuple",
        "dict",
        "set",
        "frozenset",
        "object",
        "type",
        "property",
        "staticmethod",
        "classmethod",
        "super",
        "slice",
        "range",
        "bytes",
        "bytearray",
        "Exception",
        "ValueError",
        "TypeError",
        "RuntimeError",
        "NotImplementedError",
        "KeyError",
        "IndexError",
        "AttributeError",
        "AssertionError",
        "NotImplemented",
        "Ellipsis",
        "__import__",
        "BaseException",
        "StopIteration",
        "ImportError",
        "OSError",
        "ArithmeticError",
        "ZeroDivisionError",
        "memoryview",
    }
)

_UNDOING = frozenset({cst.For, cst.While, cst.Try, cst.TryStar, cst.Match})
"""Statements that run their bodies from a state they may come back to."""

_VARIABLES = frozenset({cst.Name, cst.Attribute})
_EQUALITIES = frozenset({cst.Is, cst.IsNot, cst.Equal, cst.NotEqual})
_PEEKED = frozenset({cst.Name, cst.Attribute, cst.Tuple, cst.SimpleString, cst.Integer})

_STATEMENTS: dict[type[cst.CSTNode], Any] = {
    cst.SimpleStatementLine: Interpreter._simple_line,
    cst.SimpleStatementSuite: Interpreter._simple_line,
    cst.Expr: Interpreter._expr,
    cst.Assign: Interpreter._assign,
    cst.AnnAssign: Interpreter._ann_assign,
    cst.AugAssign: Interpreter._aug_assign,
    cst.If: Interpreter._if,
    cst.For: Interpreter._for,
    cst.While: Interpreter._while,
    cst.Break: Interpreter._break,
    cst.Continue: Interpreter._continue,
    cst.Return: Interpreter._return,
    cst.Raise: Interpreter._raise,
    cst.Assert: Interpreter._assert,
    cst.Try: Interpreter._try,
    cst.TryStar: Interpreter._try,
    cst.With: Interpreter._with,
    cst.FunctionDef: Interpreter._def,
    cst.ClassDef: Interpreter._class,
    cst.Import: Interpreter._import,
    cst.ImportFrom: Interpreter._import_from,
    cst.Del: Interpreter._del,
    cst.Match: Interpreter._match,
    cst.Pass: Interpreter._nothing,
    cst.Global: Interpreter._nothing,
    cst.Nonlocal: Interpreter._nothing,
}

_EXPRESSIONS: dict[type[cst.CSTNode], Any] = {
    cst.Name: Interpreter._name,
    cst.Attribute: Interpreter._attribute,
    cst.Integer: Interpreter._number,
    cst.Float: Interpreter._number,
    cst.Imaginary: Interpreter._number,
    cst.SimpleString: Interpreter._string,
    cst.ConcatenatedString: Interpreter._string,
    cst.FormattedString: Interpreter._fstring,
    cst.Tuple: Interpreter._tuple,
    cst.List: Interpreter._list,
    cst.Set: Interpreter._set,
    cst.Dict: Interpreter._dict,
    cst.UnaryOperation: Interpreter._not_or_minus,
    cst.BinaryOperation: Interpreter._binary,
    cst.BooleanOperation: Interpreter._boolean,
    cst.Comparison: Interpreter._comparison,
    cst.IfExp: Interpreter._ternary,
    cst.Subscript: Interpreter._subscript,
    cst.Call: Interpreter._call,
    cst.Lambda: Interpreter._lambda,
    cst.NamedExpr: Interpreter._named,
    cst.Await: Interpreter._await,
    cst.Yield: Interpreter._yield,
    cst.ListComp: Interpreter._comprehension,
    cst.GeneratorExp: Interpreter._comprehension,
    cst.SetComp: Interpreter._comprehension,
    cst.DictComp: Interpreter._dict_comp,
    cst.StarredElement: Interpreter._starred,
    cst.Ellipsis: lambda self, node: Const(...),
}
