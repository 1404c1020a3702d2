"""The exceptions that JAX raises for tracers, and what an ``except`` clause catches of them."""

from __future__ import annotations

_BASE = {
    "TracerBoolConversionError": "ConcretizationTypeError",
    "ConcretizationTypeError": "JAXTypeError",
    "TracerArrayConversionError": "JAXTypeError",
    "TracerIntegerConversionError": "JAXTypeError",
    "UnexpectedTracerError": "JAXTypeError",
    "JAXTypeError": "TypeError",
    "NonConcreteBooleanIndexError": "JAXIndexError",
    "JAXIndexError": "IndexError",
    "IndexError": "LookupError",
    "NotImplementedError": "RuntimeError",
}
"""The class that an exception derives from; ``Exception`` where nothing is said."""
_OF_JAX = frozenset({*_BASE, "JAXTypeError", "JAXIndexError"}) - {"IndexError", "NotImplementedError"}


def ancestry(error: str) -> tuple[str, ...]:
    """An exception's class and those that it derives from, by name, the nearest one first."""
    out = [error]
    while out[-1] in _BASE:
        out.append(_BASE[out[-1]])
    return (*out, "Exception", "BaseException")


def caught_on_purpose(error: str, names: frozenset[str]) -> bool:
    """Does an ``except`` clause with these names catch the error by one of JAX's own classes?"""
    return any(name in names for name in ancestry(error) if name in _OF_JAX)


def caught_at_large(error: str, names: frozenset[str]) -> bool:
    """Does it catch the error by a class of Python's only, that a tracer's error happens to derive from?"""
    return not caught_on_purpose(error, names) and any(name in names for name in ancestry(error))
