"""The stand-ins for the functions that are given to ``jax.jit``.

jax keys its caches on the identity of the function, so a function must have the same stand-in each time, for as long
as it lives and no longer:

- Functions and partials carry theirs in their ``__dict__``. ``functools.wraps`` copies that to other functions, so a
  stand-in is only believed where it says that it was made for this very object. Pickles and copies leave it behind.
- Objects with ``__call__`` may not be written to (some libraries read their ``__dict__`` as data); theirs are kept in
  a table until nothing else refers to either.
- A bound method is a new object each time, equal to the earlier ones, and jax's entry lives as long as one that was
  jitted does: so does its stand-in, which is equal to those of equal methods.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

from .importlib_bootstrap import CallableBody, make_body
from .recorder import Function, Recorder

MEMO = "__jitlint_body__"
_MAX_OBJECTS = 64
_SWEEP = 64

_Objects = dict[tuple[int, str], CallableBody]


class Memo:
    """A stand-in, and whose it is. Pickled, copied or deep-copied it becomes None."""

    __slots__ = ("body", "owner")

    def __init__(self, owner: Any, body: Callable[..., Any]) -> None:
        self.owner = weakref.ref(owner)
        self.body = body

    def __reduce__(self) -> tuple[Any, ...]:
        # By a name that every Python has: a pickle may be read where there is no jitlint.
        return (type(None), ())


class Bodies:
    """Makes and remembers the stand-ins of one recorder.

    ``adapt(function, fun)`` may complete the record of a function object when it is first seen.
    """

    def __init__(self, recorder: Recorder, adapt: Callable[[Function, Any], None]) -> None:
        self._recorder = recorder
        self._adapt = adapt
        self._objects: _Objects = {}
        self._live: list[weakref.ref[Any]] = []
        self._calls = 0
        self._bound = itertools.count(-1, -1)
        self._functions: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    def body_of(self, fun: Any, transform: str) -> Any:
        """The stand-in for ``fun``; ``fun`` itself where jax is going to refuse it or knows it already."""
        if not _can_stand_in(fun):
            return fun
        self._drop_unused()
        if _is_partial(fun) or (hasattr(fun, "__dict__") and _is_function_like(fun)):
            return self._remembered(fun, transform)
        if inspect.ismethod(fun):
            return self._callable(fun, transform, next(self._bound))
        key = (id(fun), transform)
        body = self._objects.get(key)
        if body is None or body._fun is not fun:
            body = self._callable(fun, transform, self._recorder.serials.of(fun))
            self._objects[key] = body
            while len(self._objects) > _MAX_OBJECTS:
                self._objects.pop(next(iter(self._objects)), None)
        return body

    def function_of(self, body: Any) -> Function | None:
        """The record that belongs to a stand-in, None for any other callable."""
        if isinstance(body, functools.partial):
            body = body.func
        if isinstance(body, CallableBody):
            return body._function if isinstance(body._function, Function) else None
        return self._functions.get(body) if isinstance(body, types.FunctionType) else None

    def _remembered(self, fun: Any, transform: str) -> Any:
        name = MEMO if transform == "jit" else f"{MEMO}{transform}"
        memo = fun.__dict__.get(name)
        if isinstance(memo, Memo) and memo.owner() is fun:
            if not _is_partial(fun):
                _dress(memo.body, fun)
            return memo.body
        function = self._describe(fun, transform, self._recorder.serials.of(fun))
        body: Any
        if _is_partial(fun):
            # Its stand-in does not refer to it, so it goes when its owners let it go.
            body = self._partial(fun, function)
        else:
            body = _dress(make_body(fun, *self._reports(function)), fun)
            self._functions[body] = function
            self._live.append(weakref.ref(fun))
        fun.__dict__[name] = Memo(fun, body)
        return body

    def _partial(self, fun: functools.partial[Any], function: Function) -> functools.partial[Any]:
        """A partial of the same arguments, since jax treats partials in its own way."""
        reports = self._without_bound(function, fun)
        inner: Any
        if hasattr(fun.func, "__name__"):
            inner = _dress(make_body(fun.func, *reports), fun.func)
            self._functions[inner] = function
        else:
            inner = CallableBody(fun.func, *reports, function)
        body = functools.partial(inner, *fun.args, **fun.keywords)
        body.__dict__.update((k, v) for k, v in fun.__dict__.items() if not k.startswith(MEMO))
        return body

    def _callable(self, fun: Any, transform: str, serial: int) -> CallableBody:
        function = self._describe(fun, transform, serial)
        return CallableBody(fun, *self._reports(function), function)

    def _describe(self, fun: Any, transform: str, serial: int) -> Function:
        function = self._recorder.describe(fun, serial, transform)
        self._adapt(function, fun)
        return function

    def _reports(self, function: Function) -> tuple[Any, Any]:
        return functools.partial(self._recorder.begin, function), self._recorder.end

    def _without_bound(self, function: Function, bound: functools.partial[Any]) -> tuple[Any, Any]:
        """As :meth:`_reports`, for a partial: what it binds is no argument of the call."""
        count, names = len(bound.args), frozenset(bound.keywords)
        given = bound.keywords
        begin = self._recorder.begin

        def begin_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            own = {k: v for k, v in kwargs.items() if k not in names or v is not given[k]}
            return begin(function, args[count:], own)

        return begin_call, self._recorder.end

    def _drop_unused(self) -> None:
        """Let go of functions that only their own stand-in keeps alive, as they would have gone without it."""
        for key in list(self._objects):
            if _held_only_by_table(self._objects, key):
                self._objects.pop(key, None)
        # The latest are the likeliest to be gone; all are looked at once in a while.
        self._calls += 1
        begin = 0 if self._calls % _SWEEP == 0 else max(0, len(self._live) - _SWEEP)
        self._live[begin:] = [reference for reference in self._live[begin:] if not _forgotten(reference)]


_References = tuple[int, int]


def _references_to_function(reference: weakref.ref[Any]) -> _References | None:
    """How many references there are to the stand-in of a function and to the function; None when it has gone."""
    owner = reference()
    memo = None if owner is None else owner.__dict__.get(MEMO)
    return (sys.getrefcount(memo.body), sys.getrefcount(owner)) if isinstance(memo, Memo) else None


def _references_to_object(objects: _Objects, key: tuple[int, str]) -> _References | None:
    """As :func:`_references_to_function`, for an object with ``__call__``."""
    body = objects.get(key)
    return None if body is None else (sys.getrefcount(body), sys.getrefcount(body._fun))


def _forgotten(reference: weakref.ref[Any]) -> bool:
    """Whether a function has gone, or has been let go of just now."""
    found = _references_to_function(reference)
    if found is not None and (found[0] > _OWN_TO_FUNCTION[0] or found[1] > _OWN_TO_FUNCTION[1]):
        return False
    owner = reference()
    if owner is not None:
        owner.__dict__.pop(MEMO, None)
    return True


def _held_only_by_table(objects: _Objects, key: tuple[int, str]) -> bool:
    found = _references_to_object(objects, key)
    return found is not None and found[0] <= _OWN_TO_OBJECT[0] and found[1] <= _OWN_TO_OBJECT[1]


def _never(*_: Any) -> None:
    """A report that is never made."""


def _own_references() -> tuple[_References, _References]:
    """The references there are when nobody else has any, counted and not assumed: Python versions count differently."""

    def sample() -> None:
        pass

    class Sample:
        def __call__(self) -> None:
            pass

    reference = weakref.ref(sample)
    sample.__dict__[MEMO] = Memo(sample, _dress(make_body(sample, _never, _never), sample))
    del sample
    to_function = _references_to_function(reference)
    objects = {(0, ""): CallableBody(Sample(), _never, _never, None)}
    to_object = _references_to_object(objects, (0, ""))
    assert to_function is not None
    assert to_object is not None
    owner = reference()
    if owner is not None:
        del owner.__dict__[MEMO]
    return to_function, to_object


def _can_stand_in(fun: Any) -> bool:
    if not callable(fun) or isinstance(fun, (staticmethod, classmethod, type)):
        return False
    if inspect.isgeneratorfunction(fun) or inspect.iscoroutinefunction(fun) or inspect.isasyncgenfunction(fun):
        return False
    # A jitted function: its own function has a stand-in already.
    return type(fun).__name__ != "PjitFunction"


def _is_partial(fun: Any) -> bool:
    """A partial as ``functools`` or jax makes it; a subclass of the user's may do more than call its function."""
    kind = type(fun)
    return kind is functools.partial or (
        isinstance(fun, functools.partial) and kind.__module__.partition(".")[0] == "jax"
    )


def _is_function_like(fun: Any) -> bool:
    """Plain functions, and the objects that jax makes of functions: their ``__dict__`` is nobody's data."""
    return isinstance(fun, types.FunctionType) or type(fun).__module__.partition(".")[0] in ("jax", "jaxlib")


def _dress(body: Any, fun: Any) -> Any:
    """Give the stand-in the names, the documentation and the attributes that ``fun`` has now."""
    try:
        functools.update_wrapper(body, fun)
    except Exception:
        body.__wrapped__ = fun
    for name in [name for name in body.__dict__ if name.startswith(MEMO)]:
        del body.__dict__[name]
    return body


_OWN_TO_FUNCTION, _OWN_TO_OBJECT = _own_references()
