"""The lowest JAX that a project supports, from its configuration or from what it requires."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jitlint.project.config import Config
from jitlint.project.model import JaxTarget, Module

_REQUIREMENT = re.compile(r"\s*jax\s*(?:\[[^\]]*\])?\s*(?P<specifier>[^;#@]*)", re.IGNORECASE)
_NAME_GOES_ON = re.compile(r"\s*jax[\w.-]", re.IGNORECASE)
_CLAUSE = re.compile(r"(?P<operator>===|==|~=|>=|<=|!=|<|>|\^|~)?\s*v?(?P<version>\d+(?:\.\d+)*)")
_LOWER_BOUNDS = frozenset({"==", "===", "~=", ">=", ">", "^", "~", None})
_EXACT = frozenset({"==", "==="})


def jax_target(config: Config, root: Path) -> JaxTarget:
    """The lowest JAX to write fixes for, in the project at ``root``.

    That is ``jax-version`` of the configuration, else the lowest version that the project's requirement on jax
    allows, looked for in ``pyproject.toml`` (dependencies, then optional ones and groups), ``setup.cfg`` and
    ``requirements*.txt``. A requirement without a lower bound allows any version, and leaves the target open.
    """
    if config.jax_version is not None:
        return JaxTarget(parse_version(config.jax_version), source="jax-version")
    notes: list[str] = []
    for source, requirements in _requirement_groups(root):
        found = [(requirement, lowest_version(requirement)) for requirement in requirements if is_jax(requirement)]
        bounded = [(version, requirement) for requirement, version in found if version is not None]
        if bounded:
            version, requirement = min(bounded)
            return JaxTarget(version, source=f"{source}: {requirement.strip()}", notes=notes)
        if found:
            notes.append(f"{source} requires jax without a lower bound")
    return JaxTarget(notes=notes)


def project_target(modules: Sequence[Module], config: Config) -> JaxTarget:
    """The lowest JAX that the project of these modules supports: that of the first one."""
    root = next((module.path.parent for module in modules), Path())
    while not (root / "pyproject.toml").exists() and not (root / ".git").exists() and root != root.parent:
        root = root.parent
    return jax_target(config, root)


def parse_version(text: str) -> tuple[int, ...]:
    """``"0.4.30"`` as numbers; what follows them (``rc1``) is dropped."""
    match = _CLAUSE.match(text.strip())
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    return tuple(int(part) for part in match["version"].split("."))


def is_jax(requirement: str) -> bool:
    """Whether a line of requirements asks for ``jax`` itself (not ``jaxlib``, ``jax-md`` …)."""
    return _REQUIREMENT.match(requirement) is not None and _NAME_GOES_ON.match(requirement) is None


def lowest_version(requirement: str) -> tuple[int, ...] | None:
    """The lowest version of jax that ``requirement`` (PEP 508, or Poetry's ``^`` and ``~``) allows, or None."""
    match = _REQUIREMENT.match(requirement)
    if match is None:
        return None
    bounds = [
        (clause["operator"], parse_version(clause["version"]))
        for part in match["specifier"].strip(" ()").split(",")
        if (clause := _CLAUSE.match(part.strip())) is not None and clause["operator"] in _LOWER_BOUNDS
    ]
    exact = [version for operator, version in bounds if operator in _EXACT]
    return max(exact or [version for _, version in bounds], default=None)


def _requirement_groups(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Where requirements stand, in order of trust, and the requirements there."""
    pyproject = _read_pyproject(root / "pyproject.toml")
    project = _table(pyproject, "project")
    yield "pyproject.toml", list(_strings(project.get("dependencies")))
    poetry = _table(pyproject, "tool", "poetry")
    yield "pyproject.toml", list(_poetry(_table(poetry, "dependencies")))
    setup = _read_setup_cfg(root / "setup.cfg")
    if setup.has_option("options", "install_requires"):
        yield "setup.cfg", setup.get("options", "install_requires").splitlines()
    for path in sorted(root.glob("requirements*.txt")):
        yield path.name, _read_lines(path)
    for table in (_table(project, "optional-dependencies"), _table(pyproject, "dependency-groups")):
        yield "pyproject.toml", [text for group in table.values() for text in _strings(group)]
    groups = _table(poetry, "group").values()
    yield "pyproject.toml", [text for group in groups for text in _poetry(_table(group, "dependencies"))]
    if setup.has_section("options.extras_require"):
        yield "setup.cfg", [text for _, lines in setup.items("options.extras_require") for text in lines.splitlines()]


def _poetry(dependencies: dict[str, Any]) -> Iterator[str]:
    for name, constraint in dependencies.items():
        if isinstance(constraint, dict):
            constraint = constraint.get("version", "")
        if isinstance(constraint, str):
            yield f"{name} {constraint.replace('*', '')}"


def _table(table: object, *keys: str) -> dict[str, Any]:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _strings(value: object) -> Iterable[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def _read_pyproject(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a broken pyproject.toml is the configuration loader's to report
        return {}


def _read_setup_cfg(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string("\n".join(_read_lines(path)))
    except configparser.Error:
        return configparser.ConfigParser()
    return parser


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
