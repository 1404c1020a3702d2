"""The generated pages are up to date, and the generator says so when they are not."""

from __future__ import annotations

import importlib
import re
import shutil
import textwrap
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from jitlint import docs
from jitlint.api import Rule
from jitlint.cli.app import COMMANDS
from jitlint.library import check_source
from jitlint.registry import known_codes

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The part of a checkout that the generator reads and writes."""
    shutil.copy(ROOT / "README.md", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    assert CliRunner().invoke(docs.main, ["--root", str(tmp_path)]).exit_code == 0
    return tmp_path


def check(root: Path) -> tuple[int, str]:
    result = CliRunner().invoke(docs.main, ["--check", "--root", str(root)])
    return result.exit_code, result.output


def test_the_pages_of_this_checkout_are_up_to_date() -> None:
    assert check(ROOT) == (0, "")


def test_every_code_has_a_page_and_a_place_in_the_tables(checkout: Path) -> None:
    index = (checkout / "docs" / "rules" / "index.md").read_text("utf-8")
    readme = (checkout / "README.md").read_text("utf-8")
    for code in known_codes():
        page = (checkout / "docs" / "rules" / f"{code}.md").read_text("utf-8")
        assert f"# {code}: " in page
        assert f"]({code}.md)" in index
        assert f"](docs/rules/{code}.md)" in readme


def test_what_is_out_of_date_is_named_and_left_alone(checkout: Path) -> None:
    page = checkout / "docs" / "rules" / "JIT900.md"
    page.write_text("old", "utf-8")
    orphan = checkout / "docs" / "rules" / "JIT999.md"
    orphan.write_text("gone", "utf-8")
    code, output = check(checkout)
    assert code == 1
    assert "JIT900.md is out of date" in output
    assert "JIT999.md belongs to no rule" in output
    assert page.read_text("utf-8") == "old"
    assert orphan.exists()


def test_writing_repairs_it(checkout: Path) -> None:
    (checkout / "docs" / "rules" / "JIT900.md").unlink()
    (checkout / "docs" / "rules" / "JIT999.md").write_text("gone", "utf-8")
    assert CliRunner().invoke(docs.main, ["--root", str(checkout)]).exit_code == 0
    assert check(checkout) == (0, "")
    assert not (checkout / "docs" / "rules" / "JIT999.md").exists()


def test_the_sample_is_what_jitlint_says(checkout: Path) -> None:
    page = checkout / "docs" / "index.md"
    page.write_text(page.read_text("utf-8").replace("if training:", "if not training:"), "utf-8")
    assert check(checkout)[0] == 1
    assert CliRunner().invoke(docs.main, ["--root", str(checkout)]).exit_code == 0
    assert "6 |     if not training:" in page.read_text("utf-8")


def test_a_readme_without_markers_is_refused(checkout: Path) -> None:
    (checkout / "README.md").write_text("nothing", "utf-8")
    with pytest.raises(ValueError, match=r"README\.md lacks the markers"):
        docs.generated(checkout)


@pytest.mark.parametrize("page", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_options_in_the_documents_exist() -> None:
    commands = [importlib.import_module(home.partition(":")[0]) for home, _ in COMMANDS.values()]
    known = {"--help", "--version"}
    for module in commands:
        for command in vars(module).values():
            if isinstance(command, click.Command):
                known |= {name for param in command.params for name in param.opts}
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
        for line in page.read_text("utf-8").splitlines():
            if "jitlint" in line:
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line):
                    assert option in known, f"{page.name}: {option}"


def test_the_rule_in_the_guide_is_a_rule() -> None:
    text = (ROOT / "docs" / "adding-a-rule.md").read_text("utf-8")
    program = textwrap.dedent(text.partition("    ```python\n")[2].partition("    ```")[0])
    names: dict[str, object] = {}
    exec(compile(program, "adding-a-rule.md", "exec"), names)
    assert isinstance(names["RULE"], Rule)


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a language in a page."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def test_the_model_in_the_documents_finds_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "mylib.toml").write_text(blocks("modelling-a-library.md", "toml")[0])
    program = blocks("modelling-a-library.md", "python")[0]
    wanted = [(row, code) for row, line in enumerate(program.splitlines(), start=3) for code in re.findall(r"JIT\d+", line)]
    report = check_source(
        f"import jax.numpy as jnp\nimport mylib\n{program}",
        str(tmp_path / "a.py"),
        options={"extra-models": [str(tmp_path / "mylib.toml")]},
    )
    assert [(finding.span.row, finding.code) for finding in report.findings] == wanted
    assert len(wanted) == 2


def test_every_setting_of_the_editor_is_documented() -> None:
    from jitlint.server.options import SETTINGS, read_options

    page = (ROOT / "docs" / "editors.md").read_text()
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page.partition("## Settings")[2], re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"\w+", row)}
    _, faults = read_options(dict.fromkeys(documented), ROOT)
    assert faults == []
    assert documented == set(SETTINGS)
