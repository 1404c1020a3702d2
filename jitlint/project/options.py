"""The kinds of value an option can have: how each is read from TOML, shown, and described to editors."""

from __future__ import annotations

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from jitlint.findings import Severity


class ValueFault(ValueError):  # noqa: N818 - it is named for what the value has
    """A value that an option cannot have; the message says which it can."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern in the style of ``.gitignore`` and the directory it is relative to (None: any)."""

    pattern: str
    base: Path | None


class Kind(ABC):
    """A kind of value."""

    is_list = False

    @property
    @abstractmethod
    def type_name(self) -> str:
        """As the documentation calls it."""

    @abstractmethod
    def parse(self, value: object, base: Path) -> Any:
        """The option's value for a TOML ``value`` in a file of directory ``base``; raises :class:`ValueFault`."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """As JSON Schema."""

    def to_plain(self, value: Any) -> Any:
        """The reverse of :meth:`parse`."""
        return value


class Boolean(Kind):
    """``true`` or ``false``."""

    type_name = "boolean"

    def parse(self, value: object, base: Path) -> bool:
        if value in ("true", "false"):  # bare words on the command line
            return value == "true"
        if not isinstance(value, bool):
            raise ValueFault(f"must be true or false, not {_shown(value)}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Number(Kind):
    """A number of at least ``minimum``."""

    def __init__(self, *, minimum: int, integral: bool = True) -> None:
        self.minimum = minimum
        self.integral = integral

    @property
    def type_name(self) -> str:
        return "integer" if self.integral else "number"

    def parse(self, value: object, base: Path) -> int | float:
        allowed = int if self.integral else int | float
        if not isinstance(value, allowed) or isinstance(value, bool) or not value >= self.minimum:
            article = "an" if self.integral else "a"
            raise ValueFault(f"must be {article} {self.type_name} of at least {self.minimum}, not {_shown(value)}")
        return value if self.integral else float(value)

    def schema(self) -> dict[str, Any]:
        return {"type": self.type_name, "minimum": self.minimum}


class Text(Kind):
    """A string, which may have to match a pattern."""

    type_name = "string"

    def __init__(self, *, pattern: str | None = None, expected: str = "a string") -> None:
        self.pattern = pattern
        self.expected = expected

    def parse(self, value: object, base: Path) -> str:
        if not isinstance(value, str) or not value or (self.pattern and not re.fullmatch(self.pattern, value)):
            raise ValueFault(f"must be {self.expected}, not {_shown(value)}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string"} | ({"pattern": f"^{self.pattern}$"} if self.pattern else {})


class Choice(Kind):
    """One of some words."""

    type_name = "string"

    def __init__(self, choices: type[StrEnum] | Iterable[str]) -> None:
        self.make: Any = choices if isinstance(choices, type) else str
        self.choices = tuple(str(choice) for choice in choices)

    def parse(self, value: object, base: Path) -> Any:
        if value not in self.choices:
            choices = ", ".join(self.choices)
            raise ValueFault(f"must be one of {choices}, not {_shown(value)}{_closest(value, self.choices)}")
        return self.make(value)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)}

    def to_plain(self, value: Any) -> Any:
        return str(value)


class Texts(Kind):
    """A list of strings."""

    is_list = True
    type_name = "list of strings"
    item = Text()

    def parse(self, value: object, base: Path) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueFault(f"must be a list of strings, not {_shown(value)}")
        return tuple(self.item.parse(entry, base) for entry in value)

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema()}

    def to_plain(self, value: Any) -> Any:
        return None if value is None else [str(entry) for entry in value]


class Selectors(Texts):
    """Codes, beginnings of codes, rule names, or ``ALL``."""

    type_name = "list of rules"
    item = Text(
        pattern=r"ALL|JIT\d{0,3}|[a-z]+(-[a-z0-9]+)*",
        expected='a code ("JIT101"), the beginning of one ("JIT1"), a rule name ("traced-branch") or "ALL"',
    )


class DottedNames(Texts):
    """Dotted names, with ``*`` for any part."""

    type_name = "list of dotted names"
    item = Text(pattern=r"[^\W\d]\w*(\.([^\W\d]\w*|\*))*", expected='a dotted name such as "models.step"')


class FilePath(Kind):
    """A path relative to the configuration file."""

    type_name = "path"

    def parse(self, value: object, base: Path) -> Path:
        if not isinstance(value, str) or not value:
            raise ValueFault(f"must be a path, not {_shown(value)}")
        return base / Path(value).expanduser()

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}

    def to_plain(self, value: Any) -> Any:
        return None if value is None else str(value)


class FilePaths(Texts):
    """Paths relative to the configuration file."""

    type_name = "list of paths"
    item: Any = FilePath()


class Globs(Texts):
    """File patterns relative to the configuration file."""

    type_name = "list of patterns"

    def parse(self, value: object, base: Path) -> tuple[Glob, ...]:
        return tuple(Glob(pattern, base) for pattern in super().parse(value, base))

    def to_plain(self, value: Any) -> Any:
        return [glob.pattern for glob in value]


class GlobCodes(Kind):
    """A table from file patterns to lists of rules."""

    type_name = "table of patterns to lists of rules"

    def parse(self, value: object, base: Path) -> tuple[tuple[Glob, tuple[str, ...]], ...]:
        if not isinstance(value, dict):
            raise ValueFault(f"must be a table of patterns to lists of rules, not {_shown(value)}")
        return tuple((Glob(pattern, base), _SELECTORS.parse(codes, base)) for pattern, codes in value.items())

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": _SELECTORS.schema()}

    def to_plain(self, value: Any) -> Any:
        return {glob.pattern: list(codes) for glob, codes in value}


_SELECTORS = Selectors()


class SeverityTable(Kind):
    """A table from rules to severities."""

    type_name = "table of rules to severities"
    _severity = Choice(Severity)

    def parse(self, value: object, base: Path) -> dict[str, Severity]:
        if not isinstance(value, dict):
            raise ValueFault(f'must be a table such as {{ JIT404 = "info" }}, not {_shown(value)}')
        rules = _SELECTORS.parse(list(value), base)
        return {rule: self._severity.parse(value[rule], base) for rule in rules}

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self._severity.schema()}

    def to_plain(self, value: Any) -> Any:
        return {rule: str(severity) for rule, severity in value.items()}


class Signatures(Kind):
    """A table from functions to lists of arguments."""

    type_name = "table of functions to lists of arguments"
    _arguments = Texts()

    def parse(self, value: object, base: Path) -> dict[str, tuple[str, ...]]:
        if not isinstance(value, dict):
            raise ValueFault(f"must be a table of functions to lists of arguments, not {_shown(value)}")
        return {function: self._arguments.parse(arguments, base) for function, arguments in value.items()}

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self._arguments.schema()}

    def to_plain(self, value: Any) -> Any:
        return {function: list(arguments) for function, arguments in value.items()}


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case list():
            return "a list"
        case dict():
            return "a table"
    return str(value)


def _closest(value: object, choices: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(value).lower(), list(choices), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""
