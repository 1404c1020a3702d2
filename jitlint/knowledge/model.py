"""What a row of library data says, as frozen records.

A row is a claim about one callable, class or attribute of a library. Each claim is checked by the tests against the
installed library; where nothing certain can be said, the row says ``unknown`` or leaves the field out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["positional", "either", "keyword", "args", "kwargs"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a library callable: ``kind`` says how it can be given, ``optional`` that it has a default."""

    name: str
    kind: Kind
    optional: bool


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the small languages of ``result``, ``shape``, ``dtype`` and ``weak``: ``reduce:a:axis`` is
    ``Term("reduce", ("a", "axis"))``."""

    op: str
    args: tuple[str, ...] = ()

    @property
    def arg(self) -> str:
        """The first argument; empty when there is none."""
        return self.args[0] if self.args else ""

    def __str__(self) -> str:
        return ":".join((self.op, *self.args))


UNKNOWN = Term("unknown")


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The result's shape depends on the data: ``error`` is raised under a trace unless one of ``unless`` is passed.

    ``of`` are the parameters whose traced value decides it; empty means every array argument.
    """

    error: str
    unless: tuple[str, ...] = ()
    of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """What a library callable takes and gives. ``name`` is its canonical dotted name.

    ``documented`` is False for a name that has no row and was answered from the library's default.
    """

    name: str
    params: tuple[Parameter, ...] | None = None
    """In order; None when the signature is not fixed (bind nothing by name then)."""
    result: Term = UNKNOWN
    """``array``, ``static``, ``host_array``, ``none``, ``unknown``, ``arg:NAME`` (that argument itself),
    ``kept:NAME`` (that argument itself if it is a jax array of the dtype asked for, else a new array), ``tuple:N``
    (N arrays; without N as many as the data says), ``list`` (a list of arrays), ``each:NAME`` (an array for one
    argument in ``*NAME``, a list of arrays for more), ``tree:NAME`` (arrays in the structure of that argument),
    ``summed:NAME`` (the same, but a Python number gives a Python number), ``key``, ``instance:CLASS`` (a new object of
    that class), ``instances:CLASS`` (a list of such), ``function`` (a callable), ``operator`` (as a Python operator on
    the same operands). Of a host function it is what arguments known while tracing give; see ``on_traced`` for the
    rest."""
    type: str | None = None
    """Of a static or host result: ``int``, ``float``, ``bool``, ``str``, ``tuple``, ``dtype``, …; of a ``tuple:N``
    result nothing."""
    more: Mapping[str, int] = field(default_factory=dict)
    """Flags that, when true, make the result a tuple with that many further elements (``return_index`` 1)."""
    fewer: Mapping[str, int] = field(default_factory=dict)
    """Flags, true by default, that take that many elements off the result when false (``compute_uv`` 2), or settings
    that do (``mode=r`` 1); one element left is no tuple."""
    concrete: Mapping[str, str] = field(default_factory=dict)
    """Parameters that must be known while tracing, with the class of the error JAX raises for a traced value."""
    items: Mapping[str, str] = field(default_factory=dict)
    """The same for a traced element inside a tuple or list given to the parameter, where the class differs from
    ``concrete`` (``works`` where it is fine)."""
    lifted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameters of ``concrete`` that may be traced once one of these others is passed."""
    arrays: frozenset[str] = frozenset()
    """Parameters that take arrays and numbers only: a list, a tuple or a dict there raises ``TypeError``."""
    sized: Mapping[str, str] = field(default_factory=dict)
    """Parameters that take arrays or lists but no iterators, with the class of the error that one raises."""
    need: Mapping[str, str] = field(default_factory=dict)
    """What a parameter of ``concrete`` is, for messages: shape, axis, size, count, bins (a count, or
    their edges), index, dtype, flag."""
    dynamic: Dynamic | None = None
    shape: Term | None = None
    """How the result's shape follows: ``like:a``; ``like:a:n`` (of the rank given as parameter ``n`` at least);
    ``broadcast`` (of all array arguments, or ``broadcast:a:b`` of those);
    ``arg:p`` or ``arg:p:REST`` (the shape given as parameter ``p``; REST when it is not given); ``args:p``
    (the shape given as ``*p``, or as one tuple); ``scalar``; ``reduce:a:axis`` (over all without an axis;
    ``keepdims`` heeded); ``concat:arrays:axis``; ``vstack:tup``; ``hstack:tup``; ``append:arr:values``;
    ``stack:arrays:axis``; ``pad:array:pad_width``; ``matmul:a:b``; ``dot:a:b``;
    ``transpose:a:axes``; ``swap:a`` (last two axes); ``expand:a:axis``; ``squeeze:a:axis``; ``shuffled:a`` (``a`` long
    where it is a number, else like ``a``); ``matrix:N:M`` (N rows, M columns, N when M is not given); ``vector:n``;
    ``keys:num`` (a batch of keys); ``arange``; ``linspace``; ``rank:N`` (only the rank is known)."""
    dtype: Term | None = None
    """How the result's dtype follows: ``float`` (float32, or float64 under x64), ``int``, ``bool``, ``complex``, an
    exact name such as ``uint8``; ``like:a``; ``promote`` (of all array and number arguments that need not be
    concrete, or ``promote:a:b`` of those); ``inexact`` (promoted, and ints and bools become float); ``total:a`` (like
    ``a``, small ints and bools widened); ``real:REST`` (as REST says, complex made real); ``arg:p`` or ``arg:p:REST``
    (the dtype given as parameter ``p``; REST when it is not given)."""
    weak: Term | None = None
    """Whether the result is weakly typed: ``never``; ``always``; ``like:a`` (``value:a``: the same of a number);
    ``drawn:a`` (strong for a Python number ``a``, which stands for its range, else like ``a``);
    ``promote`` (when every operand is, ``promote:a:b`` of those); ``inexact:a`` (like ``a`` for floats; nothing is
    claimed for ints). A dtype given as in ``dtype = "arg:p"`` makes the result strong. Python numbers are weak, bools
    and lists are not."""
    on_traced: Term | None = None
    """For host libraries, what a traced argument does: ``works`` (the result is traced), ``raises:CLASS``, ``static``
    (the result is known all the same), ``stores`` (the value is kept, nothing is asked of it)."""
    on_traced_items: Term | None = None
    """The same for a list or tuple that holds traced values, where it differs."""
    truth: str | None = None
    """Which truth it asks for: ``value`` (of its argument), ``items`` (of each item of its argument),
    ``comparisons`` (of comparisons between two or more items or arguments), ``predicate`` (of what the function given
    says of each item, of the item itself for None)."""
    effect: str | None = None
    """A host effect: print, log, clock, random, env, io, progress."""
    transform: str | None = None
    """The name under which the engine handles a transform or control-flow primitive."""
    key: str | None = None
    """PRNG: ``consumes``, ``derives`` or ``makes`` a key."""
    registers: str | None = None
    """For class decorators: what it makes of the class: ``pytree``, ``dataclass``, …"""
    static_field: tuple[str, bool] | None = None
    """For functions that declare a dataclass field: (keyword, value) that make the field static, not a leaf."""
    removed: str | None = None
    """The first version of the library that no longer has it."""
    documented: bool = True
    """False when there is no row and the library's default answers."""

    def parameter(self, position: int) -> Parameter | None:
        """The parameter that the positional argument at ``position`` (from 0) is given to, or None."""
        if self.params is None:
            return None
        for at, param in enumerate(self.params):
            if param.kind == "args":
                return param
            if param.kind not in ("positional", "either"):
                return None
            if at == position:
                return param
        return None

    def keyword(self, name: str) -> Parameter | None:
        """The parameter that the keyword argument ``name`` is given to, or None."""
        rest = None
        for param in self.params or ():
            if param.kind == "kwargs":
                rest = param
            elif param.name == name and param.kind in ("either", "keyword"):
                return param
        return rest

    def must_be_concrete(self, parameter: str, given: Iterable[str]) -> str | None:
        """The error class for a traced value of ``parameter``, when the parameters ``given`` are passed; else None."""
        error = self.concrete.get(parameter)
        if error is not None and parameter in self.lifted and not set(given).isdisjoint(self.lifted[parameter]):
            return None
        return error


