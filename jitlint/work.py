"""How the analysis of a project is done: component by component, from a cache where one knows the answer, and in
several processes where that pays. What comes out is the same in every case."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jitlint.cache import Cache, digest, engine_digest
from jitlint.findings import Finding
from jitlint.plain import Plain, from_plain, to_plain
from jitlint.project.components import Component, components
from jitlint.project.index import index_source

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

    from jitlint.project.config import Config
    from jitlint.project.model import JaxTarget, Module
    from jitlint.project.modules import Indexer, SourceProject

_KIND = "findings"

_WORTH_A_POOL = 60_000
"""Characters of source (some 1,500 lines) that other processes must be able to take over before they are started."""

_LARGE = 3_000_000
"""Characters of source whose analysis may leave enough behind, in circles that nobody broke, to look for it."""


@dataclass(frozen=True, slots=True)
class InternalError:
    """A fault of jitlint itself: while analysing what, what it said, and the traceback for a bug report."""

    where: str
    message: str
    details: str


class Progress(Protocol):
    """Who is told how far the work is."""

    def begin(self, parts: int) -> None:
        """So many parts are to be done; no other process is started after this."""
        ...

    def advance(self) -> None:
        """One of them is done."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """Who does the work, and what need not be done again.

    ``jobs`` is the number of processes, 1 for this one alone. With ``executor`` its workers do the work instead, be
    they threads, processes or other machines, and ``jobs`` does not count.
    """

    jobs: int = 1
    executor: Executor | None = None
    cache: Cache | None = None
    progress: Progress | None = None

    @property
    def indexer(self) -> Indexer:
        """What indexes the texts of a project to work on."""
        if self.cache is None:
            return index_source
        from jitlint.project.remembered import RememberingIndexer

        return RememberingIndexer(self.cache)


@dataclass(frozen=True, slots=True)
class Task:
    """The analysis of one component, as plain data that can be sent to a worker."""

    component: Component
    config: Config
    codes: tuple[str, ...]
    target: JaxTarget

    def key(self) -> str:
        """A name for everything that the findings depend on."""
        config = self.config
        here = os.getcwd()  # noqa: PTH109 - only to name places, as text
        modules = [
            [module.name, module.display, _place(module, here), module.is_package, module.reported, digest(module.text)]
            for module in (*self.component.modules, *self.component.others)
        ]
        found = sorted(
            [_relative(base, here), name, _relative(to, here)] for (base, name), to in self.component.found.items()
        )
        settings = [
            sorted(config.assume_jitted),
            [digest(Path(path).read_bytes()) for path in config.extra_models],
            config.unroll_threshold,
            config.captured_constant_bytes,
            config.max_variants,
            [self.target.version, self.target.source, self.target.notes],
        ]
        return digest(engine_digest(), json.dumps([modules, found, settings, self.codes]))


def _place(module: Module, here: str) -> str:
    return _relative(str(module.path), here)


def _relative(path: str, here: str) -> str:
    """The path from the current directory, where it is below: a checkout that is moved keeps its cache."""
    return path.removeprefix(here + os.sep)


@dataclass(slots=True)
class Examined:
    """What the analysis of a project came to."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[InternalError] = field(default_factory=list)
    jitted_functions: int = 0


def examine(project: SourceProject, config: Config, codes: Sequence[str], target: JaxTarget, work: Work) -> Examined:
    """The findings of the rules with these codes in a project: in no order, nothing suppressed.

    Raises ``ConfigError``.
    """
    tasks = [Task(part, config, tuple(codes), target) for part in components(project) if part.concerns_jax]
    answers: list[Plain | None] = [None] * len(tasks)
    keys = [""] * len(tasks)
    if work.cache is not None:
        for number, task in enumerate(tasks):
            keys[number] = _key(task)
            answers[number] = _known(work.cache, keys[number])
    open_tasks = [number for number, answer in enumerate(answers) if answer is None]
    for number, fresh in _answers(tasks, open_tasks, work):
        answers[number] = fresh
        if work.progress is not None:
            work.progress.advance()
        if work.cache is not None and keys[number] and not fresh["errors"]:
            work.cache.put(_KIND, keys[number], {"findings": fresh["findings"], "jitted": fresh["jitted"]})
    if work.cache is not None:
        work.cache.tidy()
    examined = Examined()
    for answer in filter(None, answers):
        examined.findings += map(from_plain, answer["findings"])
        examined.errors += [InternalError(*error) for error in answer.get("errors", ())]
        examined.jitted_functions += answer["jitted"]
    return examined


def run(task: Task) -> Plain:
    """Analyse one component: its findings, the number of its jitted functions, and what failed, as plain data.

    Where the analysis fails, each of its modules is analysed alone, so that a fault loses nothing of the others.
    """
    _make_room(task)
    try:
        return _run(task, task.component)
    except Exception as error:
        whole = _error("the project", error)
    answer: Plain = {"findings": [], "jitted": 0, "errors": []}
    for module in task.component.modules:
        try:
            alone = _run(task, task.component.only(module))
        except Exception as error:
            answer["errors"].append(_error(module.display, error))
        else:
            answer["findings"] += [each for each in alone["findings"] if each not in answer["findings"]]
            answer["jitted"] += alone["jitted"]
    answer["errors"] = answer["errors"] or [whole]
    return answer


