"""The only recorder frames that stand between the user's frames and jax's.

The name of this file matters: the ``warnings`` module does not count frames whose file name holds both ``importlib``
and ``_bootstrap``, so a ``warnings.warn(..., stacklevel=n)`` in the program or in jax names the same line as without
the recorder. ``__tracebackhide__`` does the same for pytest and IPython.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Begin = Callable[[tuple[Any, ...], dict[str, Any]], Any]
End = Callable[[Any, BaseException | None], None]


def make_body(fun: Callable[..., Any], begin: Begin, end: End) -> Callable[..., Any]:
    """A function that calls ``fun`` and reports to ``begin`` and ``end`` when it is called to be traced.

    ``begin(args, kwargs)`` returns what ``end`` wants to be given back, or None when this call is no trace.
    """

    def body(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        token = begin(args, kwargs)
        if token is None:
            return fun(*args, **kwargs)
        try:
            result = fun(*args, **kwargs)
        except BaseException as error:
            end(token, error)
            raise
        end(token, None)
        return result

    return body


class CallableBody:
    """What :func:`make_body` makes, for bound methods and objects with ``__call__``.

    jax finds its cache by equality and hash of the callable, and lives as long as the callable does, so this has the
    equality, the hash and, towards jax, the attributes of the callable it stands for.
    """

    __slots__ = ("__weakref__", "_body", "_fun", "_function")

    def __init__(self, fun: Callable[..., Any], begin: Begin, end: End, function: object) -> None:
        self._fun = fun
        self._function = function
        self._body = make_body(fun, begin, end)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._body(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fun, name)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self._fun

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallableBody) and bool(self._fun == other._fun)

    def __hash__(self) -> int:
        return hash(self._fun)

    def __repr__(self) -> str:
        return repr(self._fun)

    def __str__(self) -> str:
        return str(self._fun)


def make_entry(original: Callable[..., Any], wrap: Callable[[Any], Any], finish: Callable[[Any, Any], None]) -> Any:
    """What stands in for ``jax.jit``: hands ``wrap(fun)`` to ``original`` and the result to ``finish(result, fun)``.

    Called without a function it is the decorator factory that newer versions of jax have; older ones raise.
    """

    def entry(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if args:
            fun, rest = args[0], args[1:]
        elif "fun" in kwargs:
            kwargs = dict(kwargs)
            fun, rest = kwargs.pop("fun"), ()
        else:
            decorator = original(**kwargs)

            def decorate(fun: Any) -> Any:
                __tracebackhide__ = True
                result = decorator(wrap(fun))
                finish(result, fun)
                return result

            return decorate
        wrapped = wrap(fun)
        result = original(wrapped, *rest, **kwargs)
        finish(result, fun)
        return result

    return entry
