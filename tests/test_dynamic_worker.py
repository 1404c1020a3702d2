"""The worker in a real interpreter: what it sees of a program, and that nothing the program does gets out."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from jitlint.dynamic.protocol import ModuleRun
from jitlint.dynamic.run import Limits
from tests.dynamic_runs import PATIENT, PYTHONS, module, run, write

JAX = "import jax\nimport jax.numpy as jnp\n"
GOOD = JAX + "@jax.jit\ndef good(x):\n    return x * 2\n"


def program(folder: Path, text: str, **files: str) -> Path:
    return write(folder, program=text, **files)


def errors(seen: ModuleRun) -> list[tuple[str, int]]:
    return [(r.error.name, r.error.frames[0].row) for r in seen.raised if r.escaped and r.error.frames]


@pytest.mark.parametrize("python", PYTHONS)
def test_sees_traces_errors_and_compilations(tmp_path: Path, python: Path) -> None:
    program(
        tmp_path,
        """
        import jax
        import jax.numpy as jnp
        from functools import partial

        @partial(jax.jit, static_argnames="n")
        def f(x, tree, n=1):
            if n > 1:
                return x
            return x * n + tree["w"]

        f(jnp.ones(3), {"w": 1.0})
        f(jnp.ones(3), {"w": 1.0})
        f(jnp.ones((2, 3)), {"w": 1.0}, n=2)

        @jax.jit
        def g(x):
            if x > 0:
                return x
            return -x

        g(1.0)
        h = jax.jit(jax.grad(lambda x: x ** 2))
        h(2.0)
        """,
    )
    seen = run(tmp_path, python)
    assert (seen.failure, seen.finished) == ("", True)
    f = [t for t in seen.traces if t.name == "f"]
    assert [[(a.name, a.kind, a.text) for a in t.arguments] for t in f] == [
        [("x", "traced", "f32[3]"), ("tree", "tree", "{w: f32[]~}"), ("n", "static", "1")],
        [("x", "traced", "f32[2,3]"), ("tree", "tree", "{w: f32[]~}"), ("n", "static", "2")],
    ]
    assert all(t.ok and t.transform == "jit" and t.equations is not None for t in f)
    assert [t.calls[0].row for t in f] == [11, 13]
    assert [name for name, _ in seen.compiles].count("f") == 2
    assert errors(seen) == [("TracerBoolConversionError", 17)]
    assert [t.ok for t in seen.traces if t.name == "<lambda>"] == [True], "the grad after the failed call still ran"


@pytest.mark.parametrize("python", PYTHONS)
def test_watching_does_not_change_what_is_cached(tmp_path: Path, python: Path) -> None:
    program(
        tmp_path,
        """
        import functools, jax, jax.numpy as jnp
        def f(x):
            return x + 1
        class M:
            def m(self, x):
                return x + 2
        obj = M()
        kept = jax.jit(obj.m)
        kept(1.0)
        for _ in range(4):
            jax.jit(f)(1.0)                              # cached: the same function
            jax.jit(obj.m)(1.0)                          # cached while `kept` lives
            jax.jit(lambda x: x + 3)(1.0)                # new each time
            jax.jit(functools.partial(f, 1.0))           # never called
        """,
    )
    names = [t.name for t in run(tmp_path, python).traces]
    assert {name: names.count(name) for name in set(names)} == {"f": 1, "m": 1, "<lambda>": 4}


def test_methods_of_the_program_run_only_as_the_import_runs_them(tmp_path: Path) -> None:
    program(tmp_path, GOOD + "if __name__ == '__main__':\n    raise SystemExit('ran as a script')\n")
    seen = run(tmp_path)
    assert (seen.failure, seen.raised) == ("", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a_package_that_nobody_has\n", "ModuleNotFoundError"),
        ("raise RuntimeError('no data')\n", "RuntimeError"),
        ("import sys\nsys.exit(3)\n", "SystemExit"),
        ("import os\nos.fork()\n", "Refused"),
        ("import multiprocessing as mp\nmp.get_context('fork').Process(target=print).start()\n", "Refused"),
        ("input('name? ')\n", "EOFError"),
        ("open('../out.txt', 'w')\n", "Refused"),
        ("import pathlib\npathlib.Path(__file__).with_name('out.txt').write_text('x')\n", "Refused"),
        ("import os, pathlib\nos.remove(__file__)\n", "Refused"),
        ("import pathlib, shutil\nshutil.rmtree(pathlib.Path(__file__).parent)\n", "Refused"),
        ("import os\nd = os.open(os.path.dirname(__file__), 0)\nos.remove('program.py', dir_fd=d)\n", "Refused"),
        ("import sqlite3\nsqlite3.connect(__file__ + '.db')\n", "Refused"),
    ],
)
def test_an_import_that_goes_wrong_is_reported_and_the_rest_is_still_traced(
    tmp_path: Path, text: str, expected: str
) -> None:
    program(tmp_path, text + GOOD + "good(jnp.ones(3))\n")
    seen = run(tmp_path)
    assert [r.error.name for r in seen.problems] == [expected]
    assert [t.name for t in seen.traces] == ["good"]
    assert seen.finished
    assert [p.name for p in tmp_path.iterdir()] == ["program.py"], "nothing was written next to it"


def test_a_syntax_error_is_a_problem_of_its_row(tmp_path: Path) -> None:
    program(tmp_path, GOOD + "def broken(:\n    pass\n")
    seen = run(tmp_path)
    assert [(r.error.name, r.statement) for r in seen.problems] == [("SyntaxError", 6)]
    assert seen.finished


def test_output_of_the_program_does_not_reach_the_protocol(tmp_path: Path) -> None:
    program(
        tmp_path,
        GOOD
        + """
