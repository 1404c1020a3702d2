"""Abstract values: what a Python expression may be while the program runs or is traced.

The lattice of binding times lives here. A value is *static* (``Const``, ``Host``, numpy arrays, functions, classes),
a *jax array* (``Array`` with a :class:`Level`), a container with known structure, ``Tree`` (traced leaves, structure
unknown), a ``Union`` of a few alternatives, or ``Unknown``. Unknown is never traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics.moment import Moment
from jitlint.semantics.records import record, replace
from jitlint.semantics.state import Box

if TYPE_CHECKING:
    from jitlint.project.model import Module
    from jitlint.semantics.entry import Entry, Root
    from jitlint.semantics.source import Unit

MAX_UNION = 6
JOINED = 500
"""How many values are joined at a time, those in containers included: registries hold more."""
MAX_DEPTH = 8


class Level(IntEnum):
    """How concrete an array is."""

    NUMPY = 0
    """A numpy array or scalar: host data."""
    HOST = 1
    """A concrete jax array, outside any trace (or made at compile time)."""
    LINEAR = 2
    """A tracer of plain grad/jvp: has a concrete value, but int(), float(), np.* go wrong."""
    TRACED = 3
    """An abstract tracer: only shape, dtype and weak type are known."""


class Value:
    """Base of all abstract values."""

    __slots__ = ()


@record(frozen=True, slots=True)
class Origin:
    """One step of how a value came to be traced, and the step before it."""

    what: str
    node: cst.CSTNode
    unit: Unit
    before: Origin | None = None

    def chain(self) -> list[Origin]:
        """The steps, first to last."""
        out: list[Origin] = []
        step: Origin | None = self
        while step is not None:
            out.append(step)
            step = step.before
        out.reverse()
        return out


ZERO_D = "0-d array"
"""``via`` of a numpy array without axes, which, unlike a scalar of numpy, has no hash."""
DONATED = "donated"
MAYBE_DONATED = "maybe donated"
DECLARED = "declared"
"""``via`` of an array that is given or not: its parameter says so, and nothing tells who gives it. The site of a
container that an annotation speaks of."""
GONE = frozenset({"leaked", DONATED, MAYBE_DONATED})
"""Values of ``via`` that say that an array cannot be used any more."""

KEY = "key:"
"""How a value of ``via`` begins that names a PRNG key."""

NO_LOOPS: frozenset[Any] = frozenset()
_NO_MOMENT = Moment()


@record(frozen=True, slots=True)
class Unknown(Value):
    """Nothing is known; never gives a finding."""


UNKNOWN = Unknown()


@record(frozen=True, slots=True)
class Given(Unknown):
    """Nothing is known, but that a test found it not to be None, or even to be true."""

    true: bool = False


GIVEN = Given()
TRUTHY = Given(true=True)


@record(frozen=True, slots=True)
class Falsy(Unknown):
    """Nothing is known, but that a test found it to be false, empty or None."""


FALSY = Falsy()


@record(frozen=True, slots=True)
class Held(Unknown):
    """Nothing is known, but that it is a container of arrays that a library has made, as variables of nnx are."""


HELD = Held()


@record(frozen=True, slots=True)
class Gone(Unknown):
    """Nothing is known, but that it was given to a call that donates it."""

    origin: Origin


_EXACT = frozenset({bool, int, str, bytes, type(None)})
"""The types of constants that are equal only where they are written alike, which 0.0 and -0.0 are not."""


@record(frozen=True, slots=True)
class Const(Value):
    """A Python constant: None, bool, int, float, complex, str, bytes or Ellipsis."""

    value: Any
    loops: frozenset[Any] = field(default=NO_LOOPS, compare=False)
    """Loops over whose iterations it changes."""
    via: str | None = field(default=None, compare=False)
    """What it derives from, where that matters: ``shape``, ``clock``, ``random``, ``env``."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return False
        one, two = self.value, other.value
        if one is two:
            return True
        kind = type(one)
        if kind is not type(two):
            return False
        return bool(one == two) if kind in _EXACT else repr(one) == repr(two)

    def __hash__(self) -> int:
        value = self.value
        kind = type(value)
        return hash((kind, value if kind in _EXACT else repr(value)))


NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)


@record(frozen=True, slots=True)
class Host(Value):
    """A static host value of a known type (``int``, ``bool``, ``str``, ``dtype``, ``object`` …), value unknown."""

    type: str = "object"
    loops: frozenset[Any] = field(default=NO_LOOPS, compare=False)
    via: str | None = field(default=None, compare=False)


