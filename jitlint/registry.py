"""Finds the rules and decides which of them run.

Rules are the modules of the package ``jitlint.rules``, which is the folder ``rules/`` of the repository. Nothing else
may name a rule module: a new rule is a new file. What a rule is called and what its page says is read from its source:
importing rules takes libcst and the engine, and is left to who runs them.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from jitlint.findings import Severity
from jitlint.project.config import Config

if TYPE_CHECKING:
    from jitlint.api import Rule

_CODE = re.compile(r"JIT\d{3}")
_PREFIX = re.compile(r"JIT\d{0,3}", re.IGNORECASE)


class RuleError(Exception):
    """A rule module that breaks the convention: a fault of jitlint, not of the code under analysis."""


class UnknownRuleError(ValueError):
    """A code or prefix that means no rule; the message suggests the nearest."""


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What is known of a rule without loading it: the fields of its record that are plain, and its page."""

    code: str
    name: str
    severity: Severity
    since: str
    page: str
    """Markdown, as written in its module."""
    fix: str = "none"
    status: str = "stable"


@dataclass(frozen=True, slots=True)
class ToolCode:
    """A code that jitlint itself reports, without a rule module."""

    code: str
    name: str
    severity: Severity
    summary: str
    fix: str = "none"


TOOL_CODES: tuple[ToolCode, ...] = (
    ToolCode("JIT900", "unreadable-file", Severity.ERROR, "A file that could not be read or parsed."),
    ToolCode("JIT901", "unused-ignore", Severity.WARNING, "An ignore comment that ignores nothing.", fix="safe"),
    ToolCode("JIT902", "unforeseen-error", Severity.ERROR, "An error that JAX raised and no rule foresaw."),
)


def _rules_package() -> ModuleType:
    """The package of rules, also in a checkout that was never installed, where no ``jitlint.rules`` exists."""
    try:
        return importlib.import_module("jitlint.rules")
    except ModuleNotFoundError as error:
        if error.name != "jitlint.rules":
            raise
    folder = Path(__file__).resolve().parents[1] / "rules"
    spec = importlib.util.spec_from_file_location(
        "jitlint.rules", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise RuleError(f"no rules found: neither the package jitlint.rules nor the folder {folder}")
    package = importlib.util.module_from_spec(spec)
    sys.modules["jitlint.rules"] = package
    spec.loader.exec_module(package)
    return package


def _validated(module: ModuleType) -> Rule:
    """The rule of one module, or RuleError saying what is wrong with it."""
    from jitlint.api import Rule

    where = module.__name__
    rule = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise RuleError(f"{where}: has no constant RULE of type jitlint.api.Rule")
    if not inspect.getdoc(module):
        raise RuleError(f"{where}: has no docstring; it is the page of the rule")
    stem = where.rpartition(".")[2]
    if rule.name != stem.replace("_", "-"):
        raise RuleError(f"{where}: the rule is named {rule.name!r}, but its file says {stem.replace('_', '-')!r}")
    if not _CODE.fullmatch(rule.code):
        raise RuleError(f"{where}: the code {rule.code!r} is not of the form JIT123")
    if not rule.on:
        raise RuleError(f"{where}: the rule names no event to be called on")
    return rule


@cache
def rule_modules() -> dict[str, ModuleType]:
    """Every rule module by code, in the order of codes. Raises RuleError for a module that breaks the convention."""
    package = _rules_package()
    modules: dict[str, ModuleType] = {}
    taken = {tool.code for tool in TOOL_CODES}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"jitlint.rules.{info.name}")
        code = _validated(module).code
        if code in taken:
            raise RuleError(f"{module.__name__}: the code {code} is taken")
        taken.add(code)
        modules[code] = module
    return dict(sorted(modules.items()))


@cache
def rule_infos() -> dict[str, RuleInfo]:
    """What is known of every rule by code, in the order of codes. Raises RuleError for one that cannot be read."""
    infos = {}
    for folder in _rules_package().__path__:
        for path in Path(folder).glob("[!_]*.py"):
            info = _info(path)
            infos[info.code] = info
    return dict(sorted(infos.items()))