import os, subprocess, sys
print('{"kind": "done", "hits": []}')
os.write(1, b'{"kind": "nojax", "reason": "forged"}\\n')
subprocess.run([sys.executable, "-c", "print('noise')"])
sys.stderr.write("x" * 200_000)
good(jnp.ones(3))
""",
    )
    seen = run(tmp_path)
    assert (seen.failure, len(seen.traces), seen.finished) == ("", 1, True)


def test_an_interpreter_that_ends_early_says_so(tmp_path: Path) -> None:
    program(tmp_path, GOOD + "good(jnp.ones(3))\nimport os\nos._exit(7)\n")
    seen = run(tmp_path)
    assert "exit code 7" in seen.failure
    assert len(seen.traces) == 1, "what it saw before counts"


def test_a_crash_names_the_signal(tmp_path: Path) -> None:
    program(tmp_path, "import ctypes\nctypes.string_at(0)\n")
    assert "SIGSEGV" in run(tmp_path).failure


def test_a_training_loop_is_stopped_and_later_functions_are_still_traced(tmp_path: Path) -> None:
    program(
        tmp_path,
        """
        import time
        import jax, jax.numpy as jnp
        while True:
            try:
                time.sleep(0.05)
            except Exception:
                pass
        @jax.jit
        def later(x):
            return x + 1
        y = jax.eval_shape(later, jax.ShapeDtypeStruct((3,), jnp.float32))
        """,
    )
    seen = run(tmp_path, limits=Limits(seconds=120, import_seconds=4))
    assert (seen.late, [t.name for t in seen.traces], seen.finished) == ([3], ["later"], True)


def test_a_hang_that_cannot_be_interrupted_is_killed(tmp_path: Path) -> None:
    program(tmp_path, GOOD + "sum(iter(int, 1))\n")
    seen = run(tmp_path, limits=Limits(seconds=8))
    assert "took longer than 8 s" in seen.failure


def test_what_a_program_leaves_running_ends_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    program(
        tmp_path,
        f"""
        import subprocess, sys, threading, time
        subprocess.Popen([sys.executable, "-c",
                          "import time, pathlib; time.sleep(4); pathlib.Path({str(mark)!r}).touch()"])
        threading.Thread(target=time.sleep, args=(3600,)).start()
        """,
    )
    assert run(tmp_path).finished
    time.sleep(5)
    assert not mark.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="address space is limited on POSIX only")
def test_memory_is_limited(tmp_path: Path) -> None:
    program(tmp_path, GOOD + "big = bytearray(6_000_000_000)\n")
    seen = run(tmp_path, limits=Limits(seconds=60, megabytes=5000))
    assert [r.error.name for r in seen.problems] == ["MemoryError"] or seen.failure


def test_home_and_working_folder_are_scratch(tmp_path: Path) -> None:
    program(
        tmp_path,
        """
        import os, pathlib
        open("here.txt", "w").write("x")
        (pathlib.Path.home() / "there.txt").write_text("x")
        assert os.getcwd() == str(pathlib.Path.home())
        """,
    )
    seen = run(tmp_path)
    assert seen.raised == []
    assert [p.name for p in tmp_path.iterdir()] == ["program.py"]


def test_no_interpreter_and_no_jax_are_reasons(tmp_path: Path) -> None:
    program(tmp_path, GOOD)
    assert "cannot start" in run(tmp_path, tmp_path / "python").failure
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(bare.stat().st_mode | stat.S_IXUSR)
    if os.name == "posix":
        assert "jax" in run(tmp_path, bare).failure


def test_names_of_other_modules_are_no_trouble(tmp_path: Path) -> None:
    write(tmp_path, types=GOOD + "good(jnp.ones(2))\n", random="value = 1\n")
    from jitlint.dynamic.run import run_module

    seen = run_module(module(tmp_path, "types"), None, PATIENT)
    assert [t.name for t in seen.traces] == ["good"]


def test_relative_imports_and_future_statements(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    write(package, __init__="", other="K = 2\n")
    write(package, program="from __future__ import annotations\nfrom .other import K\nx: Missing = K\n" + GOOD)
    from jitlint.dynamic.run import ModuleRequest, run_module

    path = package / "program.py"
    request = ModuleRequest("pkg.program", str(path), path.read_text(), (str(tmp_path),))
    assert run_module(request, None, PATIENT).raised == []


def test_texts_in_memory_stand_for_files(tmp_path: Path) -> None:
    program(tmp_path, "import helper\nassert helper.K == 2\n", helper="K = 1\n")
    assert run(tmp_path).raised
    assert not run(tmp_path, overlay={str(tmp_path / "helper.py"): "K = 2\n"}).raised


@pytest.mark.parametrize("python", PYTHONS)
def test_jobs(tmp_path: Path, python: Path) -> None:
    program(
        tmp_path,
        """
        import jax, jax.numpy as jnp
        from typing import NamedTuple

        class P(NamedTuple):
            w: jax.Array

        class Model:
            def __init__(self, n):
                self.n = n

        LEAK = []

        @jax.jit
        def f(p, k, flag=False):
            if flag:
                return p.w
            return p.w + jax.random.normal(k, p.w.shape)

        @jax.jit
        def leaky(x):
            LEAK.append(x)
            return x
        """,
    )
    array = {"aval": ["float32", [3], False]}
    params = {"call": {"ref": "P"}, "args": [], "kwargs": {"w": array}}
    jobs = [
        {"id": "ok", "function": "f", "args": [params, {"key": "raw"}]},
        {"id": "raises", "function": "f", "args": [params, {"key": "raw"}, {"value": True}]},
        {"id": "missing", "function": "nothing.here"},
        {"id": "constructor", "function": "f", "args": [{"call": {"ref": "Model"}}]},
        {"id": "leak", "function": "leaky", "args": [array], "leaks": True},
        {"id": "left", "function": "leaky", "args": [array]},
    ]
    seen = run(tmp_path, python, jobs=tuple(jobs))
    outcomes = {key: result.outcome for key, result in seen.jobs.items()}
    assert outcomes == {
        "ok": "ok",
        "raises": "raised",
        "missing": "unplanned",
        "constructor": "unplanned",
        "leak": "leak",
        "left": "ok",
    }
    assert seen.jobs["ok"].equations
    error = seen.jobs["raises"].error
    assert error is not None and (error.name, error.frames[0].row) == ("TracerBoolConversionError", 15)
    assert "there is no nothing.here" in seen.jobs["missing"].reason
    assert "missing 1 required positional argument" in seen.jobs["constructor"].reason
    assert seen.jobs["left"].leaks[0][1].startswith("program.LEAK[")


@pytest.mark.parametrize("python", PYTHONS)
def test_arguments_from_annotations_that_only_the_program_can_resolve(tmp_path: Path, python: Path) -> None:
    program(
        tmp_path,
        """
        from __future__ import annotations
        import dataclasses, jax
        from typing import NamedTuple, Optional

        Arr = jax.Array

        class Inner(NamedTuple):
            a: jax.Array
            n: int = 7

        @jax.tree_util.register_pytree_node_class
        @dataclasses.dataclass
        class State:
            x: Arr
            inner: tuple[Inner, ...]
            extra: dict[str, jax.Array]
            t: float | None
            def tree_flatten(self):
                return (self.x, self.inner, self.extra, self.t), None
            @classmethod
            def tree_unflatten(cls, _, children):
                return cls(*children)

        class Opaque: ...

        @jax.jit
        def f(s: State, o: Optional[Arr]):
            return s.x + s.inner[0].a + s.extra["a"] + s.t + o

        @jax.jit
        def g(s: Opaque):
            return 1
        """,
    )
    hints = [{"hint": ["f", name]} for name in ("s", "o")]
    jobs = (
        {"id": "f", "function": "f", "args": hints},
        {"id": "g", "function": "g", "args": [{"hint": ["g", "s"]}]},
    )
    seen = run(tmp_path, python, jobs=jobs)
    assert {key: (r.outcome, r.reason) for key, r in seen.jobs.items()} == {
        "f": ("ok", ""),
        "g": ("unplanned", "nothing says what its parameter `s` is"),
    }
