"""The list of repaired faults is sound, and its script tells found, gone and missed apart."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.fixes.__main__ import figures, judge_fault, judge_lookalike
from benchmarks.fixes.faults import Fault, Lookalike, load
from benchmarks.fixes.trees import Trees, git_directory
from jitlint.registry import all_rules

FAULTY = """\
import jax


@jax.jit
def relu(x):
    if x > 0:
        return x
    return 0 * x


relu(1.0)
"""
REPAIRED = FAULTY.replace("    if x > 0:\n        return x\n    return 0 * x\n", "    return jax.nn.relu(x)\n")


def commit(folder: Path, text: str) -> str:
    """Commit ``text`` as ``model.py``; the commit's hash."""
    (folder / "model.py").write_text(text)
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["add", "."], [*identity, "commit", "--quiet", "--message", "m"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    shown = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return shown.stdout.strip()


@pytest.fixture
def history(tmp_path: Path) -> tuple[Trees, str, str]:
    folder = tmp_path / "someone+models"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return Trees(tmp_path, 600), commit(folder, FAULTY), commit(folder, REPAIRED)


def test_the_list_is_sound() -> None:
    faults, lookalikes = load()
    ids = [*(f.id for f in faults), *(x.id for x in lookalikes)]
    codes = {rule.code for rule in all_rules()}
    assert len(ids) == len(set(ids)) == 70
    assert all(f.code is None or f.code in codes for f in faults)
    assert all(len(f.before) == len(f.after) == 40 and f.before != f.after for f in faults)


def test_a_repaired_fault_is_found_and_gone(history: tuple[Trees, str, str]) -> None:
    trees, before, after = history
    fault = Fault("F", "someone/models", before, after, "model.py", 6, "branch", "", "", "JIT102")
    missed = Fault("M", "someone/models", before, after, "model.py", 11, "branch", "", "", "JIT101")
    absent = Fault("A", "nobody/models", before, after, "model.py", 6, "branch", "", "", "JIT101")
    stays = Fault("S", "someone/models", before, before, "model.py", 5, "branch", "", "", "JIT101", others=(6,))
    outcomes = [judge_fault(f, trees) for f in (fault, missed, absent, stays)]
    assert [o.verdict for o in outcomes] == ["gone", "missed", "absent", "stays"]
    assert figures([fault, missed, absent, stays], outcomes)["found and gone"] == (1, 3)


def test_lookalikes_are_to_be_left_alone(history: tuple[Trees, str, str]) -> None:
    trees, before, after = history
    flagged = Lookalike("L", "someone/models", before, "model.py", 6, "", "")
    quiet = Lookalike("Q", "someone/models", after, "model.py", 6, "", "")
    assert [judge_lookalike(x, trees).verdict for x in (flagged, quiet)] == ["flagged", "quiet"]


def test_git_directories_are_found_by_either_name(tmp_path: Path) -> None:
    bare = tmp_path / "a+b"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    assert git_directory(tmp_path, "a/b") == bare
    assert git_directory(tmp_path, "c/d") is None
