"""Runs many programs under JAX, each in a process of its own, without importing JAX for each.

A server process imports JAX once (no backend is started in it) and forks for every program. Programs without jit
(mode ``nojit``) have no caches of their own to protect: one process runs them all, and shares the compiled operations.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

from tests.judge.execute import Outcome, execute
from tests.judge.fixtures import ROOT

_LIBRARIES = ("flax.linen", "flax.nnx", "optax", "equinox")


class ProgramCrashedError(Exception):
    """A program ended its process, or could not be run at all: carries the text that says why."""


class Pool:
    """A few servers; ``outcome`` runs a program in a mode, once, and remembers what it did."""

    def __init__(self) -> None:
        self._forking = ThreadPoolExecutor(max(1, min(4, os.cpu_count() or 1) - 1))
        self._sharing = ThreadPoolExecutor(1)
        self._local = threading.local()
        self._servers: list[subprocess.Popen[str]] = []
        self._known: dict[tuple[Path, str], Future[Outcome]] = {}

    def submit(self, programs: Iterable[tuple[Path, str]]) -> None:
        """Start on programs (main file and mode) that will be asked for."""
        for key in programs:
            if key not in self._known:
                executor = self._sharing if key[1] == "nojit" else self._forking
                self._known[key] = executor.submit(self._ask, *key)

    def outcome(self, main: Path, mode: str = "jit") -> Outcome:
        """What the program does under JAX; raises :class:`ProgramCrashedError`."""
        self.submit([(main, mode)])
        return self._known[main, mode].result()

    def close(self) -> None:
        """End the servers."""
        self._forking.shutdown(cancel_futures=True)
        self._sharing.shutdown(cancel_futures=True)
        for server in self._servers:
            server.communicate("")

    def _ask(self, main: Path, mode: str) -> Outcome:
        server = getattr(self._local, "server", None)
        if server is None:
            server = self._local.server = _start()
            self._servers.append(server)
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps([str(main), mode]) + "\n")
        server.stdin.flush()
        answer: dict[str, Any] = json.loads(server.stdout.readline() or '{"crashed": "the fork server died"}')
        if "crashed" in answer:
            raise ProgramCrashedError(f"{main} ({mode}): {answer['crashed']}")
        return cast(Outcome, answer)


def _start() -> subprocess.Popen[str]:
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_TRACEBACK_FILTERING": "off", "TF_CPP_MIN_LOG_LEVEL": "2"}
    command = [sys.executable, "-m", "tests.judge.pool"]
    return subprocess.Popen(command, cwd=ROOT, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _serve() -> None:
    """Read ``[main, mode]`` lines from stdin, answer each with a line of JSON: the outcome, or ``crashed``."""
    import jax
    import jax.numpy
    import jax.scipy.special

    jax.config.update("jax_disable_most_optimizations", True)  # type: ignore[no-untyped-call]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs write to the file descriptor itself must not mix with the answers
    for line in sys.stdin:
        main, mode = json.loads(line)
        _import_libraries(Path(main))
        run = _here if mode == "nojit" else _in_fork
        answers.write(run(Path(main), mode) + "\n")
        answers.flush()


def _import_libraries(main: Path) -> None:
    """Import here, once, the slow libraries that a program mentions: its fork then has them for nothing."""
    text = main.read_text(encoding="utf-8")
    for name in _LIBRARIES:
        if name.partition(".")[0] in text and importlib.util.find_spec(name.partition(".")[0]) is not None:
            importlib.import_module(name)


def _here(main: Path, mode: str) -> str:
    try:
        return json.dumps(execute(main, mode))
    except BaseException:
        return json.dumps({"crashed": traceback.format_exc()})


def _in_fork(main: Path, mode: str) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            out.write(_here(main, mode))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as results:
        text = results.read()
    _, status = os.waitpid(child, 0)
    return text or json.dumps({"crashed": f"its process ended with status {status}"})


if __name__ == "__main__":
    _serve()
