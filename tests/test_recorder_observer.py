"""The recorder changes nothing: output, exit code, number of traces and compiles are those without it."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jitlint.recorder.launch import SITE
from tests.recorder_runs import (
    PROGRAMS,
    PYTHONS,
    events,
    plain_environment,
    record_program,
    run_plain,
    run_recorded,
)

pytest.importorskip("jax")

RUNTIME = SITE.parent / "runtime"


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("program", ["stress", "devices", "plain_train", "flax_train", "equinox_train"])
def test_a_program_runs_as_without_the_recorder(program: str, python: str, tmp_path: Path) -> None:
    if program in ("flax_train", "equinox_train"):
        pytest.importorskip(program.partition("_")[0])
        pytest.importorskip("optax")
    file = str(PROGRAMS / f"{program}.py")
    plain = run_plain(python, file, cwd=tmp_path)
    recorded = run_recorded(python, file, cwd=tmp_path, folder=tmp_path / "record")
    assert plain.code == 0, plain.err
    assert recorded == plain
    found = events(tmp_path / "record")
    assert [event for event in found if event["event"] == "error"] == []
    assert any(event["event"] == "trace" for event in found)
    assert any(event["event"] == "compile" for event in found)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("filtering", ["auto", "off", "tracebackhide"])
def test_the_traceback_of_an_uncaught_error_is_the_same(python: str, filtering: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import functools, jax\n"
        "class Net:\n"
        "    def __call__(self, x):\n"
        "        return helper(x)\n"
        "@jax.jit\n"
        "def helper(x):\n"
        "    return int(x)\n"
        "jax.jit(functools.partial(jax.jit(Net())))(1.0)\n"
    )
    plain = run_plain(python, str(program), cwd=tmp_path, JAX_TRACEBACK_FILTERING=filtering)
    recorded = run_recorded(
        python, str(program), cwd=tmp_path, folder=tmp_path / "record", JAX_TRACEBACK_FILTERING=filtering
    )
    assert "ConcretizationTypeError" in plain.err
    assert recorded == plain


@pytest.mark.parametrize("wrong", ["jax.jit(f, static_argnames='no')", "jax.jit(3)", "jax.jit()", "jax.jit(f, no=1)"])
def test_a_failed_decoration_shows_no_frame_of_the_recorder(wrong: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"import jax\ndef f(x): return x\nprint(jax.jit(f)(1.0))\n{wrong}(1.0)\n")
    plain = run_plain(sys.executable, str(program), cwd=tmp_path)
    recorded = run_recorded(sys.executable, str(program), cwd=tmp_path, folder=tmp_path / "record")
    assert recorded == plain
    assert plain.out == "1.0\n"


def test_observer_effect_one_the_same_function_keeps_its_stand_in(tmp_path: Path) -> None:
    """jax keys its cache on identity: a new stand-in at every ``jax.jit(f)`` would have f traced every time."""
    _, record = record_program("import jax\ndef f(x): return x + 1\nfor _ in range(5): jax.jit(f)(1.0)\n", tmp_path)
    assert [trace.label for trace in record.traces] == ["f"]
    assert [compile_.kind for compile_ in record.compiles] == ["jit"]


def test_observer_effect_two_a_copied_dict_does_not_carry_the_stand_in_along(tmp_path: Path) -> None:
    """``functools.wraps`` copies ``__dict__``: believing what it copied would run the wrong function."""
    ran, _ = record_program(
        "import functools, jax, jax.numpy as jnp\n"
        "def f(x): return x + 1\n"
        "jax.jit(f)(1.0)\n"
        "@functools.wraps(f)\n"
        "def g(x): return x + 100\n"
        "print(jax.jit(g)(1.0), jax.jit(jax.vmap(f))(jnp.ones(2)), jax.jit(f)(2.0))\n",
        tmp_path,
    )
    assert ran.out == "101.0 [2. 2.] 3.0\n"


def test_observer_effect_three_bound_methods_share_while_one_is_kept_and_not_longer(tmp_path: Path) -> None:
    """A bound method has no ``__dict__`` of its own; jax shares its entry while an equal one is alive."""
    _, record = record_program(
        "import jax\n"
        "class M:\n"
        "    def shared(self, x): return x + 1\n"
        "    def rebound(self, x): return x + 2\n"
        "m = M()\n"
        "kept = [jax.jit(m.shared) for _ in range(3)]\n"
        "for jitted in kept: jitted(1.0)\n"
        "for _ in range(3):\n"
        "    jitted = jax.jit(m.rebound)\n"
        "    jitted(1.0)\n",
        tmp_path,
    )
    labels = [trace.label for trace in record.traces]
    assert labels.count("M.shared") == 1
    assert labels.count("M.rebound") == 3


def test_functions_that_are_jitted_and_dropped_do_not_pile_up(tmp_path: Path) -> None:
    """Without the recorder a function goes with the last that refers to it, with all that it captured."""
    ran, _ = record_program(
        "import functools, gc, jax, weakref\n"
        "gc.disable()\n"
        "class Model:\n"
        "    def __call__(self, x): return x\n"
        "alive = []\n"
        "def use(make):\n"
        "    fun = make()\n"
        "    alive.append(weakref.ref(fun))\n"
        "    jax.jit(fun)\n"
        "    return sum(reference() is not None for reference in alive)\n"
        "makers = (lambda: lambda x: x), (lambda: functools.partial(abs)), Model\n"
        "print([max(use(make) for _ in range(200)) <= 3 for make in makers])\n"
        "kept = [lambda x, n=n: x + n for n in range(100)]\n"
        "jitted = [jax.jit(fun) for fun in kept]\n"
        "print(jitted[0].__wrapped__ is kept[0], len({id(fun) for fun in kept}))\n",
        tmp_path,
    )
    assert ran.out == "[True, True, True]\nTrue 100\n"


def test_what_was_jitted_is_a_plain_jitted_function(tmp_path: Path) -> None:
    """Nothing of the recorder runs when a jitted function is called that is compiled already."""
    ran, _ = record_program(
        "import jax, sys\n"
        "def f(x): return x\n"
        "j = jax.jit(f)\n"
        "j(1.0)\n"
        "calls = []\n"
        "sys.setprofile(lambda frame, event, arg: calls.append(frame.f_code.co_filename))\n"
        "j(2.0)\n"
        "sys.setprofile(None)\n"
        "print(type(j).__name__, [c for c in calls if 'recorder' in c])\n",
        tmp_path,
    )
    assert ran.out == "PjitFunction []\n"


def test_the_runtime_imports_only_the_standard_library_and_itself() -> None:
    for file in [*RUNTIME.glob("*.py"), SITE / "sitecustomize.py"]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name.partition(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [(node.module or "").partition(".")[0]]
            else:
                continue
            assert set(names) <= sys.stdlib_module_names | {"jax"}, file.name


def test_a_process_without_jax_loads_next_to_nothing_and_writes_nothing(tmp_path: Path) -> None:
    listing = "import sys; print(sorted(sys.modules))"
    plain = run_plain(sys.executable, "-c", listing, cwd=tmp_path)
    recorded = run_recorded(sys.executable, "-c", listing, cwd=tmp_path, folder=tmp_path / "record")
    more = set(ast.literal_eval(recorded.out)) - set(ast.literal_eval(plain.out))
    own = {name for name in more if name.startswith("jitlint")}
    assert own == {
        "jitlint.recorder.runtime",
        "jitlint.recorder.runtime.startup",
        "jitlint.recorder.runtime.waiting",
    }
    assert {"jax", "dataclasses", "inspect", "json", "re"}.isdisjoint(more)
    assert list((tmp_path / "record").glob("*.jsonl")) == []


def test_another_sitecustomize_still_runs(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("print('other ran', __name__)\n")
    program = "import sys, sitecustomize; print(sitecustomize.__file__, [p for p in sys.path if 'recorder' in p])"
    plain = run_plain(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(other))
    recorded = run_recorded(
        sys.executable, "-c", program, cwd=tmp_path, folder=tmp_path / "record", PYTHONPATH=str(other)
    )
    assert recorded == plain
    assert plain.out.startswith("other ran sitecustomize\n")


def test_an_import_error_of_another_sitecustomize_is_reported_as_before(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("raise ValueError('broken')\n")
    plain = run_plain(sys.executable, "-c", "print(1)", cwd=tmp_path, PYTHONPATH=str(other))
    recorded = run_recorded(
        sys.executable, "-c", "print(1)", cwd=tmp_path, folder=tmp_path / "record", PYTHONPATH=str(other)
    )
    assert "ValueError: broken" in plain.err
    assert recorded == plain


def test_every_process_has_a_file_of_its_own(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing as mp, os, subprocess, sys\n"
        "def work(n):\n"
        "    import jax\n"
        "    jax.jit(lambda x: x + n)(1.0)\n"
        "    if n == 2: os._exit(0)\n"
        "if __name__ == '__main__':\n"
        "    spawned = mp.get_context('spawn').Process(target=work, args=(1,)); spawned.start(); spawned.join()\n"
        "    forked = mp.get_context('fork').Process(target=work, args=(2,)); forked.start(); forked.join()\n"
        "    subprocess.run([sys.executable, '-c', 'import jax; jax.jit(lambda x: x)(1.0)'], check=True)\n"
        "    work(3)\n"
        "    print(spawned.exitcode, forked.exitcode)\n"
    )
    ran = run_recorded(sys.executable, str(program), cwd=tmp_path, folder=tmp_path / "record")
    assert (ran.code, ran.out) == (0, "0 0\n"), ran.err
    found = events(tmp_path / "record")
    assert len(list((tmp_path / "record").glob("*.jsonl"))) == 4
    assert len({event["pid"] for event in found if event["event"] == "process"}) == 4
    assert len([event for event in found if event["event"] == "trace"]) == 4


def test_a_child_forked_after_jax_was_imported_writes_to_its_own_file(tmp_path: Path) -> None:
    from jitlint.recorder.runtime.sink import JsonLines

    sink = JsonLines(str(tmp_path))
    sink({"event": "before"})
    child = os.fork()
    if child == 0:
        sink({"event": "in the child"})
        os._exit(0)
    os.waitpid(child, 0)
    sink({"event": "after"})
    by_file = [[e["event"] for e in events_of(file)] for file in sorted(tmp_path.glob("*.jsonl"))]
    assert sorted(by_file) == [["process", "before", "after"], ["process", "in the child"]]


def events_of(file: Path) -> list[dict[str, object]]:
    import json

    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_killed_process_leaves_what_it_recorded(tmp_path: Path) -> None:
    from jitlint.recorder.record import load_record

    program = tmp_path / "program.py"
    program.write_text("import jax, os, signal\njax.jit(lambda x: x)(1.0)\nos.kill(os.getpid(), signal.SIGKILL)\n")
    ran = run_recorded(sys.executable, str(program), cwd=tmp_path, folder=tmp_path / "record")
    assert ran.code == -signal.SIGKILL
    file = next((tmp_path / "record").glob("*.jsonl"))
    file.write_text(file.read_text() + '{"event": "tra')
    assert len(load_record(tmp_path / "record").traces) == 1


def test_a_record_folder_that_goes_away_does_not_stop_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, shutil\nshutil.rmtree(os.environ['JITLINT_TRACE_DIR'])\nimport jax\nprint(jax.jit(abs)(1.0))\n"
    )
    ran = run_recorded(sys.executable, str(program), cwd=tmp_path, folder=tmp_path / "record")
    assert (ran.code, ran.out, ran.err) == (0, "1.0\n", "")


@pytest.mark.parametrize("broken", ["startup.py", "bodies.py"])
def test_a_fault_of_the_recorder_does_not_stop_the_program(broken: str, tmp_path: Path) -> None:
    for folder in (SITE, RUNTIME):
        shutil.copytree(folder, tmp_path / folder.name)
    (tmp_path / "runtime" / broken).write_text("raise RuntimeError('a fault')\n")
    program = "import jax; print(jax.jit(abs)(-1.0))"
    more = {"PYTHONPATH": str(tmp_path / "site"), "JITLINT_TRACE_DIR": str(tmp_path)}
    ran = run_plain(sys.executable, "-c", program, cwd=tmp_path, **more)
    assert (ran.code, ran.out) == (0, "1.0\n")
    assert ran.err == "jitlint: this process is not recorded: RuntimeError: a fault\n"


def test_signals_reach_the_program_and_its_end_is_told_as_a_shell_does(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    main = "import sys; from jitlint.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", main, "trace", "-q", "-o", str(tmp_path / "r"), "--", sys.executable, str(program)]
    root = str(Path(__file__).parent.parent)
    tracing = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=plain_environment(PYTHONPATH=root))
    assert tracing.stdout is not None
    assert tracing.stdout.readline() == "ready\n"
    tracing.send_signal(signal.SIGTERM)
    assert tracing.wait() == 7
    tracing.stdout.close()
