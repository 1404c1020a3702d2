"""Configuration: ``jitlint.toml``, ``.jitlint.toml`` or ``[tool.jitlint]`` in ``pyproject.toml``.

Each option is declared once, as a field of :class:`Config`; the loader, the error messages, the JSON Schema and the
documentation are made from that declaration.
"""

# ruff: noqa: RUF009 - `option` is a `dataclasses.field`

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jitlint.findings import Certainty, Severity
from jitlint.project.options import (
    Boolean,
    Choice,
    DottedNames,
    FilePath,
    FilePaths,
    Glob,
    GlobCodes,
    Globs,
    Kind,
    Number,
    Selectors,
    SeverityTable,
    Signatures,
    Text,
    ValueFault,
)

FILE_NAMES = (".jitlint.toml", "jitlint.toml", "pyproject.toml")
"""In order of precedence within one directory."""

DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".jitlint_cache",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

OUTPUT_FORMATS = (
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "github",
    "gitlab",
    "junit",
    "sarif",
    "rdjson",
    "pylint",
)


class ConfigError(Exception):
    """A configuration that cannot be used: which file (or command-line option), which key, what to write instead."""

    def __init__(self, source: str, message: str, key: str | None = None) -> None:
        self.source = source
        self.key = key
        self.message = message
        super().__init__(f"{source}: `{key}`: {message}" if key else f"{source}: {message}")


