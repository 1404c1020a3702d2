"""Several workers give what one gives, and what is lost with a worker is done again."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import textwrap
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import jitlint
from jitlint import work
from jitlint.semantics.running import Frame
from jitlint.semantics.source import Unit
from jitlint.semantics.values import Func
from tests.cli.programs import BRANCH, FLAG

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = [ROOT / "fixtures" / "rules" / code for code in ("JIT102", "JIT302")]


@pytest.fixture(scope="module")
def expected() -> jitlint.Report:
    """What one process finds in the examples: many components."""
    report = jitlint.check_paths(EXAMPLES, isolated=True)
    assert len(report.findings) > 20
    return report


def test_processes(expected: jitlint.Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_WORTH_A_POOL", 0)
    assert jitlint.check_paths(EXAMPLES, isolated=True, jobs=2) == expected


def test_threads(expected: jitlint.Report) -> None:
    with ThreadPoolExecutor(3) as executor:
        assert jitlint.check_paths(EXAMPLES, isolated=True, executor=executor) == expected


def test_an_executor_of_fresh_processes(expected: jitlint.Report) -> None:
    """Nothing of this process reaches them but what is sent."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        assert jitlint.check_paths(EXAMPLES, isolated=True, executor=executor) == expected


def test_dask(expected: jitlint.Report) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert jitlint.check_paths(EXAMPLES, isolated=True, executor=client.get_executor()) == expected


class Unreliable(Executor):
    """Every other worker dies, in one way or another."""

    def __init__(self, error: Exception, *, early: bool) -> None:
        self._error = error
        self._early = early
        self._number = 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        self._number += 1
        future: Future[Any] = Future()
        if self._number % 2:
            if self._early:
                raise self._error
            future.set_exception(self._error)
        else:
            future.set_result(function(*arguments, **options))
        return future


@pytest.mark.parametrize("error", [BrokenExecutor(), BrokenProcessPool("gone"), RuntimeError("killed"), TimeoutError()])
@pytest.mark.parametrize("early", [False, True])
def test_what_is_lost_is_done_here(expected: jitlint.Report, error: Exception, early: bool) -> None:
    assert jitlint.check_paths(EXAMPLES, isolated=True, executor=Unreliable(error, early=early)) == expected


KILLED = """
import json, multiprocessing, os, sys
import jitlint
from jitlint import semantics, work

parent, marker, engine = os.getpid(), sys.argv[2], semantics.run

def run(project, *arguments, **options):
    fatal = any("fatal" in module.text for module in project.modules)
    if os.getpid() != parent and fatal and (sys.argv[1] == "always" or not os.path.exists(marker)):
        open(marker, "w").close()
        os._exit(9)
    return engine(project, *arguments, **options)

semantics.run = run
work._WORTH_A_POOL = 0
work._context = lambda: multiprocessing.get_context("fork")
report = jitlint.check_paths(["src"], jobs=2)
print(json.dumps([[f.filename for f in report.findings], [[e.where, e.message] for e in report.internal_errors]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("often", ["once", "always"])
def test_a_process_that_is_killed(tmp_path: Path, often: str) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for number in range(4):
        (source / f"m{number}.py").write_text(BRANCH + ("# fatal\n" if number == 1 else ""))
    command = [sys.executable, "-c", KILLED, often, str(tmp_path / "marker")]
    out = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    found, errors = json.loads(out)
    survivors = [number for number in range(4) if often == "once" or number != 1]
    assert found == [str(Path("src", f"m{number}.py")) for number in survivors]
    if often == "once":
        assert errors == []
    else:
        [[where, message]] = errors
        assert where == str(Path("src", "m1.py"))
        assert message.startswith("BrokenProcessPool")


def test_a_fault_is_kept_to_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jitlint import semantics

    engine = semantics.run

    def run(project: Any, *arguments: Any, **options: Any) -> Any:
        if any("fail here" in module.text for module in project.modules):
            raise RuntimeError("unforeseen")
        return engine(project, *arguments, **options)

    monkeypatch.setattr(semantics, "run", run)
    (tmp_path / "a.py").write_text(BRANCH)
    (tmp_path / "b.py").write_text("import c\n" + FLAG)
    (tmp_path / "c.py").write_text("import jax  # fail here\n")
    with ThreadPoolExecutor(2) as executor:
        report = jitlint.check_paths([tmp_path], isolated=True, executor=executor)
    assert [Path(found.filename).name for found in report.findings] == ["a.py", "b.py"]
    assert [Path(error.where).name for error in report.internal_errors] == ["c.py"]


def test_what_several_modules_alone_give_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def analysed(task: Any, component: Any) -> dict[str, Any]:
        if len(component.modules) > 1:
            raise RuntimeError("unforeseen")
        return {"findings": [{"code": "JIT101", "row": 3}], "jitted": 1, "errors": []}

    monkeypatch.setattr(work, "_run", analysed)
    modules = [SimpleNamespace(display=name) for name in ("a.py", "b.py")]
    component = SimpleNamespace(modules=modules, size=0, only=lambda module: SimpleNamespace(modules=[module]))
    answer = work.run(cast("Any", SimpleNamespace(component=component)))
    assert answer["findings"] == [{"code": "JIT101", "row": 3}]


def test_the_number_of_jobs_is_checked(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jitlint", "check", "-j", "0", str(tmp_path)]
    outcome = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert outcome.returncode == 2
    assert "--jobs" in outcome.stderr


def test_what_an_analysis_has_made_is_freed_without_a_look_for_cycles(tmp_path: Path) -> None:
    source = """
        import functools
        import jax

        class Model:
            def __init__(self, width):
                self.width = width
                self.step = jax.jit(self._step)

            def _step(self, x):
                return jax.tree.map(lambda leaf: leaf * self.width, {"x": x})

        def train(steps):
            models = [Model(n) for n in range(3)]
            scale = functools.partial(lambda a, b: a * b, 2.0)

            def body(carry, x):
                return scale(carry), models

            for n in range(steps):
                models.append(Model(n))
                state = jax.lax.scan(body, 1.0, None, length=3)
            return models, state

        train(10)
        """
    (tmp_path / "program.py").write_text(textwrap.dedent(source), encoding="utf-8")
    gc.collect()
    gc.disable()
    try:
        jitlint.check_paths([tmp_path], isolated=True)
        units = [(each, each if isinstance(each, Unit) else each.unit) for each in gc.get_objects() if _has_unit(each)]
        left = [type(each).__name__ for each, unit in units if unit.module.path.parent == tmp_path]
    finally:
        gc.enable()
    assert left == []


def _has_unit(each: object) -> bool:
    return isinstance(each, Frame | Func | Unit)
