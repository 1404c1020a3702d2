"""Files that no program should have: each is a finding or nothing, and the file beside it is still checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jitlint.cache import FOLDER
from tests.cli.conftest import Run
from tests.cli.programs import BRANCH, FLAG

HOSTILE = {
    "not UTF-8": b"x = '\xff\xfe'\n",
    "null bytes": b"x = 1\0\n",
    "large": b"x = [\n" + b"    1,\n" * 700_000 + b"]\n",
    "deep lists": b"import jax\nx = " + b"[" * 2000 + b"]" * 2000 + b"\n",
    "deep calls": b"import jax\n@jax.jit\ndef f(x):\n    return " + b"f(" * 2000 + b"x" + b")" * 2000 + b"\n",
    "deep blocks": b"import jax\n" + b"".join(b" " * n + b"if x:\n" for n in range(99)) + b" " * 99 + b"pass\n",
    "long chain": b"import jax\n@jax.jit\ndef f(x):\n    return " + b" + ".join([b"x"] * 5000) + b"\n",
    "long line": b"import jax\nx = '" + b"a" * 1_000_000 + b"'\n",
    "empty": b"",
    "only a comment": b"# nothing",
    "form feeds": b"\x0cimport jax\n\x0c\n@jax.jit\ndef f(x):\n    return x\n",
    "old line ends": b"import jax\r@jax.jit\rdef f(x):\r    return x\r",
    "unknown encoding": b"# coding: no-such-encoding\nx = 1\n",
    "tabs and spaces": b"if x:\n\ty = 1\n        z = 2\n",
    "future syntax": b"import jax\ntype X = int\ndef f[T](x: T) -> T: return x\n",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_harms_nobody(content: bytes, run: Run, here: Path) -> None:
    (here / "hostile.py").write_bytes(content)
    (here / "a.py").write_text(BRANCH)
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 1, outcome.err
    assert "a.py:6:8: JIT101" in outcome.out
    assert "jitlint failed" not in outcome.err
    run("check", "--fix")
    assert (here / "hostile.py").read_bytes() == content


def test_links_that_lead_nowhere_or_in_circles(run: Run, here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    (here / "loop").symlink_to(here, target_is_directory=True)
    (here / "self.py").symlink_to("self.py")
    (here / "gone.py").symlink_to("nothing.py")
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 1
    assert outcome.out.count("JIT101") == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not hold for this user")
def test_a_file_that_may_not_be_read(run: Run, here: Path) -> None:
    (here / "secret.py").write_text(BRANCH)
    (here / "secret.py").chmod(0)
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 1
    assert "secret.py:1:1: JIT900" in outcome.out


def test_a_folder_named_like_a_module(run: Run, here: Path) -> None:
    (here / "pkg.py").mkdir()
    (here / "pkg.py" / "a.py").write_text(BRANCH)
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 1
    assert "JIT101" in outcome.out


def test_two_runs_at_once_leave_whole_files(here: Path) -> None:
    paths = [here / f"m{number}.py" for number in range(5)]
    for path in paths:
        path.write_text(FLAG)
    command = [sys.executable, "-m", "jitlint", "check", "--fix", "."]
    runs = [subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for each in runs:
        _, err = each.communicate()
        assert each.returncode in (0, 2)
        assert b"Traceback" not in err
    for path in paths:
        text = path.read_text()
        assert text.count("static_argnames") == 1
        compile(text, str(path), "exec")
    assert sorted(here.iterdir()) == [here / FOLDER, *sorted(paths)]