@record(frozen=True, slots=True)
class TracerType(Host):
    """``type(x)`` of a traced ``x``."""

    of: Value | None = field(default=None, compare=False)


@record(frozen=True, slots=True)
class DtypeOf(Host):
    """The dtype of an array, of which at least the kind is known; ``name`` is as in :class:`Array`."""

    name: str = ""


@record(frozen=True, slots=True)
class Steps(Host):
    """A number that is known in each turn of a loop: its index, and what is computed from it."""

    values: tuple[Any, ...] = ()


MOST_STEPS = 4096


def stepwise(f: Callable[..., Any], *operands: Value) -> Value | None:
    """``f`` of numbers of which some are known in each turn of one loop; None where that cannot be told."""
    steps = [v for v in operands if isinstance(v, Steps)]
    if not steps or not all(isinstance(v, Steps | Const) for v in operands):
        return None
    if len({(len(s.values), s.loops) for s in steps}) > 1:
        return None
    turns = len(steps[0].values)
    columns = [
        v.values if isinstance(v, Steps) else (v.value,) * turns for v in operands if isinstance(v, Steps | Const)
    ]
    try:
        out = tuple(f(*row) for row in zip(*columns, strict=True))
    except Exception:
        return None
    kinds = {type(x) for x in out}
    kind = _PY.get(kinds.pop()) if len(kinds) == 1 else None
    if kind not in ("bool", "int", "float"):
        return None
    via = next((v.via for v in operands if isinstance(v, Steps | Const) and v.via), None)
    return Steps(kind, steps[0].loops, via, out)


Shape = tuple["int | None", ...]


@record(frozen=True, slots=True)
class Array(Value):
    """A numpy or jax array, concrete or traced.

    ``dtype`` is a kind (``float`` ``int`` ``bool`` ``complex`` ``key``) or a full name, or None; ``shape`` None when
    even the rank is unknown. ``python`` names the Python scalar type that the traced value would have if its roots
    were static (a flag, a count); any jnp operation clears it. ``maybe`` says that only some caller may trace it,
    or, of a concrete one, that it is an array only as far as a class declares.
    """

    level: Level
    dtype: str | None = None
    shape: Shape | None = None
    weak: bool | None = None
    python: str | None = None
    roots: frozenset[Root] = frozenset()
    maybe: bool = False
    origin: Origin | None = field(default=None, compare=False)
    loops: frozenset[Any] = field(default=NO_LOOPS, compare=False)
    via: str | None = field(default=None, compare=False)
    shape_loops: frozenset[Any] = field(default=NO_LOOPS, compare=False)
    """Loops over whose iterations the shape changes."""

    @property
    def is_traced(self) -> bool:
        return self.level is Level.TRACED

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)


@record(frozen=True, slots=True)
class Tree(Value):
    """Traced leaves in a structure that is not known: an array, a pytree or None (not None where it is ``given``)."""

    roots: frozenset[Root] = frozenset()
    origin: Origin | None = field(default=None, compare=False)
    maybe: bool = False
    given: bool = False


@record(frozen=True, slots=True)
class Tup(Value):
    """A tuple. ``items`` when the length is known, else ``elem`` for every element.

    Also the content of lists, and what iterators yield.
    """

    items: tuple[Value, ...] | None = None
    elem: Value | None = None
    kind: str = "tuple"
    length_loops: frozenset[Any] = field(default=NO_LOOPS, compare=False)
    count: int | None = field(default=None, compare=False)
    """The length, where it is known and the items are not told apart."""

    def any_item(self) -> Value:
        """The join of all elements; Unknown when there is none."""
        if self.items is not None:
            return join_all(self.items) if self.items else UNKNOWN
        return self.elem if self.elem is not None else UNKNOWN


class ListV(Box, Value):
    """A Python list (or deque): its content is one slot, a ``Tup``. ``most`` is the ``maxlen`` of a deque."""

    __slots__ = ("kind", "most")

    def __init__(self, content: Tup, site: Any = None, kind: str = "list", most: int | None = None) -> None:
        super().__init__(site)
        self.slots["content"] = content
        self.kind = kind
        self.most = most

    @property
    def content(self) -> Tup:
        content = self.slots["content"]
        assert isinstance(content, Tup)
        return content


