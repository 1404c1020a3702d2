"""A rule explained: its docstring as a page, and what tables say of it."""

from __future__ import annotations

from jitlint.registry import RuleInfo, ToolCode

_FIX_WORDS = {"safe": "safe (`--fix`)", "unsafe": "unsafe (`--unsafe-fixes`)", "none": "none"}


def facts(rule: RuleInfo | ToolCode) -> dict[str, str]:
    """What a table says of a rule, by field name: code, name, severity, fix, since, status."""
    record = {"code": rule.code, "name": rule.name, "severity": rule.severity.value, "fix": rule.fix}
    if isinstance(rule, RuleInfo):
        return {**record, "since": rule.since, "status": rule.status, "summary": summary(rule)}
    return {**record, "since": "0.1.0", "status": "stable", "summary": summary(rule)}


def page_body(rule: RuleInfo | ToolCode) -> str:
    """The explanation of a rule in Markdown, without title."""
    return rule.page if isinstance(rule, RuleInfo) else rule.summary


def summary(rule: RuleInfo | ToolCode) -> str:
    """The first sentence of a rule's page, on one line."""
    return " ".join(page_body(rule).partition("\n\n")[0].split())


def rule_page(rule: RuleInfo | ToolCode) -> str:
    """The whole page of a rule in Markdown."""
    known = facts(rule)
    state = "" if known["status"] == "stable" else f" · **{known['status']}**: off unless selected"
    line = f"Severity: **{known['severity']}** · Fix: {_FIX_WORDS[known['fix']]} · Since {known['since']}{state}"
    return f"# {rule.code}: {rule.name}\n\n{line}\n\n{page_body(rule)}\n"