@dataclass(frozen=True, slots=True)
class AttributeModel:
    """A plain attribute of a value: ``result`` as in :class:`FunctionModel`, or ``raises`` for a traced value."""

    name: str
    result: Term = UNKNOWN
    type: str | None = None
    raises: str | None = None
    """The class of the error for a traced value (the attribute exists on concrete ones)."""
    conversion: bool = False
    """Asks for the value itself, as ``int(x)`` would."""
    shape: Term | None = None
    dtype: Term | None = None
    weak: Term | None = None


@dataclass(frozen=True, slots=True)
class MethodModel:
    """A method of a value: its call as a :class:`FunctionModel` without ``self``, and what tracers make of it."""

    call: FunctionModel
    raises: str | None = None
    """The class of the error for a traced receiver (the method exists on concrete ones)."""
    conversion: bool = False
    """Asks for the value itself, as ``int(x)`` would."""
    host: Term | None = None
    """What a concrete jax array gives, where that differs from ``call.result``."""
    host_type: str | None = None
    like: str | None = None
    """The dotted function that it does the same as, with the receiver as first argument."""


@dataclass(frozen=True, slots=True)
class ClassModel:
    """A class of a library, as base class, annotation or constructor.

    ``kind``: ``pytree`` (instances are containers of leaves), ``linen``, ``nnx``, ``haiku`` (modules), ``array``,
    ``scalar`` (array or Python scalar), ``key``, ``tree`` (any pytree), ``static`` (marks a static field or
    parameter), ``dtype``, ``object`` (not a pytree), ``optimizer``, ``error``.
    """

    name: str
    kind: str
    fields: tuple[str, ...] = ()
    """Names of its fields, in order, where they are fixed."""
    static: tuple[str, ...] = field(default=())
    """Fields that are static, not leaves."""
    decorator: str | None = None
    """The decorator that subclassing it amounts to (``dataclass``: a frozen one, whose fields are read from
    annotations)."""
    transparent: bool = False
    """As an annotation ``Name[inner]``: what matters is ``inner``."""
    dtype: str | None = None
    """Of an array annotation: ``float``, ``int``, ``bool``, ``complex`` or an exact name."""
    traced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Methods of subclasses (or functions given as fields) that run while tracing, as a rule, each with those of its
    parameters that are arrays (``*NAME``: trees of them)."""
    carried: Mapping[str, str] = field(default_factory=dict)
    """Of those, one that makes a state, and the one that is given it in a parameter ``state`` and gives the next."""
    source: str | None = None
    """Python code that defines the class, as far as its behaviour matters; it is run in place of the class."""