class DictV(Box, Value):
    """A dict: a slot per known constant key, ``rest`` for the values under other keys (None: there are none).

    ``grown``: the loops each turn of which adds a key.
    """

    __slots__ = ("grown", "kind")

    REST = object()

    def __init__(
        self,
        entries: Mapping[Any, Value] | None = None,
        rest: Value | None = None,
        site: Any = None,
        kind: str = "dict",
    ) -> None:
        super().__init__(site)
        self.slots.update(entries or {})
        if rest is not None:
            self.slots[DictV.REST] = rest
        self.kind = kind
        self.grown: frozenset[Any] = NO_LOOPS

    @property
    def rest(self) -> Value | None:
        return self.slots.get(DictV.REST)

    def updated(self, entries: Mapping[Any, Value]) -> dict[Any, Value]:
        """What its slots are after an update with these, of which those at ``REST`` may be at any key."""
        rest = entries.get(DictV.REST)
        if rest is None:
            return {**self.slots, **entries}
        slots = {k: join(v, rest) for k, v in self.slots.items()}
        return {**slots, **entries, DictV.REST: slots.get(DictV.REST, rest)}

    def entries(self) -> dict[Any, Value]:
        """Values by constant key."""
        return {k: v for k, v in self.slots.items() if k is not DictV.REST}

    def any_value(self) -> Value:
        """The join of all values; Unknown when there is none, and where they hold so much that what they have in common
        is not worth the time."""
        size = sum(len(v.slots) if isinstance(v, Box) else 1 for v in self.slots.values())
        return join_all(self.slots.values()) if self.slots and size <= JOINED else UNKNOWN


class SetV(Box, Value):
    """A set or frozenset: one slot for any element (absent when empty). ``some``: it surely has an element."""

    __slots__ = ("kind", "some")

    def __init__(self, elem: Value | None = None, site: Any = None, kind: str = "set", some: bool = False) -> None:
        super().__init__(site)
        self.kind = kind
        self.some = some
        if elem is not None:
            self.slots["elem"] = elem


class Env(Box):
    """A scope: names to values. ``parent`` is the next scope that name lookup goes to."""

    __slots__ = ("captured", "name", "parent")

    def __init__(self, parent: Env | None, name: str) -> None:
        super().__init__(None)
        self.parent = parent
        self.name = name
        self.captured = False
        """A function or class made in it refers to it."""


class Narrowed(Env):
    """What the tests around a function say of variables of the scope that makes it, where nothing binds them again."""

    __slots__ = ()


class ModuleV(Box, Value):
    """A module of the project; its slots are its globals."""

    __slots__ = ("env", "module", "state")

    def __init__(self, module: Module) -> None:
        super().__init__(None)
        self.module = module
        self.env = Env(None, module.name)
        self.state = "new"


@record(frozen=True, slots=True)
class LibV(Value):
    """A module, function or class of a library, by its dotted name."""

    name: str


@dataclass(eq=False, slots=True)
class Func(Value):
    """A function or lambda of the project. Compared by identity, as JAX does."""

    name: str
    qualname: str
    env: Env
    unit: Unit
    lazy: Any
    """A FunctionDef or Lambda node."""
    defaults: dict[str, Value] = field(default_factory=dict)
    owner: ClassV | None = None
    """The class whose body defines it."""
    loops: frozenset[Any] = NO_LOOPS
    """Loops in whose body it is made."""
    frame: Any = None
    """The call in which it is made (None: at module level)."""
    attrs: dict[str, Value] = field(default_factory=dict)
    birth: int = 0
    flavour: str = ""
    """``static``, ``class`` or ``property`` for methods so decorated; ``lru_cache``, ``contextmanager``."""
    configured: bool = False
    """The defaults of its parameters are replaced by settings from elsewhere."""
    rewrapped: bool = False
    """A decorator that is not followed may have made another function of it, such as a jitted one."""
    moment: Moment = Moment()
    """When it was made, as far as the run of the program tells."""

    @property
    def made_in(self) -> int | None:
        """The number of the frame in which it is made (None: at module level)."""
        number: int | None = None if self.frame is None else self.frame.number
        return number

    @property
    def node(self) -> cst.FunctionDef | cst.Lambda:
        node: cst.FunctionDef | cst.Lambda = self.lazy
        return node

    @property
    def first_row(self) -> int:
        """The row of its first decorator, or of its ``def`` or ``lambda``."""
        node = self.node
        decorators = node.decorators if isinstance(node, cst.FunctionDef) else ()
        return min(self.unit.span(each).row for each in (*decorators, node))


@record(frozen=True, slots=True)
class Bound(Value):
    """A bound method: ``func`` called with ``self`` in front."""

    func: Value
    self: Value


