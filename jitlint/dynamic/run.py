"""Starts a worker for each module in the user's interpreter and reads what it says.

A worker that hangs, crashes, exits or cannot start gives a :class:`ModuleRun` with what it said until then and the
reason in ``failure``: nothing that the user's code does is an error here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from jitlint.dynamic.protocol import ModuleRun

WORKER = Path(__file__).with_name("worker.py")
STDERR_KEPT = 4000
MEGABYTE = 1 << 20
LEAST, MOST = 8_192, 32_768
"""Megabytes of address space, of which JAX reserves more than it uses."""


def memory_limit() -> int:
    """Megabytes that a module may use: what the machine has, between 8 and 32 GB."""
    try:
        has = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MEGABYTE
    except (AttributeError, OSError, ValueError):  # Not on Windows.
        return MOST
    return max(LEAST, min(MOST, has))


@dataclass(frozen=True, slots=True)
class Limits:
    """What one module may use: seconds until it is killed (fewer for its import), megabytes of address space."""

    seconds: float = 60.0
    megabytes: int = field(default_factory=memory_limit)
    import_seconds: float | None = None

    @property
    def for_import(self) -> float:
        """The import gets half, so that there is time to trace what a training loop would otherwise keep waiting."""
        return self.seconds / 2 if self.import_seconds is None else self.import_seconds

    @property
    def job_seconds(self) -> float:
        """What one job, or the search for stale values, may take."""
        return max(1.0, self.seconds / 6)


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Watch:
    """A place whose execution the worker reports: rows from 1, columns in UTF-8 bytes from 0, the end exclusive."""

    id: str
    path: str
    row: int
    column: int
    end_row: int
    end_column: int

    def encode(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {
            "id": self.id,
            "file": self.path,
            "row": self.row,
            "column": self.column,
            "end_row": self.end_row,
            "end_column": self.end_column,
        }


@dataclass(frozen=True, slots=True)
class ModuleRequest:
    """One module to import, and what to look at. Paths are absolute."""

    name: str
    path: str
    source: str
    roots: tuple[str, ...]
    """Folders that imports of the project start from; code in them is the user's."""
    jobs: tuple[Mapping[str, Any], ...] = ()
    watch: tuple[Watch, ...] = ()
    stale: tuple[tuple[str, int], ...] = ()
    """Rows of functions that read what may go stale: they are traced again at the end."""
    overlay: Mapping[str, str] = field(default_factory=dict)
    """Texts, by path, that stand in for files."""