def _info(path: Path) -> RuleInfo:
    """The plain fields of the constant RULE in the source of a rule."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    fields: dict[str, str] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="RULE")], value=ast.Call(keywords=keywords)):
                for keyword in keywords:
                    match keyword.value:
                        case ast.Constant(value=str(value)) | ast.Attribute(value=ast.Name(id="Severity"), attr=value):
                            fields[keyword.arg or ""] = value
    page = ast.get_docstring(tree)
    if page is None or not {"code", "name", "severity", "since"} <= fields.keys():
        raise RuleError(f"jitlint.rules.{path.stem}: its page, code, name, severity and version are to be literals")
    return RuleInfo(**{**fields, "severity": Severity[fields["severity"]], "page": page})  # type: ignore[arg-type]


def all_rules() -> tuple[Rule, ...]:
    """Every rule, loaded, in the order of codes. Raises RuleError for a module that breaks the convention."""
    return tuple(module.RULE for module in rule_modules().values())


def catalogue() -> tuple[RuleInfo | ToolCode, ...]:
    """Everything that has a code, in the order of codes."""
    return tuple(sorted([*rule_infos().values(), *TOOL_CODES], key=lambda each: each.code))


def documentation(code: str) -> str:
    """The page of a rule, as written in its module: Markdown. Raises KeyError for a code without a module."""
    return rule_infos()[code].page


def known_codes() -> tuple[str, ...]:
    """Every code that a finding can carry: those of the rules and those of the tool."""
    return tuple(known_names())


def known_names() -> dict[str, str]:
    """The name of every code, in the order of codes."""
    return {rule.code: rule.name for rule in catalogue()}


def find_rule(name_or_code: str) -> RuleInfo | ToolCode:
    """The rule of a code or a name, in any case. Raises UnknownRuleError with the nearest for anything else."""
    wanted = name_or_code.strip()
    names = known_names()
    for rule in catalogue():
        if wanted.upper() == rule.code or wanted.lower() == rule.name:
            return rule
    raise UnknownRuleError(_unknown(wanted, [*names, *names.values()]))


def expand_selectors(selectors: Iterable[str]) -> frozenset[str]:
    """The codes that selectors mean: a code, a prefix such as ``JIT1``, the name of a rule, or ``ALL``.

    Raises UnknownRuleError for a selector that means nothing, with the nearest code.
    """
    return frozenset(code for selector in selectors for code in _expand(selector))


def _expand(selector: str) -> tuple[str, ...]:
    wanted = selector.strip()
    names = known_names()
    if wanted.upper() == "ALL":
        return tuple(names)
    if wanted.lower() in names.values():
        return tuple(code for code, name in names.items() if name == wanted.lower())
    found = tuple(code for code in names if _PREFIX.fullmatch(wanted) and code.startswith(wanted.upper()))
    if not found:
        raise UnknownRuleError(_unknown(wanted, [*names, *names.values(), "ALL"]))
    return found


def _unknown(wanted: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    by_folded = {name.casefold(): name for name in known}
    folded = wanted.casefold()
    near = get_close_matches(folded, by_folded, n=len(by_folded), cutoff=0.6)
    # Digits that trade places count as close as one that is wrong, which is much the likelier.
    near.sort(key=lambda name: sum(a == b for a, b in zip(name, folded, strict=False)), reverse=True)
    hint = f"did you mean {by_folded[near[0]]!r}?" if near else "`jitlint rule --all` lists all codes"
    return f"unknown rule {wanted!r}; {hint}"


def default_codes() -> frozenset[str]:
    """The codes that are on without any selection: stable, and more than informative."""
    on = {rule.code for rule in rule_infos().values() if rule.status == "stable" and rule.severity is not Severity.INFO}
    return frozenset(on | {tool.code for tool in TOOL_CODES})


def closeness(selectors: Iterable[str]) -> dict[str, int]:
    """How closely each code that the selectors mean is named: 0 by ``ALL``, else by the length of the prefix.

    A name is as close as the whole code. Raises UnknownRuleError for a selector that means nothing.
    """
    closest: dict[str, int] = {}
    for selector in selectors:
        wanted = selector.strip()
        rank = 0 if wanted.upper() == "ALL" else len(wanted) if _PREFIX.fullmatch(wanted) else len("JIT101")
        for code in _expand(selector):
            closest[code] = max(rank, closest.get(code, -1))
    return closest


def selected_codes(config: Config) -> frozenset[str]:
    """The codes that ``config`` turns on.

    The selector that names a code most closely decides: ``select JIT1, ignore JIT102`` is the family without that
    rule, ``select JIT102, ignore JIT1`` that rule alone; of equally close ones the one that ignores decides. Raises
    UnknownRuleError for a selector that means nothing.
    """
    chosen = dict.fromkeys(default_codes(), 0) if config.select is None else closeness(config.select)
    added = closeness(config.extend_select)
    ignored = closeness((*config.ignore, *config.extend_ignore))
    return frozenset(
        code for code in known_codes() if max(chosen.get(code, -1), added.get(code, -1)) > ignored.get(code, -1)
    )


def fixable_codes(config: Config) -> frozenset[str]:
    """The codes whose fixes ``config`` lets be applied. Raises UnknownRuleError for a selector that means nothing."""
    allowed = closeness(("ALL",) if config.fixable is None else config.fixable)
    denied = closeness(config.unfixable)
    return frozenset(code for code, close in allowed.items() if close > denied.get(code, -1))


def severities(config: Config) -> dict[str, Severity]:
    """The severity of each code for which ``config`` sets one. Raises UnknownRuleError."""
    by_closeness = sorted(config.severity.items(), key=lambda item: min(closeness([item[0]]).values()))
    return {code: severity for selector, severity in by_closeness for code in expand_selectors([selector])}


def select_rules(config: Config) -> tuple[Rule, ...]:
    """The rules that ``config`` turns on, in the order of codes. Raises UnknownRuleError as :func:`selected_codes`."""
    codes = selected_codes(config)
    return tuple(rule for rule in all_rules() if rule.code in codes)