@dataclass(eq=False, slots=True)
class Partial(Value):
    """``functools.partial(func, *args, **kwargs)``; a new object each time it is made."""

    func: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    node: cst.CSTNode | None = None
    loops: frozenset[Any] = NO_LOOPS
    made_in: int | None = None
    """The number of the frame in which it is made (None: at module level)."""
    birth: int = 0
    moment: Moment = Moment()
    rest: Value | None = None
    """More positional arguments, of which it is not known how many (``*args``)."""
    more: Value | None = None
    """More keyword arguments, of which it is not known which (``**kwargs``)."""


@dataclass(eq=False, slots=True)
class Wrapped(Value):
    """The result of a jax transform other than jit (``grad``, ``vmap``, ``checkpoint`` …) applied to ``func``."""

    kind: str
    func: Value
    options: dict[str, Value]
    node: cst.CSTNode | None = None
    loops: frozenset[Any] = NO_LOOPS
    made_in: int | None = None
    """The number of the frame in which it is made (None: at module level)."""
    birth: int = 0
    moment: Moment = Moment()


@dataclass(eq=False, slots=True)
class Jitted(Value):
    """A jitted callable; what is known of it is in its :class:`~jitlint.semantics.entry.Entry`."""

    entry: Entry
    attrs: dict[str, Value] = field(default_factory=dict)


class ClassV(Box, Value):
    """A class of the project; its slots are its namespace."""

    __slots__ = (
        *("_line", "_mro", "_special", "_version"),
        *("bases", "env", "facts", "loops", "made_in", "name", "node", "qualname", "unit"),
    )

    rewritten = 0
    """How often the attributes changed of a class whose :meth:`special_names` somebody has asked for."""

    def __init__(
        self, name: str, qualname: str, node: cst.ClassDef, unit: Unit, env: Env, bases: tuple[Value, ...]
    ) -> None:
        self._special: frozenset[str] | None = None
        super().__init__(node)
        self.name = name
        self.qualname = qualname
        self.node = node
        self.unit = unit
        self.env = env
        self.bases = bases
        self.facts = ClassFacts()
        self.made_in: int | None = None
        """The number of the frame in which it is made (None: at module level)."""
        self.loops: frozenset[Any] = NO_LOOPS
        found = {id(c): c for base in bases for c in (base.mro() if isinstance(base, ClassV) else (base,))}
        self._mro: tuple[Value, ...] = (self, *found.values())
        self._line = tuple(c for c in self._mro if isinstance(c, ClassV))

    @property
    def version(self) -> int:
        return self._version

    @version.setter
    def version(self, version: int) -> None:
        self._version = version
        if self._special is not None:
            self._special = None
            ClassV.rewritten += 1

    def mro(self) -> tuple[Value, ...]:
        """The class and its bases, nearest first (depth first, each once)."""
        return self._mro

    def take_apart(self) -> None:
        """Let go of the namespace and the bases; nothing can be asked of the class any more."""
        self.slots.clear()
        self._mro = self._line = ()

    def lookup(self, name: str) -> Value | None:
        """The attribute found along the bases of the project, or None."""
        for c in self._line:
            if name in c.slots:
                return c.slots[name]
        return None

    def all_named(self, name: str) -> list[Value]:
        """The attributes of that name along the bases of the project, nearest first."""
        return [c.slots[name] for c in self._line if name in c.slots]

    def special_names(self) -> frozenset[str]:
        """The names of its own attributes that begin with two underscores."""
        if self._special is None:
            self._special = frozenset(k for k in self.slots if isinstance(k, str) and k.startswith("__"))
        return self._special

    def annotation_of(self, field: str) -> cst.Name | None:
        """The name in the body of the class that declares a field with its type."""
        for s in self.node.body.body:
            for small in s.body if isinstance(s, cst.SimpleStatementLine) else ():
                target = small.target if isinstance(small, cst.AnnAssign) else None
                if isinstance(target, cst.Name) and target.value == field:
                    return target
        return None

    def opaque(self) -> bool:
        """True when some base is not of the project (attributes may come from there)."""
        return len(self._mro) > len(self._line) and any(
            not isinstance(c, ClassV) and c != LibV("builtins.object") for c in self._mro
        )


