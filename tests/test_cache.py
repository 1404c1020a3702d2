"""The cache changes how long a run takes, and nothing else: whatever is in it, and whoever uses it at the same time."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jitlint
from jitlint import cache as cache_module
from jitlint import semantics
from jitlint.cache import FOLDER, Cache, default_folder, digest
from jitlint.findings import (
    Applicability,
    Certainty,
    Edit,
    Finding,
    Fix,
    NewImport,
    Severity,
    Span,
    Step,
)
from jitlint.plain import from_plain, to_plain
from jitlint.project.model import Project
from tests.cli.conftest import Run, here, run  # noqa: F401 - fixtures
from tests.cli.programs import BRANCH, BROKEN, CLEAN, FLAG


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of the files of each component that is really analysed, as they come."""
    engine = semantics.run
    seen: list[list[str]] = []

    def watched(project: Project, *arguments: Any, **options: Any) -> Any:
        seen.append([module.path.name for module in project.modules])
        return engine(project, *arguments, **options)

    monkeypatch.setattr(semantics, "run", watched)
    return seen


# --- one entry ------------------------------------------------------------------------------------------------------


def test_what_is_put_comes_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c")
    assert cache.get("k", "abcd") is None
    assert not (tmp_path / "c").exists(), "looking makes no folder"
    cache.put("k", "abcd", {"a": [1, "ü", None]})
    assert Cache(tmp_path / "c").get("k", "abcd") == {"a": [1, "ü", None]}
    assert cache.get("other", "abcd") is None


def test_the_folder_keeps_itself_out_of_repositories_and_backups(tmp_path: Path) -> None:
    Cache(tmp_path).put("k", "abcd", 1)
    assert (tmp_path / ".gitignore").read_text() == "*\n"
    assert (tmp_path / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other", "folder", "text"])
def test_a_damaged_entry_is_none(tmp_path: Path, damage: str) -> None:
    cache = Cache(tmp_path / "c")
    cache.put("k", "abcd", {"row": 17})
    cache.put("k", "abce", {"row": 18})
    [path, other] = sorted((tmp_path / "c").rglob("*.json"))
    data = path.read_bytes()
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        changed = {
            "cut": data[:-1],
            "flip": data.replace(b"17", b"16"),
            "empty": b"",
            "other": other.read_bytes(),
            "text": "größer".encode("latin-1"),
        }
        path.write_bytes(changed[damage])
    assert cache.get("k", "abcd") is None
    assert cache.get("k", "abce") == {"row": 18}


def test_a_folder_of_other_things_is_neither_used_nor_deleted(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    cache = Cache(tmp_path)
    cache.put("k", "abcd", 1)
    assert cache.trouble is not None and "no cache of jitlint" in cache.trouble
    with pytest.raises(ValueError, match="no cache of jitlint"):
        cache.clean()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_oldest_entries_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MAX_BYTES", 10_000)
    cache = Cache(tmp_path)
    for number in range(30):
        cache.put("k", f"ab{number:02}", "x" * 500)
        os.utime(tmp_path / jitlint.__version__ / "k" / "ab" / f"{number:02}.json", (number, number))
    cache.tidy()
    left = [number for number in range(30) if cache.get("k", f"ab{number:02}") is not None]
    assert left == list(range(30 - len(left), 30))
    assert 10 <= len(left) <= 16


def test_content_is_told_apart() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("ab", "c", "")}) == 4


def test_the_cache_is_at_the_root_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "src" / "p").mkdir(parents=True)
    assert default_folder(tmp_path / "src" / "p") == tmp_path / FOLDER


FULL = Finding(
    "JIT102",
    "nonstatic-flag",
    "it is “bad”",
    "a.py",
    Span(1, 2, 3, 4),
    Severity.WARNING,
    Certainty.POSSIBLE,
    "do it",
    (Step("b.py", 5, "here", 6),),
    Fix("add", (Edit("a.py", Span(1, 2, 1, 2), "x"),), Applicability.UNSAFE, (NewImport("a.py", "m", None),)),
    cell=3,
    qualname="f.g",
    url="https://example.org",
    properties={"variants": "2", "operations": 7},
)


