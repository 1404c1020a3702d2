"""Files that no program should have: each is a finding or nothing, and the file beside it is still checked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    "too large": b"x = [\n" + b"    1,\n" * 800_000 + b"]\n",
    "deep attributes": b"import jax\n@jax.jit\ndef f(x):\n    return x" + b".at" * 2000 + b"\n",
    "deep subscripts": b"import jax\n@jax.jit\ndef f(x):\n    return x" + b"[0]" * 2000 + b"\n",
    "deep signs": b"import jax\n@jax.jit\ndef f(x):\n    return " + b"-" * 2000 + b"x\n",
    "deep powers": b"import jax\n@jax.jit\ndef f(x):\n    return " + b"x ** " * 2000 + b"x\n",
    "deep lambdas": b"import jax\nf = jax.jit(" + b"lambda: " * 2000 + b"0)\n",
    "deep choices": b"import jax\n@jax.jit\ndef f(x):\n    return " + b"x if x else " * 2000 + b"x\n",
    "long ladder": b"import jax\n@jax.jit\ndef f(x):\n    if x: pass\n" + b"    elif x: pass\n" * 2000,
    "many functions": b"import jax\n" + b"".join(b"def f%d(x): return f%d(x)\n" % (n, n + 1) for n in range(2000)),
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


def test_a_file_that_cannot_be_opened(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "secret.py").write_text(BRANCH)
    (here / "a.py").write_text(BRANCH)
    opened = Path.open

    def open_(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.name == "secret.py":
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", open_)
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 1
    assert "secret.py:1:1: JIT900 cannot be read: Permission denied" in outcome.out
    assert "a.py:6:8: JIT101" in outcome.out


def test_a_folder_that_cannot_be_listed(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "locked").mkdir()
    (here / "a.py").write_text(BRANCH)
    listed = os.scandir

    def scandir(path: Any = ".") -> Any:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    outcome = run("check", "--output-format", "concise")
    assert outcome.code == 1
    assert "locked:1:1: JIT900 cannot be read: Permission denied" in outcome.out
    assert "a.py:6:8: JIT101" in outcome.out


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


def test_a_full_disk_leaves_every_file_whole(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b.py"):
        (here / name).write_text(FLAG)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    outcome = run("check", "--fix")
    assert outcome.code == 2
    assert "a.py was not repaired: No space left on device" in outcome.err
    assert [path.read_text() for path in sorted(here.glob("*.py"))] == [FLAG, FLAG]
    assert not list(here.glob(".*.tmp"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["check"], ["rule", "--all"]], ids=" ".join)
def test_an_output_that_is_full_is_said(arguments: list[str], here: Path) -> None:
    (here / "a.py").write_text(BRANCH)
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "jitlint", *arguments]
        done = subprocess.run(command, cwd=here, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: the output could not be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("whole_group", [True, False], ids=["terminal", "kill"])
def test_ctrl_c_ends_a_run_quietly_and_at_once(jobs: str, whole_group: bool, here: Path) -> None:
    """The programs take minutes to analyse, and the signal comes when the analysis has begun."""
    for number in range(4):
        bodies = (f"@jax.jit\ndef f{n}(x):\n    return jnp.sin(x) + {n}\n\n\n" for n in range(4000))
        (here / f"m{number}.py").write_text("import jax\nimport jax.numpy as jnp\n\n\n" + "".join(bodies))
    program = (
        "import signal, jitlint.work as work\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # tests may run where it is ignored
        "run = work.run\n"
        "def telling(task):\n"
        "    print('begun', flush=True)\n"
        "    return run(task)\n"
        "work.run = telling\n"
        "telling.__module__, telling.__qualname__ = 'jitlint.work', 'run'\n"
        "from jitlint.cli import main\n"
        f"main(['check', '--no-cache', '-j', '{jobs}'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.strip() == b"jitlint: stopped"
