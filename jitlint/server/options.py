"""What the editor's settings say, under the section ``jitlint``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from jitlint.project.config import ConfigResolver
from jitlint.settings import Selection

SECTION = "jitlint"


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of one workspace folder; the configuration files count below them."""

    enable: bool = True
    configuration: Path | None = None
    """A configuration file to use in place of the nearest one."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Keys of the configuration."""
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    hover: bool = True
    inlay_hints: bool = True
    show_syntax_errors: bool = True

    def resolver(self) -> ConfigResolver:
        """Where configurations come from, read anew. Raises ConfigError."""
        return ConfigResolver([self.options] if self.options else [], config_file=self.configuration)

    def selection(self) -> Selection:
        """The rules that are asked for. Raises UnknownRuleError."""
        chosen = Selection(self.select, self.ignore, self.extend_select)
        chosen.check()
        return chosen


SETTINGS = {
    "enable": "enable",
    "configuration": "configuration",
    "options": "options",
    "select": "select",
    "ignore": "ignore",
    "extendSelect": "extend_select",
    "hover": "hover",
    "inlayHints": "inlay_hints",
    "showSyntaxErrors": "show_syntax_errors",
}
"""The field of each setting."""


def read_options(settings: object, root: Path) -> tuple[Options, list[str]]:
    """The options in a JSON value from the editor, and what is wrong with it, a sentence each.

    What is wrong is left at its default. Paths are relative to ``root``.
    """
    if settings is None:
        return Options(), []
    if not isinstance(settings, Mapping):
        return Options(), [f"the settings of {SECTION} must be an object"]
    values: dict[str, Any] = {}
    faults: list[str] = []
    for key, value in settings.items():
        name = SETTINGS.get(key)
        if name is None:
            near = get_close_matches(str(key), SETTINGS, n=1)
            faults.append(f"there is no setting {SECTION}.{key}{f'; did you mean {near[0]}?' if near else ''}")
        elif value is not None:
            try:
                values[name] = _parsed(name, value, root)
            except ValueError as fault:
                faults.append(f"{SECTION}.{key} must be {fault}")
    return Options(**values), faults


def _parsed(name: str, value: object, root: Path) -> object:
    """The value of a field. Raises ValueError saying what it must be."""
    match name:
        case "configuration":
            if not isinstance(value, str):
                raise ValueError("the path of a configuration file")
            return root / Path(value).expanduser()
        case "options":
            if not isinstance(value, Mapping):
                raise ValueError("an object of keys of the configuration")
            return dict(value)
        case "select" | "ignore" | "extend_select":
            if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
                raise ValueError("a list of rules")
            return tuple(value)
        case _:
            if not isinstance(value, bool):
                raise ValueError("true or false")
            return value
