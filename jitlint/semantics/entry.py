"""Entry points: a jitted callable, its parameters, and every call of it that the program makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.moment import Moment

if TYPE_CHECKING:
    from jitlint.semantics.source import Unit
    from jitlint.semantics.state import Box, Read
    from jitlint.semantics.values import Func, Value


STATIC_BY_ANNOTATION = "static by annotation"
"""Stands among the options of a jit that finds its static parameters by their annotations."""
CARRIES_OUT = "carries out"
"""Stands among the options of a jit that changes the modules it was given as its function changes their copies."""


@dataclass(eq=False, slots=True)
class Root:
    """A parameter of a jitted function, as the place where traced values begin."""

    entry: Entry
    name: str
    demands: set[str] = field(default_factory=set)
    """What the body asks of it that no array gives, see :mod:`~jitlint.semantics.demands`."""
    passed: list[tuple[Value, cst.CSTNode | None]] = field(default_factory=list)
    """What calls gave for it, with the node of the argument."""
    leaf: str = ""
    """Path inside the argument when it is a container (``["w"]``, ``[0]``, ``.x``): no static argument can reach it."""


@dataclass(slots=True)
class Param:
    """A parameter of a function: ``kind`` is ``posonly``, ``pos``, ``kwonly``, ``args`` or ``kwargs``."""

    name: str
    kind: str
    has_default: bool = False
    annotation: cst.BaseExpression | None = None
    default: Value | None = None


@dataclass(eq=False, slots=True)
class Call:
    """One call of an entry: its arguments by parameter, the spelling, and where in which loops it stands."""

    node: cst.CSTNode
    unit: Unit
    bound: dict[str, Value]
    nodes: dict[str, cst.CSTNode]
    spelling: tuple[tuple[str, str], ...]
    """For each passed parameter, ``pos`` or ``kw``, in the order of the parameters."""
    time: int
    loops: tuple[Any, ...] = ()
    traced: bool = False
    """Made while an outer trace runs."""
    frame: Any = None
    moment: Moment = Moment()
    inside: bool = False
    """The function that made the jitted callable is still running."""
    jitted: bool = False
    """An outer jit is being traced, not only ``vmap`` or ``scan``."""
    key: dict[Any, Any] = field(default_factory=dict)
    """The parts of the cache key, as they are at the time of the call."""
    signature: int | None = None
    """The number of its signature among those of the entry (None: not known)."""


@dataclass(eq=False, slots=True)
class Entry:
    """A jit site and what is known of it."""

    kind: str
    """``jit``, ``pmap``, ``filter_jit`` …"""
    func: Value
    node: cst.CSTNode
    """The decorator's expression, or the call ``jax.jit(…)``."""
    unit: Unit
    form: str
    """``decorator`` (the expression stands as a decorator) or ``call``."""
    name: str = "?"
    static_names: tuple[str, ...] | None = None
    static_nums: tuple[int, ...] | None = None
    donate_names: tuple[str, ...] = ()
    donate_nums: tuple[int, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)
    option_nodes: dict[str, cst.CSTNode] = field(default_factory=dict)
    opaque: bool = False
    """Some option could not be read: what is static is not known."""
    params: tuple[Param, ...] | None = None
    target: Func | None = None
    """The function of the project that is traced in the end (under grad, vmap, partial …)."""
    statics: frozenset[str] = frozenset()
    calls: list[Call] = field(default_factory=list)
    roots: dict[str, Root] = field(default_factory=dict)
    loops: tuple[Any, ...] = ()
    frame: Any = None
    traced: bool = False
    """Made while an outer trace runs."""
    moment: Moment = Moment()
    kept: str = ""
    """How it outlives the code that made it: ``returned``, ``attribute``, ``item``, ``global``, ``argument``."""
    held: bool = False
    """What it is kept in is itself returned or stored."""
    time: int = 0
    cache: dict[Any, Value] = field(default_factory=dict)
    made_under: Any = None
    """The function that nobody in the project calls, under which it was made (None: the module's own run)."""
    signatures: dict[Any, int] = field(default_factory=dict)
    """The signatures it was traced with, numbered."""
    results: dict[int, Value] = field(default_factory=dict)
    """What it gave for each signature, when last traced."""
    reads: dict[tuple[int, Any, int | None], Read] = field(default_factory=dict)
    """Outer slots read while tracing, by (id of box, key, signature): the first read of each."""
    returned: dict[int, Box] = field(default_factory=dict)
    """Containers and objects that it returned, by id."""
    returns_unknown: bool = False
    """Part of what it returned is not known."""
    alternative: bool = False
    """One of several functions that may be given to that ``jit``."""
    cut_short: bool = False
    """What made it was not run to its end, so that calls of it may not have been seen."""
    probed: bool = False
    """True when no call was found and it was analysed with arguments made up from its signature."""
    cleared: list[int] = field(default_factory=list)
    """When its cache was thrown away by the program."""
    metadata: dict[str, list[Value]] = field(default_factory=dict)
    """Arrays met in static fields of arguments, by field: each is compared with those before it."""

    @property
    def both_given(self) -> bool:
        """Both static_argnums and static_argnames are given, so that neither is inferred from the other."""
        return self.static_nums is not None and self.static_names is not None

    def spelt_against(self) -> bool:
        """Does some call pass a static parameter by keyword that is static by number only, or the reverse?"""
        positional = [p.name for p in self.params or () if p.kind in ("pos", "posonly")]
        by_num = {positional[n] for n in self.static_nums or () if -len(positional) <= n < len(positional)}
        by_name = set(self.static_names or ())
        wrong = {*((n, "kw") for n in by_num - by_name), *((n, "pos") for n in by_name - by_num)}
        return any(not wrong.isdisjoint(call.spelling) for call in self.calls)

    def root(self, name: str) -> Root:
        """The root of a parameter, made on first use."""
        found = self.roots.get(name)
        if found is None:
            found = self.roots[name] = Root(self, name)
        return found

    def param(self, name: str) -> Param | None:
        """The parameter of that name."""
        return next((p for p in self.params or () if p.name == name), None)
