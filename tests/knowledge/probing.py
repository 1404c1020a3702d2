"""Run library callables under ``jax.make_jaxpr`` to learn what they take and give.

A *sample* is one working call: parameter name to value. Samples come from ``samples.toml``: an expression for each
usual parameter name, and for each callable whatever differs. :func:`observe` traces one parameter at a time and tells
what JAX did.
"""

from __future__ import annotations

import importlib
import inspect
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SAMPLES = tomllib.loads((Path(__file__).parent / "samples.toml").read_text(encoding="utf-8"))
_ABSENT = "ABSENT"
_ARRAYS = (jax.Array, np.ndarray)


def _namespace() -> dict[str, Any]:
    matrix = jnp.arange(12.0, dtype="float32").reshape(3, 4) / 16 + 0.125
    square = jnp.eye(4, dtype="float32") * 2 + 0.25
    return {
        "jax": jax,
        "jnp": jnp,
        "np": np,
        "lax": lax,
        "V": matrix[0],
        "M": matrix,
        "S": square,
        "T": jnp.stack([square, square]),
        "I": jnp.array([0, 1, 2, 1], dtype="int32"),
        "IM": jnp.arange(12, dtype="int32").reshape(3, 4),
        "U": jnp.array([0, 1, 2, 1], dtype="uint8"),
        "B": jnp.array([True, False, True, True]),
        "C": (square + 1j * square).astype("complex64"),
        "X": jnp.float32(0.5),
        "N": jnp.int32(2),
        "key": jax.random.key(0),
    }


NAMES = _namespace()


@dataclass
class Outcome:
    """How one traced call ended: the error class, or the result as it was inside the trace."""

    error: str | None
    message: str = ""
    result: Any = None


@dataclass
class Sample:
    """A callable with a working call, and further values for its optional parameters."""

    name: str
    call: Callable[..., Any]
    signature: inspect.Signature
    base: dict[str, Any]
    optional: dict[str, Any] = field(default_factory=dict)
    axis_name: str | None = None
    """The call is made under a vmap with this axis name (collectives)."""

    def run(self, values: Mapping[str, Any]) -> Any:
        """Call it with ``values`` given as the signature wants them."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        by_name = False
        for name, param in self.signature.parameters.items():
            if name not in values:
                by_name = by_name or param.kind is param.POSITIONAL_OR_KEYWORD
            elif param.kind is param.VAR_POSITIONAL:
                args.extend(values[name])
            elif param.kind is param.VAR_KEYWORD:
                kwargs.update(values[name])
            elif param.kind is param.KEYWORD_ONLY or (by_name and param.kind is not param.POSITIONAL_ONLY):
                kwargs[name] = values[name]
            else:
                args.append(values[name])
        if self.axis_name is None:
            return self.call(*args, **kwargs)
        seen: list[Any] = []
        jax.vmap(lambda _: seen.append(self.call(*args, **kwargs)), axis_name=self.axis_name)(np.zeros(2))
        return seen[-1]

    def trace(self, values: Mapping[str, Any], traced: Mapping[str, Any]) -> Outcome:
        """Trace the call with ``values``, where those of ``traced`` (pytrees of arrays or scalars) are tracers."""
        names = list(traced)
        seen: list[Any] = []

        def body(*tracers: Any) -> None:
            seen.append(self.run({**values, **dict(zip(names, tracers, strict=True))}))

        return ended(lambda: jax.make_jaxpr(body)(*traced.values()), seen)

    def accepts(self, values: Mapping[str, Any]) -> bool:
        """Does the call run with concrete ``values``? It is staged if it can be, since executing compiles each."""
        staged = ended(lambda: jax.make_jaxpr(lambda: (self.run(values), None)[1])(), [])
        return staged.error is None or ended(lambda: self.run(values), []).error is None

    def arrays(self) -> dict[str, Any]:
        """The parameters of the base call that hold arrays."""
        return {name: value for name, value in self.base.items() if holds_arrays(value)}


def holds_arrays(value: Any) -> bool:
    """Is ``value`` an array, or a list, tuple or dict of them?"""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(item, _ARRAYS) or holds_arrays(item) for item in value)
    return isinstance(value, _ARRAYS)


def ended(run: Callable[[], object], seen: list[Any]) -> Outcome:
    """Run and tell how it ended, with the error classes named as the data names them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    except Exception as error:
        return Outcome(error_name(error), str(error).splitlines()[0] if str(error) else "")
    return Outcome(None, result=seen[-1] if seen else None)