@pytest.mark.parametrize("finding", [FULL, Finding("C", "n", "m", "f", Span(1, 1, 1, 1), Severity.ERROR)])
def test_a_finding_survives_as_json(finding: Finding) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(finding)))) == finding


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"code": 1},
        {**to_plain(FULL), "span": [1, 2, 3]},
        {**to_plain(FULL), "span": [1, 2, 3, "4"]},
        {**to_plain(FULL), "severity": "bad"},
        {**to_plain(FULL), "fix": {}},
        {**to_plain(FULL), "trace": [["b.py", 5]]},
        {**to_plain(FULL), "message": None},
    ],
)
def test_anything_else_is_no_finding(broken: object) -> None:
    with pytest.raises(ValueError):
        from_plain(broken)


# --- whole runs -----------------------------------------------------------------------------------------------------


def check(folder: Path, **options: object) -> jitlint.Report:
    return jitlint.check_paths([folder], isolated=True, cache_dir=folder / "cache", **options)  # type: ignore[arg-type]


def test_a_warm_run_analyses_and_parses_nothing(
    tmp_path: Path, analysed: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text(BRANCH)
    (tmp_path / "b.py").write_text(FLAG)
    (tmp_path / "c.py").write_text(BROKEN)
    cold = check(tmp_path)
    assert sorted(analysed) == [["a.py"], ["b.py"]]
    assert [found.code for found in cold.findings] == ["JIT101", "JIT102", "JIT900"]

    def refuse(*arguments: object, **options: object) -> object:
        raise AssertionError("parsed again")

    monkeypatch.setattr("jitlint.project.remembered.index_source", refuse)
    assert check(tmp_path) == cold
    assert len(analysed) == 2


def test_a_change_costs_its_component_only(tmp_path: Path, analysed: list[list[str]]) -> None:
    (tmp_path / "a.py").write_text("import helper\n" + BRANCH)
    (tmp_path / "helper.py").write_text("X = 1\n")
    (tmp_path / "b.py").write_text(FLAG)
    check(tmp_path)
    analysed.clear()
    (tmp_path / "helper.py").write_text("X = 2\n")
    check(tmp_path)
    assert analysed == [["a.py", "helper.py"]]


def test_a_module_that_appears_is_noticed(tmp_path: Path, analysed: list[list[str]]) -> None:
    """It is an import that did not resolve before."""
    text = "import jax\nimport helper\n\n\n@jax.jit\ndef f(x):\n    return 1 if helper.positive(x) else 2\n"
    (tmp_path / "a.py").write_text(text)
    assert jitlint.check_paths([tmp_path / "a.py"], cache_dir=tmp_path / "cache").findings == ()
    (tmp_path / "helper.py").write_text("def positive(x):\n    return x > 0\n")
    [found] = jitlint.check_paths([tmp_path / "a.py"], cache_dir=tmp_path / "cache").findings
    assert found.code == "JIT101"
    (tmp_path / "helper.py").write_text("def positive(x):\n    return True\n")
    assert jitlint.check_paths([tmp_path / "a.py"], cache_dir=tmp_path / "cache").findings == ()
    assert len(analysed) == 3


def test_settings_after_the_analysis_need_no_new_one(tmp_path: Path, analysed: list[list[str]]) -> None:
    path = tmp_path / "a.py"
    path.write_text(BRANCH)
    assert len(check(tmp_path).findings) == 1
    assert check(tmp_path, options={"min-severity": "error"}).findings == ()
    [found] = check(tmp_path, options={"severity": {"JIT101": "info"}}).findings
    assert found.severity == "info"
    assert len(analysed) == 1


def test_settings_of_the_analysis_do(tmp_path: Path, analysed: list[list[str]]) -> None:
    (tmp_path / "a.py").write_text(BRANCH)
    model = tmp_path / "lib.toml"
    model.write_text('[library]\nname = "mylib"\n')
    runs: list[dict[str, object]] = [
        {},
        {"options": {"jax-version": "0.4.30"}},
        {"options": {"assume-jitted": ["a.g"]}},
        {"select": ["JIT1"]},
    ]
    for number, options in enumerate(runs, start=1):
        check(tmp_path, **options)
        check(tmp_path, **options)
        assert len(analysed) == number


def test_faults_are_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(BRANCH)

    def broken(*arguments: object, **options: object) -> object:
        raise RuntimeError("unforeseen")

    with monkeypatch.context() as patch:
        patch.setattr(semantics, "run", broken)
        [fault] = check(tmp_path).internal_errors
        assert fault.message == "RuntimeError: unforeseen"
        assert fault.where.endswith("a.py")
    assert len(check(tmp_path).findings) == 1


def test_entries_of_a_hostile_repository_are_ignored(tmp_path: Path) -> None:
    """Of the right name and check sum, but not what an entry holds."""
    (tmp_path / "a.py").write_text(BRANCH)
    expected = check(tmp_path)
    values: tuple[object, ...] = (
        {"findings": [{"code": 1}], "jitted": 1},
        {"findings": 7, "jitted": 1},
        [],
        3,
        {"fault": []},
        {"imports": 3},
    )
    for value in values:
        for path in (tmp_path / "cache").rglob("*.json"):
            kind, key = path.parts[-3], path.parts[-2] + path.stem
            content = json.dumps(value).encode()
            path.write_bytes(digest(kind, key, content).encode() + b"\n" + content)
        assert check(tmp_path) == expected


# --- the command line -----------------------------------------------------------------------------------------------


def test_the_command_line_caches_and_cleans(run: Run, here: Path, analysed: list[list[str]]) -> None:  # noqa: F811
    (here / "a.py").write_text(BRANCH)
    first = run("check", "--output-format", "json")
    assert run("check", "--output-format", "json") == first
    assert len(analysed) == 1
    assert (here / FOLDER / "CACHEDIR.TAG").is_file()
    assert "Deleted" in run("clean").err
    assert not (here / FOLDER).exists()
    assert "There is no cache" in run("clean").err


def test_no_cache_leaves_nothing(run: Run, here: Path, analysed: list[list[str]]) -> None:  # noqa: F811
    (here / "a.py").write_text(BRANCH)
    for option in ("-n", "--no-cache"):
        assert run("check", option).code == 1
    assert len(analysed) == 2
    assert not (here / FOLDER).exists()


def test_another_folder(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    (here / "a.py").write_text(CLEAN)
    run("check", "--cache-dir", "one")
    monkeypatch.setenv("JITLINT_CACHE_DIR", str(here / "two"))
    run("check")
    assert run("check", "--no-cache").code == 0
    assert sorted(path.name for path in here.iterdir()) == ["a.py", "one", "two"]
    run("clean")
    assert sorted(path.name for path in here.iterdir()) == ["a.py", "one"]
    assert run("clean", "--cache-dir", ".").code == 2
    assert run("check", "--no-cache", "--cache-dir", "one").code == 2


def test_repairs_see_their_own_texts(run: Run, here: Path) -> None:  # noqa: F811
    (here / "a.py").write_text(FLAG)
    assert run("check").code == 1
    assert run("check", "--fix").code == 0
    assert run("check").code == 0
    (here / "a.py").write_text(FLAG)
    assert run("check").code == 1


def test_a_folder_that_cannot_be_made_is_no_fault(run: Run, here: Path) -> None:  # noqa: F811
    (here / "a.py").write_text(BRANCH)
    (here / FOLDER).write_text("in the way")
    outcome = run("check", "--verbose")
    assert outcome.code == 1
    assert "nothing was cached: " in outcome.err
    assert "cached" not in run("check").err


def test_warm_runs_load_no_engine(here: Path) -> None:  # noqa: F811
    (here / "a.py").write_text(BRANCH)
    program = "import sys; from jitlint.cli import main\ntry: main(['check'])\nexcept SystemExit: print(*sys.modules)"
    command = [sys.executable, "-c", program]
    for warm in (False, True):
        out = subprocess.run(command, capture_output=True, text=True, cwd=here, check=True).stdout
        loaded = set(out.splitlines()[-1].split())
        assert "JIT101" in out
        assert ("libcst" in loaded) is not warm
        assert ("jitlint.semantics.interp" in loaded) is not warm
        assert "jax" not in loaded


def test_two_runs_at_once(here: Path) -> None:  # noqa: F811
    for number in range(6):
        (here / f"m{number}.py").write_text(BRANCH + f"\n\nX = {number}\n")
    command = [sys.executable, "-m", "jitlint", "check", "--output-format", "json"]
    runs = [subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    outs = [each.communicate() for each in runs]
    assert [each.returncode for each in runs] == [1, 1]
    assert outs[0][0] == outs[1][0]
    assert len(json.loads(outs[0][0])) == 6
    assert not list((here / FOLDER).rglob(".new-*"))


# --- equality -------------------------------------------------------------------------------------------------------

TEMPLATES = (
    BRANCH,
    FLAG,
    CLEAN,
    BROKEN,
    "X = 1\n",
    "def positive(x):\n    return x > 0\n\n\ndef one(x):\n    return 1\n",
    "import jax\nfrom {other} import positive\n\n\n@jax.jit\ndef f(x):\n    return 1 if positive(x) else 2\n",
    "import jax\nimport {other}\n\n\n@jax.jit\ndef g(x):\n    return {other}.one(x)\n\n\ng(1.0)\n",
    "import jax\nfrom {other} import *\n\nSTATE = []\n\n\n@jax.jit\ndef h(x):\n    STATE.append(x)\n    return x\n",
    "import jax\nimport {other}\n\n{other}.STATE = 3\n\n\n@jax.jit\ndef k(x):\n    return x + {other}.STATE\n\n\nk(1.0)\n",
)
NAMES = tuple(f"m{number}" for number in range(5))


@st.composite
def text(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(TEMPLATES)).format(other=draw(st.sampled_from(NAMES)))


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, str | None]]:
    """A small project, and what is edited, added and deleted later."""
    first = draw(st.fixed_dictionaries({name: text() for name in NAMES}))
    edits = draw(
        st.lists(st.dictionaries(st.sampled_from(NAMES), st.none() | text(), min_size=1, max_size=2), max_size=3)
    )
    return [{**first}, *edits]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories(), seed=st.integers(0, 100))
