"""From the text of a library file to checked records.

A file is cut at its table headers, and a table is parsed when somebody asks for it: parsing all of ``jax.numpy`` would
cost more than the rest of a small run. :meth:`LibraryFile.validate` reads every table.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jitlint.knowledge.model import (
    AttributeModel,
    ClassModel,
    Dynamic,
    FunctionModel,
    Kind,
    MethodModel,
    Parameter,
    Term,
)

ERRORS = frozenset(
    {
        "AssertionError",
        "AttributeError",
        "ConcretizationTypeError",
        "IndexError",
        "NonConcreteBooleanIndexError",
        "NotImplementedError",
        "OverflowError",
        "RuntimeError",
        "TracerArrayConversionError",
        "TracerBoolConversionError",
        "TracerIntegerConversionError",
        "TypeError",
        "UnexpectedTracerError",
        "ValueError",
    }
)
EFFECTS = frozenset({"print", "log", "clock", "random", "env", "io", "progress"})
NEEDS = frozenset({"shape", "axis", "size", "count", "bins", "index", "dtype", "flag", "order", "value"})
KEYS = frozenset({"consumes", "derives", "makes"})
TRUTHS = frozenset({"value", "items", "comparisons", "predicate"})
RESULTS = frozenset(
    {
        "array",
        "static",
        "subdtype",
        "host_array",
        "none",
        "unknown",
        "arg",
        "tuple",
        "list",
        "tree",
        "key",
        "function",
        "instance",
        "instances",
        "kept",
        "each",
        "copy",
        "operator",
        "summed",
    }
)
ON_TRACED = frozenset({"works", "raises", "static", "stores"})
KINDS = frozenset(
    {
        "array",
        "dtype",
        "error",
        "haiku",
        "key",
        "linen",
        "nnx",
        "object",
        "optimizer",
        "pytree",
        "scalar",
        "static",
        "tracer",
        "tree",
    }
)

_HEADER = re.compile(r'^\[([a-z]+)(?:\.(?:"([^"\n]+)"|([\w-]+)))?\][ \t]*(?:#.*)?$', re.MULTILINE)
_SECTIONS = frozenset({"library", "aliases", "constants", "functions", "classes", "attributes", "methods"})
_KEYED = frozenset({"functions", "classes", "attributes", "methods"})


class KnowledgeError(ValueError):
    """A library file says something that the schema does not allow; the message names file, table and key."""


def term(text: str) -> Term:
    """The parsed form of a word such as ``reduce:a:axis``."""
    op, *args = text.split(":")
    return Term(op, tuple(args))


class LibraryFile:
    """The tables of one library file, each read and checked on demand."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        """Index ``path`` (or ``text`` in its place). Raises :class:`KnowledgeError` when its outline is wrong."""
        self.path = path
        self._text = path.read_text(encoding="utf-8") if text is None else text
        self._tables: dict[tuple[str, str], tuple[int, int]] = {}
        self._cut()
        library = self.table("library")
        self.name = self._text_value(library, "name", "library")
        self.default = self._default(library)
        self.tested: str | None = library.get("tested")
        self.modules: tuple[str, ...] = tuple(library.get("modules", ()))
        self._only(library, {"name", "tested", "default", "modules"}, "library")
        self.aliases: dict[str, str] = self.table("aliases")
        self.constants: dict[str, str] = self.table("constants")

    def _cut(self) -> None:
        headers = list(_HEADER.finditer(self._text))
        ends = [*(found.start() for found in headers[1:]), len(self._text)][: len(headers)]
        if headers and self._text[: headers[0].start()].strip() and not self._starts_with_comments(headers[0].start()):
            raise KnowledgeError(f"{self.path}: keys before the first table; begin with [library]")
        for found, end in zip(headers, ends, strict=True):
            section, name = found[1], found[2] or found[3] or ""
            where = found[0].strip()
            if section not in _SECTIONS:
                raise KnowledgeError(f"{self.path}: unknown table {where} (known: {', '.join(sorted(_SECTIONS))})")
            if (section in _KEYED) != bool(name):
                raise KnowledgeError(f"{self.path}: {where} {'needs' if section in _KEYED else 'takes no'} a name")
            if (section, name) in self._tables:
                raise KnowledgeError(f"{self.path}: {where} is there twice")
            self._tables[section, name] = (found.end(), end)
        if ("library", "") not in self._tables:
            raise KnowledgeError(f"{self.path}: there is no [library] table with the library's name")

    def _starts_with_comments(self, end: int) -> bool:
        return all(not line.strip() or line.startswith("#") for line in self._text[:end].splitlines())

    def table(self, section: str, name: str = "") -> dict[str, Any]:
        """The raw table, empty when it is not there. Raises :class:`KnowledgeError` when it is not TOML."""
        bounds = self._tables.get((section, name))
        if bounds is None:
            return {}
        try:
            return tomllib.loads(self._text[bounds[0] : bounds[1]])
        except tomllib.TOMLDecodeError as error:
            raise KnowledgeError(f"{self.path}: {section}.{name}: {error}") from None

    def names(self, section: str) -> list[str]:
        """The names that ``section`` has rows for, in the order of the file."""
        return [name for kind, name in self._tables if kind == section]

    def has(self, section: str, name: str) -> bool:
        """Is there a row ``[section.name]``?"""
        return (section, name) in self._tables

    def function(self, name: str) -> FunctionModel:
        """The row ``[functions.name]``, over the library's default."""
        return self._function(self.table("functions", name), f"{self.name}.{name}", f"functions.{name}", self.default)

    def class_(self, name: str) -> ClassModel:
        """The row ``[classes.name]``."""
        where = f"classes.{name}"
        table = self.table("classes", name)
        known = {"kind", "fields", "static", "decorator", "transparent", "dtype", "traced", "carried", "source"}
        self._only(table, known, where)
        kind = self._choice(table, "kind", KINDS, where)
        if kind is None:
            raise KnowledgeError(f"{self.path}: {where}: there is no kind")
        return ClassModel(
            f"{self.name}.{name}",
            kind,
            self._names(table, "fields", where),
            self._names(table, "static", where),
            self._optional(table, "decorator", where),
            self._flag(table, "transparent", where),
            self._optional(table, "dtype", where),
            {name: self._names(table["traced"], name, f"{where}.traced") for name in table.get("traced", {})},
            {k: v for k in table.get("carried", {}) if (v := self._optional(table["carried"], k, where)) is not None},
            self._code(table, "source", where),
        )

    def _code(self, table: dict[str, Any], key: str, where: str) -> str | None:
        text = self._optional(table, key, where)
        try:
            ast.parse(text or "")
        except SyntaxError as error:
            place = f"{self.path}: {where}: {key}"
            raise KnowledgeError(f"{place} is not valid Python, in its line {error.lineno}: {error.msg}") from error
        return text

    def attribute(self, name: str) -> AttributeModel:
        """The row ``[attributes.name]``."""
        where = f"attributes.{name}"
        table = self.table("attributes", name)
        self._only(table, {"result", "type", "raises", "conversion", "shape", "dtype", "weak"}, where)
        return AttributeModel(
            name,
            self._result(table, where) or Term("unknown"),
            self._optional(table, "type", where),
            self._choice(table, "raises", ERRORS, where),
            self._flag(table, "conversion", where),
            self._term(table, "shape", where),
            self._term(table, "dtype", where),
            self._term(table, "weak", where),
        )

    def method(self, name: str) -> MethodModel:
        """The row ``[methods.name]``."""
        where = f"methods.{name}"
        table = self.table("methods", name)
        own = {key: table.pop(key) for key in _METHOD_KEYS if key in table}
        return MethodModel(
            self._function(table, name, where, self.default),
            self._choice(own, "raises", ERRORS, where),
            self._flag(own, "conversion", where),
            self._result({"result": own["host"]}, where) if "host" in own else None,
            self._optional(own, "host_type", where),
            self._optional(own, "like", where),
        )

    def validate(self) -> None:
        """Read every row. Raises :class:`KnowledgeError` at the first that is wrong."""
        readers: dict[str, Callable[[str], object]] = {
            "functions": self.function,
            "classes": self.class_,
            "attributes": self.attribute,
            "methods": self.method,
        }
        for section, read in readers.items():
            for name in self.names(section):
                read(name)
        for section in ("aliases", "constants"):
            for key, value in self.table(section).items():
                if not isinstance(value, str):
                    raise KnowledgeError(f"{self.path}: {section}: {key} must be a string")

    # -- the parts of a row ------------------------------------------------------------------------------------------

    def _default(self, library: dict[str, Any]) -> FunctionModel:
        return self._function(library.get("default", {}), self.name, "library.default", FunctionModel(""))

    def _function(self, table: dict[str, Any], dotted: str, where: str, base: FunctionModel) -> FunctionModel:
        self._only(table, _FUNCTION_KEYS, where)
        params = self._parameters(table, where)
        known = None if params is None else {param.name for param in params}
        if known is not None and any(param.kind == "kwargs" for param in params or ()):
            known = None
        changes: dict[str, Any] = {"name": dotted}
        if params is not None:
            changes["params"] = params
        if (result := self._result(table, where)) is not None:
            changes["result"] = result
        for key in ("type", "transform", "registers", "removed"):
            if (text := self._optional(table, key, where)) is not None:
                changes[key] = text
        for key, allowed in (("effect", EFFECTS), ("key", KEYS), ("truth", TRUTHS)):
            if (text := self._choice(table, key, allowed, where)) is not None:
                changes[key] = text
        for key in ("concrete", "items", "sized"):
            if key in table:
                extra = frozenset({"works"}) if key == "items" else frozenset()
                changes[key] = self._mapping(table, key, known, ERRORS | extra, where)
        if "arrays" in table:
            changes["arrays"] = frozenset(self._names(table, "arrays", where))
            self._parameters_exist(tuple(changes["arrays"]), known, f"{where}.arrays")
        if "need" in table:
            changes["need"] = self._mapping(table, "need", known, NEEDS, where)
        if "lifted" in table:
            changes["lifted"] = {
                name: self._names(table["lifted"], name, f"{where}.lifted") for name in table["lifted"]
            }
        for key in ("more", "fewer"):
            if key in table:
                changes[key] = self._counts(table[key], f"{where}.{key}")
        if "dynamic" in table:
            changes["dynamic"] = self._dynamic(table["dynamic"], known, f"{where}.dynamic")
        for key in ("shape", "dtype", "weak"):
            if (word := self._term(table, key, where)) is not None:
                changes[key] = word
        for key in ("on_traced", "on_traced_items"):
            if (word := self._term(table, key, where)) is not None:
                if word.op not in ON_TRACED or (word.op == "raises" and word.arg not in ERRORS):
                    raise KnowledgeError(
                        f"{self.path}: {where}: {key} = {str(word)!r} is not one of {_list(ON_TRACED)}"
                    )
                changes[key] = word
        if "static_field" in table:
            field = table["static_field"]
            self._only(field, {"keyword", "value"}, f"{where}.static_field")
            changes["static_field"] = (
                self._text_value(field, "keyword", where),
                self._flag(field, "value", f"{where}.static_field"),
            )
        return replace(base, **changes)

    def _parameters(self, table: dict[str, Any], where: str) -> tuple[Parameter, ...] | None:
        if "params" not in table:
            return None
        names = self._names(table, "params", where)
        kind: Kind = "positional" if "/" in names else "either"
        params: list[Parameter] = []
        for name in names:
            if name == "/":
                kind = "either"
            elif name == "*":
                kind = "keyword"
            elif name.startswith("**"):
                params.append(Parameter(name[2:], "kwargs", True))
            elif name.startswith("*"):
                params.append(Parameter(name[1:], "args", True))
                kind = "keyword"
            else:
                params.append(Parameter(name.removesuffix("="), kind, name.endswith("=")))
        if len({param.name for param in params}) < len(params):
            raise KnowledgeError(f"{self.path}: {where}: params names a parameter twice")
        return tuple(params)

    def _dynamic(self, table: dict[str, Any], known: set[str] | None, where: str) -> Dynamic:
        self._only(table, {"error", "unless", "of"}, where)
        error = self._choice(table, "error", ERRORS, where)
        if error is None:
            raise KnowledgeError(f"{self.path}: {where}: there is no error")
        unless, of = self._names(table, "unless", where), self._names(table, "of", where)
        self._parameters_exist((*unless, *of), known, where)
        return Dynamic(error, unless, of)

    def _result(self, table: dict[str, Any], where: str) -> Term | None:
        word = self._term(table, "result", where)
        if word is None:
            return None
        fits = word.op in RESULTS and (word.op != "tuple" or not word.args or word.arg.isdecimal())
        if not fits or (word.op in ("arg", "kept", "tree", "summed", "instance", "instances") and not word.args):
            raise KnowledgeError(f"{self.path}: {where}: result = {str(word)!r} is not one of {_list(RESULTS)}")
        return word

    def _mapping(
        self, table: dict[str, Any], key: str, known: set[str] | None, allowed: frozenset[str], where: str
    ) -> dict[str, str]:
        mapping = table[key]
        if not isinstance(mapping, dict):
            raise KnowledgeError(f"{self.path}: {where}: {key} must be a table of parameter = word")
        self._parameters_exist(mapping, known, f"{where}.{key}")
        return {name: self._choice(mapping, name, allowed, f"{where}.{key}") or "" for name in mapping}

    def _counts(self, table: dict[str, Any], where: str) -> dict[str, int]:
        for name, count in table.items():
            if not isinstance(count, int):
                raise KnowledgeError(f"{self.path}: {where}: {name} must be a number")
        return dict(table)

    def _parameters_exist(
        self, names: Mapping[str, object] | tuple[str, ...], known: set[str] | None, where: str
    ) -> None:
        for name in names:
            if known is not None and name not in known:
                raise KnowledgeError(f"{self.path}: {where}: {name!r} is not a parameter (params: {_list(known)})")

    def _only(self, table: Mapping[str, object], known: frozenset[str] | set[str], where: str) -> None:
        for key in table:
            if key not in known:
                raise KnowledgeError(f"{self.path}: {where}: unknown key {key!r} (known: {_list(known)})")

    def _choice(self, table: dict[str, Any], key: str, allowed: frozenset[str], where: str) -> str | None:
        text = self._optional(table, key, where)
        if text is not None and text not in allowed:
            raise KnowledgeError(f"{self.path}: {where}: {key} = {text!r} is not one of {_list(allowed)}")
        return text

    def _term(self, table: dict[str, Any], key: str, where: str) -> Term | None:
        text = self._optional(table, key, where)
        return None if text is None else term(text)

    def _optional(self, table: dict[str, Any], key: str, where: str) -> str | None:
        return self._text_value(table, key, where) if key in table else None

    def _text_value(self, table: dict[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            raise KnowledgeError(f"{self.path}: {where}: {key} must be a string")
        return value

    def _flag(self, table: dict[str, Any], key: str, where: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise KnowledgeError(f"{self.path}: {where}: {key} must be true or false")
        return value

    def _names(self, table: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise KnowledgeError(f"{self.path}: {where}: {key} must be a list of strings")
        return tuple(value)


_METHOD_KEYS: tuple[str, ...] = ("raises", "conversion", "host", "host_type", "like")
_FUNCTION_KEYS = frozenset(
    {
        "params",
        "result",
        "arrays",
        "sized",
        "type",
        "more",
        "fewer",
        "concrete",
        "items",
        "lifted",
        "need",
        "dynamic",
        "shape",
        "dtype",
        "weak",
        "on_traced",
        "on_traced_items",
        "truth",
        "effect",
        "transform",
        "key",
        "registers",
        "static_field",
        "removed",
    }
)


def _list(words: frozenset[str] | set[str]) -> str:
    return ", ".join(sorted(words))