def error_name(error: BaseException) -> str:
    """The public name of the error's class, or of the nearest base that has one."""
    public = [*vars(jax.errors).values(), TypeError, ValueError, IndexError, AttributeError]
    return next((base.__name__ for base in type(error).__mro__ if base in public), type(error).__name__)


def resolve(dotted: str) -> Any:
    """The object that ``dotted`` names. Raises AttributeError or ImportError when there is none."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ImportError(dotted)


def found(dotted: str) -> Any:
    """The object that ``dotted`` names, or None when the installed version has none."""
    try:
        return resolve(dotted)
    except (AttributeError, ImportError):
        return None


def has_sample(dotted: str) -> bool:
    """Can :func:`sample` make a call of it? Rows of functions that need files, devices or hardware cannot be run."""
    try:
        return sample(dotted) is not None
    except LookupError:
        return False


def signature(call: Callable[..., Any]) -> inspect.Signature | None:
    """The signature; that of a jax ufunc has its operands in place of ``*args``. None when it has none."""
    if isinstance(call, jnp.ufunc):
        names = ["x"] if call.nin == 1 else [f"x{i + 1}" for i in range(call.nin)]
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        rest = [p for p in inspect.signature(call).parameters.values() if p.kind is not p.VAR_POSITIONAL]
        return inspect.Signature([*parameters, *rest])
    try:
        return inspect.signature(call)
    except (TypeError, ValueError):
        return None


def public_callables(module: str) -> Iterator[tuple[str, Any]]:
    """Name and object of each public callable of ``module``, classes that are not scalar types left out."""
    home = importlib.import_module(module)
    for name in sorted(dir(home)):
        found = getattr(home, name)
        if name.startswith("_") or inspect.ismodule(found) or not callable(found):
            continue
        if inspect.isclass(found):
            continue
        yield name, found


def sample(dotted: str) -> Sample | None:
    """A working call of ``dotted`` made from the sample data, or None when it has no signature or is skipped."""
    call = resolve(dotted)
    found = signature(call)
    rows = SAMPLES["functions"]
    twin = dotted.replace("numpy.", "jax.numpy.", 1) if dotted.startswith("numpy.") else ""
    own = rows.get(dotted, rows.get(twin, {}))
    if found is None or own.get("skip"):
        return None
    base: dict[str, Any] = {}
    optional: dict[str, Any] = {}
    library: dict[str, str] = next(
        (SAMPLES[key] for key in sorted(_families(), key=len, reverse=True) if dotted.startswith(key)), {}
    )
    for name, param in found.parameters.items():
        text = own.get(name, library.get(name, SAMPLES["params"].get(name, _ABSENT)))
        wanted = param.default is param.empty and param.kind not in (param.VAR_POSITIONAL, param.VAR_KEYWORD)
        if text == _ABSENT:
            if wanted:
                raise LookupError(f"{dotted}: no sample for parameter {name!r}")
            continue
        text, _, mark = text.partition("  # ")
        value = eval(text, dict(NAMES))
        if wanted or mark == "base" or (name in own and holds_arrays(value)):
            base[name] = value
        else:
            optional[name] = value
    return Sample(dotted, call, found, base, optional, own.get("within"))


def _families() -> list[str]:
    return [key for key in SAMPLES if key.startswith(("jax.", "numpy"))]


def probes(sample: Sample, name: str, value: Any) -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    """Ways to trace a value: (``whole`` or ``item``, what is traced, how the argument is built from the tracer).

    A tuple of numbers is traced whole as one number where the callable takes that, else as a vector.
    """
    if holds_arrays(value) or isinstance(value, (bool, int, float, complex)):
        yield "whole", value, lambda tracer: tracer
    elif isinstance(value, tuple) and value and all(isinstance(item, int) for item in value):
        alone = sample.accepts({**sample.base, name: value[0]})
        yield "whole", value[0] if alone else np.array(value), lambda tracer: tracer
        yield "item", value[0], lambda tracer: (tracer, *value[1:])


def traced_outcome(sample: Sample, name: str, given: Any, build: Callable[[Any], Any]) -> Outcome:
    """Trace the sample's call with only parameter ``name`` traced: ``given`` is the tracer's value, ``build`` makes the
    argument of it."""
    seen: list[Any] = []

    def body(tracer: Any) -> None:
        seen.append(sample.run({**sample.base, name: build(tracer)}))

    return ended(lambda: jax.make_jaxpr(body)(given), seen)