@dataclass(slots=True)
class ClassFacts:
    """What decorators and bases say of a class."""

    pytree: bool = False
    """Its instances are pytrees: passing one to a jitted function traces its leaves."""
    static_fields: frozenset[str] = frozenset()
    """Fields that stay Python values in the pytree."""
    data_fields: frozenset[str] | None = None
    """With a registration by names: the fields that are leaves (None: all that are not static)."""
    namedtuple: bool = False
    dataclass: bool = False
    frozen: bool = False
    eq: bool = True
    hashed: bool = False
    """A dataclass with ``unsafe_hash=True``."""
    enum: bool = False
    integral: bool = False
    """Its instances are ints, as the members of an ``IntEnum`` are."""
    module: str | None = None
    """``linen``, ``nnx``, ``haiku`` or ``equinox`` for modules of those libraries."""
    metaclass: bool = False
    """It has a metaclass of its own, which can do anything to it."""
    fields: tuple[str, ...] = ()
    custom_flatten: bool = False
    flattened: frozenset[str] = frozenset()
    """The fields that a hand-written flatten function is seen to give as leaves; others may be made by unflatten."""
    opaque: bool = False
    """Some decorator is not understood: what it makes of the class is not known."""
    configured: bool = False
    """The defaults of its fields are replaced by settings from elsewhere."""


class Obj(Box, Value):
    """An instance of a class; its slots are its attributes. ``open``: attributes not listed may exist."""

    __slots__ = ("cls", "loops", "made_in", "moment", "open", "several")

    def __init__(self, cls: ClassV | LibV, site: Any = None, open_: bool = False) -> None:
        super().__init__(site)
        self.cls = cls
        self.open = open_
        self.loops: frozenset[Any] = NO_LOOPS
        self.made_in: int | None = None
        """The number of the frame in which the program makes it."""
        self.moment = _NO_MOMENT
        self.several = False
        """It stands for one of several instances."""

    @property
    def project_class(self) -> ClassV | None:
        return self.cls if isinstance(self.cls, ClassV) else None


def is_data(value: Obj, name: Any, field: Value) -> bool:
    """Does the field of a pytree instance hold leaves? Modules of nnx keep Python values static."""
    cls = value.project_class
    if cls is None or not isinstance(name, str) or name in cls.facts.static_fields:
        return False
    if cls.facts.module == "nnx" and (isinstance(field, Func | Bound | LibV) or is_plain(field)):
        return False
    if cls.facts.data_fields is not None:
        return name in cls.facts.data_fields
    return not only_fields(cls) or name in cls.facts.fields


def is_plain(value: Value) -> bool:
    """Is it no array, or nothing that is known to be one? Modules of nnx keep that as it is."""
    return isinstance(value, Const | Host | Unknown) and not isinstance(value, Held)


def data_of(value: Obj, cls: ClassV) -> list[Value]:
    """The fields of an instance of ``cls`` that hold leaves, as :func:`is_data` says."""
    facts = cls.facts
    if facts.module == "nnx":
        return [v for k, v in value.slots.items() if is_data(value, k, v)]
    static, among = facts.static_fields, facts.data_fields
    if among is None and only_fields(cls):
        among = frozenset(facts.fields)
    return [
        v for k, v in value.slots.items() if isinstance(k, str) and k not in static and (among is None or k in among)
    ]


def only_fields(cls: ClassV) -> bool:
    """Is what an instance keeps beside its fields, cached properties say, left behind when JAX takes it apart?"""
    return cls.facts.dataclass and cls.facts.pytree and not cls.facts.custom_flatten and cls.facts.module is None


@record(frozen=True, slots=True)
class Union(Value):
    """One of a few alternatives."""

    members: tuple[Value, ...]
    decided: frozenset[Any] = field(default=NO_LOOPS, compare=False)
    """Loops over which the test changes that decides which one it is."""


def _both(one: frozenset[Any], other: frozenset[Any]) -> frozenset[Any]:
    """What is in one set or the other; a set itself where the other adds nothing, which is nearly always."""
    if one is other or not other:
        return one
    return one | other if one else other


def members(v: Value) -> tuple[Value, ...]:
    """The alternatives of a value (itself when it is no union)."""
    return v.members if isinstance(v, Union) else (v,)


def union(values: Iterable[Value]) -> Value:
    """One value for several alternatives: joined where alike, Unknown when there are too many or one is."""
    out: list[Value] = []
    for v in values:
        for m in members(v):
            if isinstance(m, Unknown):
                return m if isinstance(m, Gone) else UNKNOWN
            for i, o in enumerate(out):
                j = _merge(o, m, 0)
                if j is not None:
                    out[i] = j
                    break
            else:
                out.append(m)
    if not out:
        return UNKNOWN
    if len(out) == 1:
        return out[0]
    return Union(tuple(out)) if len(out) <= MAX_UNION else UNKNOWN


