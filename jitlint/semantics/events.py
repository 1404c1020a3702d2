"""What the engine tells the rules: one record per thing that happened at a node, with the values that met there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.entry import Call, Entry
from jitlint.semantics.moment import Moment
from jitlint.semantics.values import Array, Origin, Tree, Value

if TYPE_CHECKING:
    from jitlint.semantics.source import Unit


TURNS = frozenset({"scan", "while_loop", "fori_loop", "map", "associative_scan"})
"""The kinds of traces of bodies that run in turns."""


@dataclass(eq=False, slots=True, kw_only=True)
class Event:
    """Something at ``node``. ``function`` is the dotted name of the function around it; ``trace`` the traces running
    (outermost first); ``guards`` the exception names that a surrounding ``except`` in traced code catches."""

    node: cst.CSTNode
    unit: Unit
    function: str = ""
    trace: tuple[Any, ...] = ()
    guards: frozenset[str] = frozenset()
    time: int = 0
    loops: tuple[Any, ...] = ()
    frame: Any = None

    @property
    def role(self) -> str:
        """Tells apart several events of one type at one node."""
        return ""


@dataclass(eq=False, slots=True, kw_only=True)
class Fault(Event):
    """Something that JAX refuses. It is ``possible`` only where it takes one of several alternatives of a value, and
    ``tested`` where a test leads to it of which nobody knows how it comes out."""

    possible: bool = False
    tested: bool = False

    @property
    def certain(self) -> bool:
        """Is it known to happen?"""
        return not self.possible and not self.tested

    @property
    def verb(self) -> str:
        """For messages: ``raises``, or ``may raise`` when that is not certain."""
        return "raises" if self.certain else "may raise"


@dataclass(eq=False, slots=True, kw_only=True)
class TracedUse(Fault):
    """A traced value met a place that needs a concrete one."""

    value: Value
    leaf: Array | Tree
    error: str = "ConcretizationTypeError"


@dataclass(eq=False, slots=True, kw_only=True)
class TruthTest(TracedUse):
    """Python asks a traced value for its truth. ``construct``: ``if`` ``while`` ``ternary`` ``assert`` ``not``
    ``and`` ``or`` ``chain`` ``in`` ``filter`` ``match`` ``guard`` ``any`` ``all`` ``min`` ``max`` ``sorted`` ``bool``."""

    construct: str
    reached: bool = True
    """False where an earlier test of the same decision raises for certain; it would be the next one to raise."""

    @property
    def declared(self) -> bool:
        """Is it an array as far as its parameter declares, of a function that nobody calls?"""
        return isinstance(self.leaf, Array) and not self.leaf.is_traced


@dataclass(eq=False, slots=True, kw_only=True)
class NeedsConcrete(TracedUse):
    """A traced value where a static one is needed.

    ``need``: ``range`` ``repeat`` ``convert`` ``item`` ``numpy`` ``math`` ``format`` ``attribute`` ``numpy-index``
    ``shape`` ``axis`` ``size`` ``count`` ``list-index`` ``list-slice`` ``array-slice`` ``hash`` ``static``;
    ``what`` is the callee or construct as text, ``param`` the parameter that needs it."""

    need: str
    what: str
    param: str = ""

    @property
    def role(self) -> str:
        return self.need


@dataclass(eq=False, slots=True, kw_only=True)
class DynamicShape(TracedUse):
    """The size of a result depends on traced data: boolean mask indexing, ``nonzero`` without ``size`` …"""

    what: str
    unless: tuple[str, ...] = ()


@dataclass(eq=False, slots=True, kw_only=True)
class BlindTest(TracedUse):
    """A test that a tracer answers with a constant. ``how``: ``is``, ``isinstance``, ``==``, ``case``."""

    how: str
    against: str

    @property
    def answer(self) -> bool:
        """What the test is for any tracer."""
        test = self.node
        negated = cst.IsNot | cst.NotEqual | cst.NotIn
        return isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, negated)


@dataclass(eq=False, slots=True, kw_only=True)
class ItemAssignment(Fault):
    """``x[i] = v`` on a jax array (``array`` jax), or on a numpy array with a traced value or index (``numpy``)."""

    statement: cst.CSTNode
    target: cst.BaseExpression
    kind: str
    value: Value


@dataclass(eq=False, slots=True, kw_only=True)
class LostUpdate(Event):
    """The result of a pure array method is thrown away (``name`` is the array's, as written), or that of
    ``pure_callback``."""

    method: str
    name: str


@dataclass(eq=False, slots=True, kw_only=True)
class BadArgument(Fault):
    """Something that is no array was passed to a traced parameter of a jitted function."""

    entry: Entry | None
    param: str
    value: Value
    what: str
    callee: str = ""
    error: str = "TypeError"
    receiver: bool = False
    """It is the ``self`` of a jitted method."""


@dataclass(eq=False, slots=True, kw_only=True)
class ArrayWanted(Fault):
    """A list, a dict, a string or the like is given to a library function that takes arrays and numbers only, or an
    iterator to one that takes lists too.

    ``numbers``: it is a list or tuple of static numbers only; ``stacks``: its items certainly make one array.
    """

    value: Value
    found: str
    what: str
    param: str
    error: str = "TypeError"
    numbers: bool = False
    stacks: bool = False

    @property
    def role(self) -> str:
        return self.param


@dataclass(eq=False, slots=True, kw_only=True)
class BadResult(Fault):
    """A traced function returns something that is no array."""

    returned_by: str
    value: Value
    what: str


@dataclass(eq=False, slots=True, kw_only=True)
class Site(Event):
    """A jitted callable is made."""

    entry: Entry
    fresh: str = ""
    """Why the function is a new object each time (``lambda``, ``local function``, ``partial``, ``grad result``,
    ``bound method``), empty when it is the same one."""
    used: str = ""
    """``called`` at once, ``kept`` or ``""`` when not known."""


@dataclass(eq=False, slots=True, kw_only=True)
class EntryCall(Event):
    """A jitted callable is called."""

    entry: Entry
    call: Call


@dataclass(eq=False, slots=True, kw_only=True)
class StaticArgument(Fault):
    """A value reaches a static parameter. ``problem``: ``unhashable``, ``traced``; ``metadata`` for an array in the static
    field ``param`` of the pytree class ``what``; ``missing`` when a call leaves out a static parameter;
    ``index-off`` for an array where the number beside is meant
    (``what``: the number, the one meant, its parameter)."""

    entry: Entry
    param: str
    value: Value
    problem: str
    what: str

    @property
    def role(self) -> str:
        return self.problem


@dataclass(eq=False, slots=True, kw_only=True)
class StaticField(Event):
    """A pytree class keeps an array in what is static: the declared field ``name``, or something in the second result
    of its ``tree_flatten`` (``name`` as written there). ``callee`` is a jitted function that is given an instance."""

    cls: str
    name: str
    callee: str = ""


@dataclass(eq=False, slots=True, kw_only=True)
class WeakState(Event):
    """The field ``name`` of a state begins weakly typed at ``node``, and ``by`` gives the next state, where it is not."""

    cls: str
    name: str
    by: str


@dataclass(eq=False, slots=True, kw_only=True)
class MutatedStatic(Event):
    """``node`` writes to an object that ``call`` gave as static, and a later call gives it again."""

    entry: Entry
    param: str
    call: Call
    certain: bool


@dataclass(eq=False, slots=True, kw_only=True)
class BadSite(Fault):
    """A jit site that is wrong in itself. ``problem``: ``unknown-name`` ``out-of-range`` ``varargs`` ``posonly``
    ``comma`` ``not-int`` ``not-str`` ``option`` ``both`` ``overlap`` ``descriptor`` ``self`` ``generator``
    ``not-callable`` ``not-donated``; ``detail`` is what the message needs, its parts between colons."""

    entry: Entry
    problem: str
    detail: str
    raises: bool = True

    @property
    def role(self) -> str:
        return self.problem + self.detail


@dataclass(eq=False, slots=True, kw_only=True)
class Misuse(Fault):
    """A transform is given what it never takes. ``problem``: ``grad-of-int`` ``grad-of-vector`` ``predicate`` ``no-function``;
    ``detail`` is a dtype or a shape as text, or what was given."""

    what: str
    problem: str
    detail: str

    @property
    def role(self) -> str:
        return self.problem


@dataclass(eq=False, slots=True, kw_only=True)
class ControlFlow(Event):
    """``lax.scan`` and its kin called outside any trace. ``fresh`` as in :class:`Site`."""

    kind: str
    fresh: str
    bodies: tuple[Value, ...] = ()
    """The functions it was given."""
    moment: Moment = Moment()


@dataclass(eq=False, slots=True, kw_only=True)
class Effect(Event):
    """A host effect while tracing: ``print`` ``log`` ``clock`` ``random`` ``env`` ``io`` ``progress`` ``iterator``;
    ``format`` and ``no-placeholder`` for a ``jax.debug.print`` that is given its values wrongly."""

    effect: str
    what: str
    traced: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class OuterWrite(Event):
    """Traced code writes to something that was made before the trace began. ``kind``: ``global`` ``nonlocal``
    ``attribute`` ``item`` ``method`` ``cache``; ``argument``: the container is an argument of the traced function."""

    kind: str
    name: str
    leaf: Array | Tree | None
    argument: bool = False
    first: bool = False
    """The slot was empty, or None, before."""
    box: Any = None
    key: Any = None
    replaced: bool = False
    """Something else took the place of a traced value before the trace ended."""


@dataclass(eq=False, slots=True, kw_only=True)
class LeakedUse(Fault):
    """A tracer that escaped its trace is used; ``possible`` also where the function that stores it may not have run."""

    value: Value
    name: str
    """The function called at ``node`` that uses it; empty when ``node`` itself does."""
    source: Origin | None
    error: str = "UnexpectedTracerError"


@dataclass(eq=False, slots=True, kw_only=True)
class StaleRead(Event):
    """Traced code read an outer variable or attribute that changes after the trace. ``node`` is the read."""

    name: str
    kind: str
    """``global``, ``closure``, ``attribute`` (of an object that is not ``self``), ``self``, ``static`` (an attribute of
    a static argument), ``container``, ``loop`` (a variable of the loop that made the function, captured late)."""
    entry: Entry
    changed_at: cst.CSTNode
    changed_unit: Unit
    certain: bool = False
    """A later call with the same signature was seen."""
    changed_in: str = ""
    """The name of the function that changes it, empty at module level."""
    helper: bool = False
    """It is a function."""
    value: Value | None = None
    """What was read."""
    reader: str = ""
    """The name of the function whose body reads it, empty for code of a module."""


@dataclass(eq=False, slots=True, kw_only=True)
class KeyReuse(Event):
    """A PRNG key is consumed a second time. ``how``: ``again`` (at another place), ``loop`` (in each turn), ``jit`` (in each call
    of the jitted function ``entry``, which captures it), ``kept`` (in each call of a method, by the object; ``first`` is
    the second call)."""

    first: cst.CSTNode
    first_unit: Unit
    what: str
    how: str
    entry: Entry | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class DonatedUse(Fault):
    """A buffer that was donated is used. ``how``: ``read`` (by an operation), ``again`` (given to a jitted call),
    ``twice`` (given twice to the call that donates it, as parameter ``name`` the second time). It is ``possible``
    also where nobody knows whether a result takes the buffer over."""

    name: str
    how: str
    entry: Entry | None
    source: Origin | None = None
    """Where it was donated."""


@dataclass(eq=False, slots=True, kw_only=True)
class Captured(Event):
    """A traced function closes over an array of ``nbytes`` bytes, or a module with its parameters (None), which becomes
    a constant of the program."""

    name: str
    nbytes: int | None
    value: Value
    entry: Entry


@dataclass(eq=False, slots=True, kw_only=True)
class Timing(Event):
    """A clock is read that measures wrongly what lies since it was last read. ``how``: ``unfinished`` (nothing waited
    for the result of a call of ``entry``), ``first`` (the first call of ``entry``, which compiles, is measured)."""

    entry: Entry
    how: str


@dataclass(eq=False, slots=True, kw_only=True)
class Unrolled(Event):
    """A Python loop in traced code: ``iterations`` (None: unknown), ``operations`` per iteration."""

    iterations: int | None
    operations: int


@dataclass(eq=False, slots=True, kw_only=True)
class GradientCut(Event):
    """A conversion under plain grad that drops the gradient."""

    value: Value
    what: str


@dataclass(eq=False, slots=True)
class Bucket:
    """The events of one type and role at one node: a certain one first, where there is one."""

    events: list[Event] = field(default_factory=list)

    def add(self, event: Event) -> bool:
        """Add an event, unless there are many; a traced use only where it says something else than the first. True when
        it was added."""
        first = self.events[0] if self.events else None
        if len(self.events) >= (8 if isinstance(event, TracedUse) else 64):
            return False
        if isinstance(first, Fault) and isinstance(event, Fault) and event.certain and not first.certain:
            self.events.insert(0, event)
        elif not isinstance(first, TracedUse) or not isinstance(event, TracedUse) or _differs(event, first):
            self.events.append(event)
        else:
            return False
        return True


def _differs(one: TracedUse, other: TracedUse) -> bool:
    return one.value != other.value or one.trace != other.trace