_left = 0
"""Characters of source whose analysis this process has done since it looked for garbage."""


def _make_room(task: Task) -> None:
    """Free what earlier analyses have left, where that is much."""
    global _left
    if _left > _LARGE:
        gc.collect()
        _left = 0
    _left += task.component.size


def _run(task: Task, component: Component) -> Plain:
    from jitlint import semantics
    from jitlint.registry import all_rules
    from jitlint.semantics.release import release

    rules = [rule for rule in all_rules() if rule.code in task.codes]
    found = semantics.run(component, task.config, rules, target=task.target)
    sites = {id(entry.node) for entry in found.interp.entries if entry.unit.module.reported}
    # Through JSON, so that what was never cached is no different from what was.
    plain = json.loads(json.dumps(list(map(to_plain, found.findings))))
    release(found.interp)
    return {"findings": plain, "jitted": len(sites), "errors": []}


def internal_error(where: str, error: Exception) -> InternalError:
    """A fault that was met while analysing ``where``."""
    said = str(error).partition("\n")[0]
    return InternalError(where, f"{type(error).__name__}: {said}", "".join(traceback.format_exception(error)))


def _error(where: str, error: Exception) -> list[str]:
    return list(astuple(internal_error(where, error)))


# --- the cache ------------------------------------------------------------------------------------------------------


def _key(task: Task) -> str:
    """The key of a task; "" where it cannot be told, and then the analysis says why."""
    try:
        return task.key()
    except OSError:
        return ""


def _known(cache: Cache, key: str) -> Plain | None:
    known: Any = cache.get(_KIND, key) if key else None
    if not isinstance(known, dict) or not isinstance(known.get("jitted"), int):
        return None
    try:
        findings = [to_plain(from_plain(each)) for each in known["findings"]]
    except (KeyError, TypeError, ValueError):
        return None
    return {"findings": findings, "jitted": known["jitted"]}


# --- workers --------------------------------------------------------------------------------------------------------


def _answers(tasks: Sequence[Task], numbers: Sequence[int], work: Work) -> Iterator[tuple[int, Plain]]:
    """The answers to the tasks with these numbers, as they come."""
    if work.executor is not None:
        yield from _sent(tasks, numbers, work.executor, work.progress, own=False)
        return
    sizes = sorted((tasks[number].component.size for number in numbers), reverse=True)
    jobs = min(work.jobs, len(numbers))
    if jobs > 1 and sum(sizes[1:]) >= _WORTH_A_POOL:
        with _pool(jobs) as executor:
            yield from _sent(tasks, numbers, executor, work.progress, own=True)
        return
    if work.progress is not None:
        work.progress.begin(len(numbers))
    for number in numbers:
        yield number, run(tasks[number])


def _sent(
    tasks: Sequence[Task], numbers: Sequence[int], executor: Executor, progress: Progress | None, *, own: bool
) -> Iterator[tuple[int, Plain]]:
    """The answers of the workers of an executor. What is lost with a worker is done again."""
    lost: list[int] = []
    futures: dict[int, Future[Plain]] = {}
    for number in sorted(numbers, key=lambda number: -tasks[number].component.size):
        try:
            futures[number] = executor.submit(run, tasks[number])
        except Exception:  # a worker has died, and the executor takes nothing any more
            lost.append(number)
    if progress is not None:
        progress.begin(len(numbers))
    for number, future in futures.items():
        try:
            yield number, future.result()
        except Exception:  # whatever its way of saying so: `run` itself raises nothing
            lost.append(number)
    for number in sorted(lost):
        yield number, _again(tasks[number]) if own else run(tasks[number])


def _again(task: Task) -> Plain:
    """The answer to a task whose worker died: of a new process, so that it takes nobody with it."""
    with _pool(1) as executor:
        try:
            return executor.submit(run, task).result()
        except Exception as error:
            return {"findings": [], "jitted": 0, "errors": [_error(task.component.modules[0].display, error)]}


@contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    """Processes of our own."""
    from concurrent.futures import ProcessPoolExecutor

    context = _context()
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_ctrl_c)
    others = set(context.active_children())
    try:
        yield executor
    except KeyboardInterrupt:
        # Nobody waits for what the workers are at.
        for worker in set(context.active_children()) - others:
            worker.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _leave_ctrl_c() -> None:
    """A terminal sends Ctrl-C to the workers too: they leave it to who started them, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _context() -> BaseContext:
    """Processes that are copies of this one start at once, but may hang where it has threads, as JAX has."""
    import multiprocessing

    if sys.platform == "linux" and threading.active_count() == 1 and "jax" not in sys.modules:
        from jitlint import api as _api  # noqa: F401 - loaded once, before there are copies

        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")