def join(a: Value, b: Value, depth: int = 0) -> Value:
    """The least value that covers both; returns ``a`` itself when it covers ``b`` already."""
    if a is b:
        return a
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        if isinstance(a, Given) and isinstance(b, Given):
            return GIVEN
        return next((v for v in (a, b) if isinstance(v, Gone)), UNKNOWN)
    if depth > MAX_DEPTH:
        return UNKNOWN
    if not isinstance(a, Union) and not isinstance(b, Union):
        merged = _merge(a, b, depth)
        if merged is not None:
            return merged
        return Union((a, b))
    out = list(members(a))
    changed = False
    for m in members(b):
        for i, o in enumerate(out):
            j = _merge(o, m, depth + 1)
            if j is not None:
                if j is not o:
                    out[i] = j
                    changed = True
                break
        else:
            out.append(m)
            changed = True
    if not changed:
        return a
    if len(out) == 1:
        return out[0]
    return Union(tuple(out)) if len(out) <= MAX_UNION else UNKNOWN


def join_all(values: Iterable[Value]) -> Value:
    """The join of several values; Unknown for none."""
    out: Value | None = None
    for v in values:
        out = v if out is None else join(out, v)
    return UNKNOWN if out is None else out


_PY = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "bytes"}


def py_type(v: Value) -> str | None:
    """The Python type name of a static scalar (``NoneType`` for None, ``int`` for members of an IntEnum), or None."""
    if isinstance(v, Const):
        if v.value is None:
            return "NoneType"
        return _PY.get(type(v.value))
    if isinstance(v, Host):
        return v.type
    return "int" if isinstance(v, Obj) and v.project_class is not None and v.project_class.facts.integral else None


def _merge(a: Value, b: Value, depth: int) -> Value | None:
    """The join of two values of one kind, or None when they stay alternatives."""
    if a is b:
        return a
    if isinstance(a, Const | Host):
        if not isinstance(b, Const | Host):
            return None
        loops = _both(a.loops, b.loops)
        if a == b:
            return a if loops == a.loops else replace(a, loops=loops)
        ta, tb = py_type(a), py_type(b)
        if ta == tb and ta != "NoneType" and ta is not None:
            if isinstance(a, Host) and not isinstance(a, Steps | DtypeOf) and loops == a.loops:
                return a
            if isinstance(b, Host) and not isinstance(b, Steps | DtypeOf) and loops == b.loops and (b.via or not a.via):
                return b  # what a test said of it for a while
            return Host(ta, loops, a.via or b.via)
        return None
    if type(a) is not type(b):
        if isinstance(a, Tree) and isinstance(b, Array) and b.is_traced:
            return replace(a, roots=_both(a.roots, b.roots)) if not b.roots <= a.roots else a
        if isinstance(b, Tree) and isinstance(a, Array) and a.is_traced:
            return replace(b, roots=_both(a.roots, b.roots))
        return None
    if isinstance(a, Array) and isinstance(b, Array):
        return _merge_arrays(a, b)
    if isinstance(a, Tree) and isinstance(b, Tree):
        if b.roots <= a.roots and b.given >= a.given:
            return a
        return replace(a, roots=_both(a.roots, b.roots), maybe=a.maybe and b.maybe, given=a.given and b.given)
    if isinstance(a, Tup) and isinstance(b, Tup):
        return merge_tups(a, b, depth)
    if isinstance(a, ListV) and isinstance(b, ListV):
        content = merge_tups(a.content, b.content, depth + 1)
        if content is a.content:
            return a
        return ListV(content, a.site, a.kind, a.most)
    if isinstance(a, DictV) and isinstance(b, DictV):

        def new_dict() -> DictV:
            d = DictV(site=a.site, kind=a.kind)
            d.grown = a.grown | b.grown
            return d

        return _merge_boxes(a, b, depth, new_dict)
    if isinstance(a, SetV) and isinstance(b, SetV) and a.kind == b.kind:
        merged = _merge_boxes(a, b, depth, lambda: SetV(site=a.site, kind=a.kind, some=a.some and b.some))
        return SetV(a.slots.get("elem"), a.site, a.kind) if merged is a and a.some and not b.some else merged
    if isinstance(a, Obj) and isinstance(b, Obj):
        if a.cls is b.cls or a.cls == b.cls:

            def make() -> Obj:
                o = Obj(a.cls, a.site, a.open or b.open)
                o.loops = _both(a.loops, b.loops)
                o.made_in = a.made_in
                o.moment = a.moment
                o.several = True
                return o

            merged = _merge_boxes(a, b, depth, make)
            if merged is a:
                a.several = True
            return merged
        return None
    if isinstance(a, Bound) and isinstance(b, Bound):
        if a.func is b.func:
            s = _merge(a.self, b.self, depth + 1)
            if s is not None:
                return a if s is a.self else Bound(a.func, s)
        return None
    if isinstance(a, Func) and isinstance(b, Func) and a.lazy is b.lazy:
        return a
    if isinstance(a, Partial | Wrapped) and isinstance(b, Partial | Wrapped):
        return a if a.node is b.node and a.node is not None else None
    if isinstance(a, Jitted) and isinstance(b, Jitted) and a.entry.node is b.entry.node:
        return a
    return a if a == b else None