def option(kind: Kind, default: Any, doc: str, example: str) -> Any:
    """Declare an option: its kind of value, its default, what it is for, and an example in TOML."""
    metadata = {"kind": kind, "doc": doc, "example": example}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class DynamicConfig:
    """The table ``dynamic``: how code is tried under JAX itself."""

    python: str | None = option(
        Text(),
        None,
        "The interpreter that has your program's packages. Without it, the one that runs jitlint.",
        'python = ".venv/bin/python"',
    )
    timeout: float = option(
        Number(minimum=1, integral=False),
        60.0,
        "Seconds that one module may take to import and trace.",
        "timeout = 120",
    )
    allow_import: bool = option(
        Boolean(),
        True,
        "Whether the modules under test may be imported. With `false`, `--dynamic` refuses to run.",
        "allow-import = false",
    )
    construct: bool = option(
        Boolean(),
        True,
        "Whether constructors, and functions that return jitted functions or are named as what makes things, may be "
        "called to get at what they make. With `false`, methods and functions inside functions are traced only where "
        "the import calls them, or with a signature.",
        "construct = false",
    )
    signatures: Mapping[str, tuple[str, ...]] = option(
        Signatures(),
        {},
        "Arguments to trace a function with, by the function's dotted name: arrays as `dtype[shape]`, and literals.",
        'signatures = { "models.step" = ["float32[8,3]", "train=True"] }',
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The settings for one directory tree. Every field but ``root`` and ``source`` is an option."""

    select: tuple[str, ...] | None = option(
        Selectors(),
        None,
        "The rules to run: codes, beginnings of codes, rule names, or `ALL`. Without it, every stable rule of severity "
        "error or warning.",
        'select = ["JIT1", "JIT401"]',
    )
    ignore: tuple[str, ...] = option(
        Selectors(), (), "Rules to leave out; the longer of two selectors wins.", 'ignore = ["JIT404"]'
    )
    extend_select: tuple[str, ...] = option(
        Selectors(), (), "Rules to run in addition to `select`.", 'extend-select = ["JIT309"]'
    )
    extend_ignore: tuple[str, ...] = option(
        Selectors(), (), "Rules to leave out in addition to `ignore`.", 'extend-ignore = ["JIT308"]'
    )
    per_file_ignores: tuple[tuple[Glob, tuple[str, ...]], ...] = option(
        GlobCodes(),
        (),
        "Rules to leave out in the files that match a pattern. A pattern that begins with `!` means all other files.",
        'per-file-ignores = { "tests/**" = ["JIT404"], "!src/**" = ["JIT308"] }',
    )
    exclude: tuple[Glob, ...] = option(
        Globs(),
        tuple(Glob(pattern, None) for pattern in DEFAULT_EXCLUDE),
        "Files and directories that are not looked for, as patterns in the style of `.gitignore`, relative to the "
        "configuration file.",
        'exclude = ["third_party", "*_pb2.py"]',
    )
    extend_exclude: tuple[Glob, ...] = option(
        Globs(), (), "Patterns in addition to `exclude`.", 'extend-exclude = ["notebooks/old"]'
    )
    respect_gitignore: bool = option(
        Boolean(),
        True,
        "Whether files that `.gitignore`, `.ignore` or `.git/info/exclude` name are skipped.",
        "respect-gitignore = false",
    )
    force_exclude: bool = option(
        Boolean(),
        False,
        "Whether `exclude` also holds for files that are named on the command line, as pre-commit does.",
        "force-exclude = true",
    )
    jax_version: str | None = option(
        Text(pattern=r"\d+(\.\d+){0,2}", expected='a version such as "0.4.30"'),
        None,
        "The lowest JAX that the project supports; fixes are spelled for it. Without it, taken from the project's "
        "requirement on jax.",
        'jax-version = "0.4.30"',
    )
    src: tuple[Path, ...] | None = option(
        FilePaths(),
        None,
        "Directories that imports start from, relative to the configuration file. Without it, the project's root and "
        "its `src`.",
        'src = ["python", "tests"]',
    )
    unroll_threshold: int = option(
        Number(minimum=1),
        32,
        "Iterations from which a Python loop inside traced code counts as an unrolled loop (JIT308).",
        "unroll-threshold = 100",
    )
    captured_constant_bytes: int = option(
        Number(minimum=1),
        1024 * 1024,
        "Bytes from which an array that traced code closes over counts as large (JIT409).",
        "captured-constant-bytes = 65536",
    )
    max_variants: int = option(
        Number(minimum=1),
        3,
        "Values of a static parameter that a program may compile for before it counts as recompiling (JIT204).",
        "max-variants = 8",
    )
    assume_jitted: tuple[str, ...] = option(
        DottedNames(),
        (),
        "Functions that are traced in a way jitlint cannot see, by dotted name; `*` matches any part.",
        'assume-jitted = ["models.step", "losses.*"]',
    )
    extra_models: tuple[Path, ...] = option(
        FilePaths(),
        (),
        "Files that describe further libraries, in the format of jitlint's own library data.",
        'extra-models = ["jitlint-models/mylib.toml"]',
    )
    severity: Mapping[str, Severity] = option(
        SeverityTable(), {}, "Severities to report rules with, by code or name.", 'severity = { JIT404 = "info" }'
    )
    min_severity: Severity = option(
        Choice(Severity), Severity.INFO, "Findings below this severity are left out.", 'min-severity = "error"'
    )
    min_certainty: Certainty = option(
        Choice(Certainty),
        Certainty.POSSIBLE,
        "With `definite`, what only some caller may run into is left out.",
        'min-certainty = "definite"',
    )
    output_format: str = option(
        Choice(OUTPUT_FORMATS), "full", "How findings are written.", 'output-format = "concise"'
    )
    fixable: tuple[str, ...] | None = option(
        Selectors(), None, "The rules whose fixes may be applied. Without it, all.", 'fixable = ["JIT102"]'
    )
    unfixable: tuple[str, ...] = option(
        Selectors(), (), "Rules whose fixes are never applied.", 'unfixable = ["JIT404"]'
    )
    unsafe_fixes: bool = option(
        Boolean(),
        False,
        "Whether `--fix` also applies fixes that may change what the code does.",
        "unsafe-fixes = true",
    )
    baseline: Path | None = option(
        FilePath(),
        None,
        "A file of findings that are known and not reported, as `--write-baseline` writes it.",
        'baseline = "jitlint-baseline.txt"',
    )
    dynamic: DynamicConfig = field(default_factory=DynamicConfig)
    root: Path = field(default_factory=Path.cwd)
    """The directory of the configuration file, or the current one."""
    source: Path | None = None
    """The configuration file, or None for the defaults."""

    def with_overrides(self, values: Mapping[str, object], source: str, base: Path | None = None) -> Config:
        """This configuration with options set from a TOML-like mapping; paths are relative to ``base``.

        ``source`` says in errors where the values came from. Raises :class:`ConfigError`.
        """
        return _overlaid(self, values, source, base or Path.cwd())


@dataclass(frozen=True, slots=True)
class Option:
    """What the documentation says of one option."""

    key: str
    """As written in TOML, with the table before it (``dynamic.timeout``)."""
    type: str
    default: object
    doc: str
    example: str


def options() -> tuple[Option, ...]:
    """Every option in the order of declaration, as plain data."""
    return tuple(_options(Config, ""))


def _options(owner: type[Any], prefix: str) -> Iterator[Option]:
    defaults = owner()
    for declared in dataclasses.fields(owner):
        kind: Kind | None = declared.metadata.get("kind")
        if declared.name == "dynamic":
            yield from _options(DynamicConfig, "dynamic.")
        elif kind is not None:
            default = kind.to_plain(getattr(defaults, declared.name))
            meta = declared.metadata
            yield Option(prefix + _key(declared.name), kind.type_name, default, meta["doc"], meta["example"])


def settings(config: Config) -> dict[str, object]:
    """The values of ``config`` as plain data by key, for ``--show-settings``."""
    return _plain(config)


def _plain(config: Any) -> dict[str, object]:
    plain: dict[str, object] = {}
    for declared in dataclasses.fields(config):
        value = getattr(config, declared.name)
        if declared.name == "dynamic":
            plain[declared.name] = _plain(value)
        elif (kind := declared.metadata.get("kind")) is not None:
            plain[_key(declared.name)] = kind.to_plain(value)
    return plain


def json_schema() -> dict[str, object]:
    """A JSON Schema of ``jitlint.toml`` (and of the table ``tool.jitlint``) for editors."""
    properties = _schema_properties(Config)
    properties["extend"] = {"type": "string", "description": "Another configuration file that this one builds on."}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "jitlint",
        "type": "object",
        "additionalProperties": False,
        "properties": dict(sorted(properties.items())),
    }


def _schema_properties(owner: type[Any]) -> dict[str, object]:
    properties: dict[str, object] = {}
    defaults = owner()
    for declared in dataclasses.fields(owner):
        kind: Kind | None = declared.metadata.get("kind")
        if declared.name == "dynamic":
            properties["dynamic"] = {
                "type": "object",
                "additionalProperties": False,
                "description": "How code is tried under JAX itself.",
                "properties": _schema_properties(DynamicConfig),
            }
        elif kind is not None:
            schema = {"description": declared.metadata["doc"], **kind.schema()}
            default = kind.to_plain(getattr(defaults, declared.name))
            if default is not None:
                schema["default"] = default
            properties[_key(declared.name)] = schema
    return properties


# --- reading --------------------------------------------------------------------------------------------------------


def load_config(path: Path) -> Config:
    """The configuration in the file at ``path``, with what it extends.

    Raises :class:`ConfigError` naming file, key and what to write instead.
    """
    return _load(path.absolute(), ())


def find_config(directory: Path) -> Path | None:
    """The configuration file in ``directory`` itself, if there is one."""
    for name in FILE_NAMES:
        path = directory / name
        if path.is_file() and (name != "pyproject.toml" or _has_section(path)):
            return path
    return None


def parse_override(argument: str) -> dict[str, object]:
    """The value of ``--config key=value``: TOML, or a bare word, or words with commas for a list.

    Raises :class:`ConfigError` when it is neither.
    """
    try:
        return tomllib.loads(argument)
    except tomllib.TOMLDecodeError as error:
        key, equals, value = argument.partition("=")
        if not equals or not key.strip() or any(character in value for character in "\"'[]{}\n"):
            raise ConfigError("--config", f"`{argument}` is neither a file nor `key = value` ({error})") from None
        word = value.strip()
        table: dict[str, object] = {}
        inner = table
        *tables, last = key.strip().split(".")
        for name in tables:
            inner[name] = inner = {}
        kind = _kind_of(tables, last)
        inner[last] = [part.strip() for part in word.split(",")] if kind is not None and kind.is_list else word
        return table


def _kind_of(tables: list[str], key: str) -> Kind | None:
    owner: type[Any] = DynamicConfig if tables == ["dynamic"] else Config
    declared = next((known for known in dataclasses.fields(owner) if _key(known.name) == key), None)
    return declared.metadata.get("kind") if declared is not None else None


class ConfigResolver:
    """Finds, for each path, the configuration of the nearest directory, as Ruff does; each file is read once.

    ``config_file`` replaces the search, ``isolated`` leaves only the defaults, ``overrides`` (tables of options, from
    the command line) are laid over whatever was found.
    """

    def __init__(
        self,
        overrides: Iterable[Mapping[str, object]] = (),
        *,
        config_file: Path | None = None,
        isolated: bool = False,
    ) -> None:
        self._overrides = tuple(overrides)
        self._isolated = isolated
        self._fixed = self._finish(load_config(config_file)) if config_file is not None else None
        self._by_directory: dict[Path, Config] = {}
        self._by_file: dict[Path, Config] = {}

    def for_file(self, path: Path) -> Config:
        """The configuration of the file at the absolute ``path``; raises :class:`ConfigError`."""
        return self.for_directory(path.parent)

    def for_directory(self, directory: Path) -> Config:
        """The configuration of what is in the absolute ``directory``; raises :class:`ConfigError`."""
        if self._fixed is not None:
            return self._fixed
        config = self._by_directory.get(directory)
        if config is None:
            config = self._by_directory[directory] = self._find(directory)
        return config

    def _find(self, directory: Path) -> Config:
        if self._isolated:
            return self._finish(Config())
        if (path := find_config(directory)) is not None:
            if path not in self._by_file:
                self._by_file[path] = self._finish(load_config(path))
            return self._by_file[path]
        if directory.parent == directory:
            return self._finish(Config())
        return self.for_directory(directory.parent)

    def _finish(self, config: Config) -> Config:
        for values in self._overrides:
            config = config.with_overrides(values, "--config")
        return config


def _has_section(path: Path) -> bool:
    tool = _read_toml(path).get("tool")
    return isinstance(tool, dict) and "jitlint" in tool


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), f"is not valid TOML: {error}") from None


def _load(path: Path, extended_by: tuple[Path, ...]) -> Config:
    if path in extended_by:
        raise ConfigError(str(extended_by[-1]), f"extends {path}, which extends it in turn", "extend")
    content = _read_toml(path)
    if path.name == "pyproject.toml":
        tool = content.get("tool", {})
        content = tool.get("jitlint", {}) if isinstance(tool, dict) else {}
    if not isinstance(content, dict):
        raise ConfigError(str(path), "must be a table", "tool.jitlint")
    parent = content.pop("extend", None)
    base = Config()
    if parent is not None:
        if not isinstance(parent, str):
            raise ConfigError(str(path), "must be the path of a configuration file", "extend")
        target = (path.parent / Path(parent).expanduser()).resolve()
        if not target.is_file():
            raise ConfigError(str(path), f"there is no file {target}", "extend")
        base = _load(target, (*extended_by, path))
    return dataclasses.replace(_overlaid(base, content, str(path), path.parent), root=path.parent, source=path)


_ACCUMULATING = ("extend_select", "extend_ignore", "extend_exclude")


def _overlaid(config: Config, table: Mapping[str, object], source: str, base: Path) -> Config:
    """``config`` with the options of a TOML table; raises :class:`ConfigError` at the first key that is wrong."""
    table = dict(table)
    dynamic = table.pop("dynamic", {})
    if not isinstance(dynamic, dict):
        raise ConfigError(source, "must be a table", "dynamic")
    values = _parse_table(Config, table, source, base)
    for name in _ACCUMULATING:
        if name in values:
            values[name] = (*getattr(config, name), *values[name])
    inner = _parse_table(DynamicConfig, dynamic, source, base, "dynamic.")
    return dataclasses.replace(config, **values, dynamic=dataclasses.replace(config.dynamic, **inner))


def _parse_table(
    owner: type[Any], table: Mapping[str, object], source: str, base: Path, prefix: str = ""
) -> dict[str, Any]:
    """Field values for ``owner`` from a TOML table."""
    kinds = {_key(known.name): known for known in dataclasses.fields(owner) if "kind" in known.metadata}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in kinds:
            raise ConfigError(source, _unknown_key(key, kinds), prefix + key)
        kind: Kind = kinds[key].metadata["kind"]
        try:
            values[kinds[key].name] = kind.parse(value, base)
        except ValueFault as fault:
            raise ConfigError(source, str(fault), prefix + key) from None
    return values


def _unknown_key(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key.replace("_", "-"), [*known, "extend", "dynamic"], n=1)
    return f"there is no such option{f'; did you mean `{close[0]}`?' if close else ''}"


def _key(name: str) -> str:
    return name.replace("_", "-")