def test_nothing_but_the_texts_decides(history: list[dict[str, str | None]], seed: int) -> None:
    """With a cache, without, with workers, and in any order of files: the same after each edit."""
    with TemporaryDirectory() as name, ThreadPoolExecutor(2) as executor:
        folder = Path(name)
        for texts in history:
            for module, content in texts.items():
                path = folder / f"{module}.py"
                if content is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_text(content)
            paths = sorted(folder.glob("*.py"))
            shuffled = random.Random(seed).sample(paths, len(paths))
            plain = jitlint.check_paths(paths, isolated=True)
            assert not plain.internal_errors
            assert jitlint.check_paths(paths, isolated=True, cache_dir=folder / "cache") == plain
            assert jitlint.check_paths(shuffled, isolated=True, cache_dir=folder / "cache") == plain
            assert jitlint.check_paths(shuffled, isolated=True, executor=executor) == plain


def test_the_seed_of_hashes_decides_nothing() -> None:
    """Where findings speak of several things that are alike."""
    fixtures = Path(__file__).resolve().parents[1] / "fixtures"
    folders = [fixtures / "cases" / "083-donate-same-buffer-twice", *sorted(fixtures.glob("rules/JIT[23]0[1-6]"))]
    command = [sys.executable, "-m", "jitlint", "check", "-n", "-j1", "--isolated", "--select", "ALL"]
    command += ["--output-format", "json", *map(str, folders)]
    found = []
    for seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        out = subprocess.run(command, capture_output=True, env=environment, cwd=fixtures, check=False).stdout
        found.append(json.loads(out))
    assert len(found[0]) > 100
    assert found[0] == found[1]