def _merge_arrays(a: Array, b: Array) -> Array | None:
    if a.level is not b.level:
        return None
    loops = _both(a.loops, b.loops)
    shape = join_shapes(a.shape, b.shape)
    dtype = a.dtype if a.dtype == b.dtype else None
    weak = a.weak if a.weak == b.weak else None
    python = a.python if a.python == b.python else None
    roots = _both(a.roots, b.roots)
    maybe = a.maybe and b.maybe if a.is_traced else a.maybe or b.maybe
    via = a.via if a.via == b.via else _join_via(a.via, b.via)
    shape_loops = _both(a.shape_loops, b.shape_loops)
    # the donated one knows where that was
    origin = b.origin if via == MAYBE_DONATED and a.via not in (DONATED, MAYBE_DONATED) else a.origin
    if (shape, dtype, weak, python, roots, maybe, loops, via, shape_loops) == (
        a.shape,
        a.dtype,
        a.weak,
        a.python,
        a.roots,
        a.maybe,
        a.loops,
        a.via,
        a.shape_loops,
    ):
        return a
    return replace(
        a,
        shape=shape,
        dtype=dtype,
        weak=weak,
        python=python,
        roots=roots,
        maybe=maybe,
        loops=loops,
        via=via,
        shape_loops=shape_loops,
        origin=origin,
    )


def _join_via(a: str | None, b: str | None) -> str | None:
    """What is true of one alternative is not of both where it says which array it is, or that it leaked; a buffer that
    was donated on one way is gone on that way."""
    if any(via in (DONATED, MAYBE_DONATED) for via in (a, b)):
        return MAYBE_DONATED
    return None if any(via in GONE or via is not None and via.startswith(KEY) for via in (a, b)) else a or b


