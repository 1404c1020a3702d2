"""Rules are found by being there, refused when they break the convention, and selected by code and prefix."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from jitlint import registry
from jitlint.api import Report, Rule
from jitlint.findings import Severity
from jitlint.project.config import Config


def rule(code: str = "JIT150", name: str = "some-rule", **changes: Any) -> Rule:
    fields: dict[str, Any] = {
        "severity": Severity.ERROR,
        "since": "0.1.0",
        "on": (int,),
        "check": _silent,
    }
    return Rule(code=code, name=name, **{**fields, **changes})


def _silent(event: object, ctx: object) -> Iterator[Report]:
    yield from ()


def module(name: str = "some_rule", doc: str | None = "What it finds.", **constants: object) -> ModuleType:
    made = ModuleType(f"jitlint.rules.{name}", doc)
    vars(made).update(constants)
    return made


RULES = [
    rule("JIT101", "one"),
    rule("JIT102", "two"),
    rule("JIT201", "three"),
    rule("JIT309", "quiet", severity=Severity.INFO),
    rule("JIT310", "young", status="preview"),
]


@pytest.fixture
def five_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {each.code: module(each.name, RULE=each) for each in RULES}
    infos = {
        each.code: registry.RuleInfo(
            each.code, each.name, each.severity, each.since, "What it finds.", each.fix, each.status
        )
        for each in RULES
    }
    monkeypatch.setattr(registry, "rule_modules", lambda: modules)
    monkeypatch.setattr(registry, "rule_infos", lambda: infos)


def on(**selectors: Any) -> set[str]:
    return {code for code in registry.selected_codes(Config(**selectors)) if not code.startswith("JIT9")}


def test_rules_are_loaded_once_and_never_from_the_checkout_top() -> None:
    assert registry.all_rules() == registry.all_rules()
    assert "rules" not in sys.modules


def test_a_sound_module_gives_its_rule() -> None:
    sound = rule()
    assert registry._validated(module(RULE=sound)) is sound


@pytest.mark.parametrize(
    ("faulty", "complaint"),
    [
        (module(), "no constant RULE"),
        (module(RULE="JIT150"), "no constant RULE"),
        (module(doc=None, RULE=rule()), "no docstring"),
        (module("other_rule", RULE=rule()), "its file says 'other-rule'"),
        (module(RULE=rule("J150")), "not of the form"),
        (module(RULE=rule("JIT1500")), "not of the form"),
        (module(RULE=rule(on=())), "no event"),
    ],
)
def test_a_module_that_breaks_the_convention_is_refused(faulty: ModuleType, complaint: str) -> None:
    with pytest.raises(registry.RuleError, match=complaint):
        registry._validated(faulty)


@pytest.mark.usefixtures("five_rules")
def test_info_and_preview_are_off_by_default() -> None:
    assert on() == {"JIT101", "JIT102", "JIT201"}


@pytest.mark.usefixtures("five_rules")
@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ({"select": ("JIT1",)}, {"JIT101", "JIT102"}),
        ({"select": ("ALL",)}, {"JIT101", "JIT102", "JIT201", "JIT309", "JIT310"}),
        ({"select": ("two",)}, {"JIT102"}),
        ({"select": ()}, set()),
        ({"select": ("two",), "ignore": ("JIT10",)}, {"JIT102"}),
        ({"select": ("JIT309",)}, {"JIT309"}),
        ({"extend_select": ("JIT310",)}, {"JIT101", "JIT102", "JIT201", "JIT310"}),
        ({"ignore": ("JIT1",)}, {"JIT201"}),
        ({"select": ("JIT1",), "ignore": ("JIT102",)}, {"JIT101"}),
        ({"select": ("JIT102",), "ignore": ("JIT1",)}, {"JIT102"}),
        ({"select": ("JIT102",), "ignore": ("JIT102",)}, set()),
        ({"select": ("ALL",), "ignore": ("ALL",)}, set()),
        ({"ignore": ("ALL",), "extend_select": ("JIT201",)}, {"JIT201"}),
        ({"extend_ignore": ("one",)}, {"JIT102", "JIT201"}),
    ],
)
def test_the_more_precise_selector_wins(selectors: dict[str, Any], expected: set[str]) -> None:
    assert on(**selectors) == expected


@pytest.mark.usefixtures("five_rules")
@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("JIT103", "did you mean 'JIT10[12]'"),
        ("jit1O1", "did you mean 'JIT101'"),
        ("AL", "did you mean 'ALL'"),
        ("E501", "jitlint rule --all"),
        ("", "jitlint rule --all"),
    ],
)
def test_an_unknown_selector_is_refused_with_a_hint(selector: str, hint: str) -> None:
    with pytest.raises(registry.UnknownRuleError, match=hint):
        registry.expand_selectors([selector])


@pytest.mark.usefixtures("five_rules")
def test_a_rule_is_found_by_code_or_name() -> None:
    assert registry.find_rule("jit101").name == "one"
    assert registry.find_rule("Three").code == "JIT201"
    assert registry.find_rule("JIT900").name == "unreadable-file"
    with pytest.raises(registry.UnknownRuleError, match="'three'"):
        registry.find_rule("thre")


@pytest.mark.usefixtures("five_rules")
def test_the_closest_severity_and_fixability_win() -> None:
    config = Config(
        severity={"JIT101": Severity.INFO, "ALL": Severity.ERROR, "JIT1": Severity.WARNING},
        fixable=("JIT1",),
        unfixable=("two",),
    )
    chosen = registry.severities(config)
    assert (chosen["JIT101"], chosen["JIT102"], chosen["JIT201"]) == (Severity.INFO, Severity.WARNING, Severity.ERROR)
    assert registry.fixable_codes(config) == {"JIT101"}


@pytest.mark.usefixtures("five_rules")
def test_rules_are_selected_in_the_order_of_codes() -> None:
    assert [rule.code for rule in registry.select_rules(Config(select=("JIT2", "JIT1")))] == [
        "JIT101",
        "JIT102",
        "JIT201",
    ]