def run_modules(
    requests: Sequence[ModuleRequest],
    python: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    processes: int | None = None,
) -> list[ModuleRun]:
    """Run a worker per request, in their order; at most ``processes`` (half of the processors) at a time."""
    count = processes or max(1, (os.cpu_count() or 2) // 2)
    with ThreadPoolExecutor(max_workers=count) as pool:
        return list(pool.map(lambda request: run_module(request, python, limits), requests))


def run_module(request: ModuleRequest, python: Path | None = None, limits: Limits = DEFAULT_LIMITS) -> ModuleRun:
    """Import the module of the request in ``python`` (by default the interpreter that runs jitlint)."""
    run = ModuleRun(request.name, request.path)
    scratch = Path(tempfile.mkdtemp(prefix="jitlint-"))
    try:
        _run(request, python or Path(sys.executable), limits, scratch, run)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return run


def _run(request: ModuleRequest, python: Path, limits: Limits, scratch: Path, run: ModuleRun) -> None:
    try:
        worker = subprocess.Popen(
            [_command(python), str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=scratch,
            env=_environment(scratch),
            start_new_session=True,
        )
    except OSError as error:
        run.failure = f"cannot start {python}: {error.strerror or error}"
        return
    assert worker.stdin and worker.stdout and worker.stderr
    tail = _Tail(worker.stderr)
    reader = threading.Thread(target=_read, args=(worker.stdout, run), daemon=True)
    reader.start()
    with contextlib.suppress(OSError):  # Gone already: its exit code tells why.
        worker.stdin.write(json.dumps(_encode(request, scratch, limits)).encode())
        worker.stdin.close()
    late = False
    try:
        worker.wait(limits.seconds)
    except subprocess.TimeoutExpired:
        late = True
    _end(worker)
    reader.join(5)
    if late:
        run.failure = run.failure or _late(run, limits)
    elif not run.finished and not run.failure:
        run.failure = _ended(worker.returncode, tail.text())


def _command(python: Path) -> str:
    """The interpreter as it is found from another working folder; a virtual environment is known by the path that its
    interpreter is called by, so links are not followed."""
    named = python.name == str(python) and not python.exists()
    return str(python) if named else str(python.absolute())


def _encode(request: ModuleRequest, scratch: Path, limits: Limits) -> dict[str, Any]:
    return {
        "module": {"name": request.name, "path": request.path, "source": request.source},
        "sys_path": list(request.roots),
        "user_roots": list(request.roots),
        "scratch": str(scratch),
        "import_seconds": limits.for_import,
        "job_seconds": limits.job_seconds,
        "memory": limits.megabytes * MEGABYTE,
        "cpu_seconds": int(limits.seconds * (os.cpu_count() or 1)) + 1,
        "jobs": list(request.jobs),
        "watch": [watch.encode() for watch in request.watch],
        "stale": [list(place) for place in request.stale],
        "overlay": dict(request.overlay),
    }


def _environment(scratch: Path) -> dict[str, str]:
    """The user's environment, with every folder that programs like to write to inside the scratch folder."""
    folders = ("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MPLCONFIGDIR")
    changed = dict.fromkeys(folders, str(scratch))
    changed |= {
        "JAX_PLATFORMS": "cpu",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPYCACHEPREFIX": str(scratch / "pycache"),
        "PYTHONUNBUFFERED": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "MPLBACKEND": "Agg",
        "WANDB_MODE": "disabled",
        "HF_HUB_OFFLINE": "1",
    }
    dropped = {"JAX_COMPILATION_CACHE_DIR", "JAX_LOG_COMPILES", "JAX_DISABLE_JIT", "PYTHONSTARTUP", "PYTHONHOME"}
    return {key: value for key, value in os.environ.items() if key not in dropped} | changed


def _read(stream: IO[bytes], run: ModuleRun) -> None:
    """Take messages until the stream ends; a half-written last line is not one."""
    for line in stream:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            run.take(message)


def _end(worker: subprocess.Popen[bytes]) -> None:
    """Kill the worker and whatever it has started in its session."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):  # No process of that group is left.
            os.killpg(worker.pid, signal.SIGKILL)
    worker.kill()
    worker.wait()


def _late(run: ModuleRun, limits: Limits) -> str:
    doing = "tracing" if run.imported else "importing"
    return f"{doing} it took longer than {limits.seconds:g} s (--timeout)"


def _ended(code: int, stderr: str) -> str:
    """Why a worker ended that said nothing of it itself."""
    last = stderr.strip().splitlines()[-1:] or [""]
    detail = f": {last[0][:200]}" if last[0] else ""
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        if -code == getattr(signal, "SIGXCPU", 0):
            return "it used up its processor time"
        return f"the interpreter was ended by {name}{detail}"
    return f"the interpreter ended with exit code {code} before it was done{detail}"


class _Tail:
    """Keeps the end of a stream, and drains it so that the writer never waits."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, args=(stream,), daemon=True)
        self._thread.start()

    def _drain(self, stream: IO[bytes]) -> None:
        while chunk := stream.read1(65536) if hasattr(stream, "read1") else stream.read(65536):
            self._kept = (self._kept + chunk)[-STDERR_KEPT:]

    def text(self) -> str:
        """What was kept, once the stream has ended."""
        self._thread.join(2)
        return self._kept.decode(errors="replace")