def join_shapes(a: Shape | None, b: Shape | None) -> Shape | None:
    """Dimension-wise; None where the ranks differ or one is unknown."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def merge_tups(a: Tup, b: Tup, depth: int = 0) -> Tup:
    """Element-wise when the lengths agree, else one element type; ``a`` itself when it covers ``b``."""
    if depth > MAX_DEPTH:
        return Tup(None, UNKNOWN, a.kind)
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(join(x, y, depth + 1) for x, y in zip(a.items, b.items, strict=True))
        if all(x is y for x, y in zip(items, a.items, strict=True)):
            return a
        return Tup(items, None, a.kind, _both(a.length_loops, b.length_loops))
    elem: Value | None = a.elem
    for v in [*(a.items or ()), *((b.elem,) if b.elem is not None else ()), *(b.items or ())]:
        elem = v if elem is None else join(elem, v, depth + 1)
    loops = _both(a.length_loops, b.length_loops)
    count = a.count if a.items is None and a.count == b.count else None
    if a.items is None and elem is a.elem and loops == a.length_loops and count == a.count:
        return a
    return Tup(None, elem, a.kind, loops, count)


def _merge_boxes(a: Box, b: Box, depth: int, make: Any) -> Value:
    if depth > MAX_DEPTH:
        return UNKNOWN
    merged: dict[Any, Value] = {}
    changed = False
    for k in [*a.slots, *(k for k in b.slots if k not in a.slots)]:
        x, y = a.slots.get(k), b.slots.get(k)
        if x is None or y is None:
            merged[k] = x if x is not None else y  # type: ignore[assignment]
            changed |= x is None
        elif x is y:
            merged[k] = x
        else:
            merged[k] = join(x, y, depth + 1)
            changed |= merged[k] is not x
    if not changed:
        return a  # type: ignore[return-value]
    out = make()
    out.slots.update(merged)
    return out  # type: ignore[no-any-return]


def leaves(v: Value) -> Sequence[Value]:
    """The values at the leaves of containers, pytree instances included."""
    if type(v) not in HOLDERS:
        return (v,)
    out: list[Value] = []
    _add_leaves(v, out, 0)
    return out


HOLDERS: frozenset[type[Value]] = frozenset({Tup, ListV, DictV, SetV, Union, Obj})
"""The types of values that may have leaves in them. None of them has subclasses."""


def _add_leaves(v: Value, out: list[Value], depth: int) -> None:
    """Add the leaves of a container that lies as deep in others."""
    inside: Iterable[Value]
    if isinstance(v, Tup):
        inside = v.items if v.items is not None else (v.elem,) if v.elem is not None else ()
    elif isinstance(v, ListV):
        inside = (v.content,)
    elif isinstance(v, Union):
        inside = v.members
    elif isinstance(v, Obj):
        cls = v.cls
        if not isinstance(cls, ClassV) or not (cls.facts.pytree or cls.facts.namedtuple):
            out.append(v)
            return
        inside = data_of(v, cls)
    else:
        assert isinstance(v, Box)
        inside = v.slots.values()
    if depth == MAX_DEPTH:
        return
    for i in inside:
        if type(i) in HOLDERS:
            _add_leaves(i, out, depth + 1)
        else:
            out.append(i)


def traced_leaf(v: Value) -> Array | Tree | None:
    """A traced leaf of the value, a definite one if there is one, or None."""
    best: Array | Tree | None = None
    for leaf in leaves(v):
        if isinstance(leaf, Array) and leaf.is_traced:
            if not leaf.maybe:
                return leaf
            best = leaf
        elif isinstance(leaf, Tree) and best is None:
            best = leaf
    return best


def is_declared(v: Value) -> bool:
    """Is no more known than what an annotation says, or a class: that of a list may be one for tuples, too?"""
    match v:
        case Obj(open=is_open):
            return bool(is_open)
        case ListV() | DictV():
            return bool(v.site == DECLARED)
        case Bound(self=me):
            return is_declared(me)
    return False


def has_linear(v: Value) -> bool:
    """True when a leaf is a tracer of plain grad/jvp."""
    return any(isinstance(x, Array) and x.level is Level.LINEAR for x in leaves(v))


def describe(v: Value, depth: int = 0) -> str:
    """A short text for ``reveal``, ``explain`` and messages."""
    if depth > 3:
        return "…"
    match v:
        case Unknown():
            return "unknown"
        case Const(value=c):
            return f"static {c!r}"
        case Host():
            return "static"
        case Array(level=Level.TRACED | Level.LINEAR, maybe=maybe):
            return "maybe traced" if maybe else "traced"
        case Array(level=Level.HOST):
            return "concrete"
        case Array():
            return "static"
        case Tree():
            return "traced tree"
        case Tup(kind=kind):
            return f"{kind}({', '.join(_inside(v, depth))})"
        case ListV():
            return f"{v.kind}({', '.join(_inside(v.content, depth))})"
        case DictV():
            parts = sorted(f"{k}: {describe(x, depth + 1)}" for k, x in v.entries().items())
            if v.rest is not None:
                parts.append(f"*: {describe(v.rest, depth + 1)}")
            return f"dict({', '.join(parts)})"
        case SetV():
            return "set"
        case Func(name=name):
            return f"function {name}"
        case Bound(func=f):
            return f"method {getattr(f, 'name', '?')}"
        case Jitted(entry=e):
            return f"jitted {e.name}"
        case Wrapped(kind=kind):
            return f"{kind} function"
        case Partial():
            return "partial"
        case ClassV():
            return f"class {v.name}"
        case Obj():
            if v.project_class is not None and v.project_class.facts.namedtuple:
                return f"{v.cls.name}({', '.join(describe(x, depth + 1) for x in v.slots.values())})"
            return f"instance {v.cls.name}"
        case LibV(name=name):
            return f"library {name}"
        case Union(members=ms):
            texts = {describe(m, depth + 1) for m in ms}
            if all(t.startswith("static") for t in texts):
                return texts.pop() if len(texts) == 1 else "static"
            if "unknown" not in texts and any(t.endswith("traced") for t in texts):
                return "traced" if texts == {"traced"} else "maybe traced"
            return " | ".join(sorted(texts))
        case ModuleV():
            return f"module {v.module.name}"
    return type(v).__name__.lower()


def _inside(content: Tup, depth: int) -> list[str]:
    if content.items is not None:
        return [describe(item, depth + 1) for item in content.items]
    return [describe(content.elem, depth + 1) if content.elem is not None else ""]
