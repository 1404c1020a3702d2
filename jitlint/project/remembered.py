"""Indexes that a cache remembers, so that a text which was indexed once is not parsed again."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from jitlint.cache import Cache, digest, engine_digest
from jitlint.project.index import Unparsable, index_source
from jitlint.project.model import ModuleIndex, TopStatement

_KIND = "index"


class RememberedIndex(ModuleIndex):
    """An index of which all is known but the statements; asking for those parses the text."""

    def __init__(self, text: str, package: str, facts: dict[str, Any]) -> None:
        """``facts`` are as :func:`_facts` makes them. Raises KeyError, TypeError, ValueError for any others."""
        vars(self).update(
            imports=frozenset(map(_text, facts["imports"])),
            mentions_jax=bool(facts["jax"]),
            requests=frozenset((_text(dotted), int(level)) for dotted, level in facts["requests"]),
            is_inert=bool(facts["inert"]),
            loads_lazily=bool(facts["lazy"]),
            _source=(text, package),
        )

    @cached_property
    def statements(self) -> tuple[TopStatement, ...]:
        """As :attr:`ModuleIndex.statements`."""
        text, package = vars(self)["_source"]
        return index_source(text, package=package).statements


class RememberingIndexer:
    """The ``indexer`` of a project, over a cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def __call__(self, text: str, *, package: str = "") -> ModuleIndex:
        """As :func:`jitlint.project.index.index_source`, and raises as that does."""
        key = digest(engine_digest(), text, package)
        known = self._cache.get(_KIND, key)
        if isinstance(known, dict):
            try:
                if "fault" in known:
                    row, column, message = known["fault"]
                    fault = Unparsable(int(row), int(column), _text(message))
                else:
                    return RememberedIndex(text, package, known)
            except (KeyError, TypeError, ValueError):
                pass
            else:
                raise fault
        try:
            index = index_source(text, package=package)
        except Unparsable as fault:
            self._cache.put(_KIND, key, {"fault": [fault.row, fault.column, fault.message]})
            raise
        self._cache.put(_KIND, key, _facts(index))
        return index


def _facts(index: ModuleIndex) -> dict[str, Any]:
    return {
        "imports": sorted(index.imports),
        "jax": index.mentions_jax,
        "requests": sorted(index.requests),
        "inert": index.is_inert,
        "lazy": index.loads_lazily,
    }


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
