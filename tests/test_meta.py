"""Promises about the code base itself: codes are for ever, rules stay behind their wall, starting is cheap."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import jitlint
from jitlint import registry
from jitlint.api import Rule

ROOT = Path(__file__).resolve().parents[1]
RULES = registry.all_rules()
HEAVY = {"jax", "jaxlib", "numpy", "libcst", "flax", "equinox"}


def frozen_codes() -> dict[str, str]:
    """Code and name of every line of codes.txt."""
    lines = (ROOT / "tests" / "codes.txt").read_text("utf-8").splitlines()
    pairs = [line.removeprefix("gone ").split() for line in lines if line and not line.startswith("#")]
    assert len({code for code, _ in pairs}) == len(pairs), "a code is listed twice"
    return dict(pairs)


def test_codes_never_vanish_and_never_change_meaning() -> None:
    lines = (ROOT / "tests" / "codes.txt").read_text("utf-8").splitlines()
    gone = {line.split()[1] for line in lines if line.startswith("gone ")}
    present = {rule.code: rule.name for rule in registry.catalogue()}
    frozen = frozen_codes()
    assert {code: name for code, name in frozen.items() if code not in gone} == present
    assert not gone & present.keys()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_is_documented(rule: Rule) -> None:
    page = registry.documentation(rule.code)
    first = page.partition("\n\n")[0]
    assert first.strip().endswith("."), "the first paragraph is the summary of the rule: a sentence"
    assert len(" ".join(first.split())) <= 200, "the summary must fit a table"
    assert "```python" in page or "    " in page, "a page shows an example"
    assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since)


def test_what_is_read_from_sources_is_what_rules_are() -> None:
    assert list(registry.rule_infos()) == [rule.code for rule in RULES]
    for rule in RULES:
        info = registry.rule_infos()[rule.code]
        for field in ("code", "name", "severity", "since", "fix", "status"):
            assert getattr(info, field) == getattr(rule, field)
        assert info.page == inspect.getdoc(registry.rule_modules()[rule.code])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_name_is_the_pattern_not_the_advice(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert not rule.name.startswith(("use-", "avoid-", "no-", "do-not-", "prefer-", "missing-"))


@pytest.mark.parametrize("path", sorted((ROOT / "rules").glob("*.py")), ids=lambda path: path.name)
def test_a_rule_imports_the_interface_and_nothing_else(path: Path) -> None:
    allowed = {"jitlint.api", "libcst", "__future__"}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        for name in names:
            top = name.partition(".")[0]
            assert name in allowed or top in sys.stdlib_module_names or top == "libcst", f"{path.name} imports {name}"


def modules_after(program: str) -> set[str]:
    """The top-level modules that are loaded after a program ran in a fresh interpreter."""
    code = f"import sys\ntry:\n    {program}\nexcept SystemExit:\n    pass\nprint(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return {name.partition(".")[0] for name in run.stderr.split()}


@pytest.mark.parametrize(
    "program",
    [
        "import jitlint",
        "import jitlint.cli; jitlint.cli.main(['--version'])",
        "import jitlint.cli; jitlint.cli.main(['--help'])",
        "import jitlint.cli; jitlint.cli.main(['check', '--help'])",
    ],
)
def test_starting_imports_nothing_heavy(program: str) -> None:
    assert not modules_after(program) & HEAVY


def test_checking_never_imports_jax(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import jax\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
    )
    loaded = modules_after(f"import jitlint.cli; jitlint.cli.main(['check', {str(tmp_path)!r}])")
    assert not loaded & (HEAVY - {"libcst"})


def test_the_analysis_does_without_the_slow_part_of_libcst() -> None:
    """``libcst.matchers`` takes longer to import than the rest of it together."""
    program = (
        "import sys, jitlint.semantics.driver, jitlint.registry as r; r.all_rules(); print('libcst.matchers' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_the_packages_listed_are_those_there_are() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    there = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "jitlint").rglob("*.py")}
    assert sorted(listed) == sorted({*there, "jitlint.rules"})


def test_the_rules_are_found_once_under_one_name() -> None:
    assert "rules" not in sys.modules


def test_a_checkout_works_uninstalled(tmp_path: Path) -> None:
    """Without the installed mapping the registry falls back to the folder beside the package."""
    program = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'editable' not in type(f).__module__ + repr(f)]; "
        f"sys.path.insert(0, {str(ROOT)!r}); import jitlint.registry as r; "
        "print(*[rule.code for rule in r.all_rules()])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert run.stdout.split() == [rule.code for rule in RULES]


def test_the_public_names_are_there() -> None:
    for name in jitlint.__all__:
        assert getattr(jitlint, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(jitlint, "nothing")  # noqa: B009
