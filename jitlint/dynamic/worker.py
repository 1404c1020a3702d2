"""The part of the dynamic mode that runs in the user's interpreter: one file, standard library only.

It reads a request (one JSON object) on stdin, imports one module of the user's project one top-level statement at a
time, lets JAX trace what jitlint asks for, and reports what it saw as JSON lines on the stdout it was started with
(what the user's code prints goes nowhere). ``run.py`` holds the other end and ``protocol.py`` the messages as data.

Nothing is patched. A trace function (``sys.settrace``) watches the user's frames: a user function that JAX calls
beneath its own ``trace_to_jaxpr`` is being traced, so each such call is one cache miss, its arguments are the
signature of a variant, the frames above it are the call site, and what is raised in it is what JAX raises. This
changes neither the identity of any function nor the number of traces, which wrapping ``jax.jit`` would.
"""

# Runs on the oldest Python that has a supported jax (3.9), inside programs where speed counts.
# ruff: noqa: B905, N818, UP033, PTH100, PTH118, PTH119, PTH120, PTH206

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import dataclasses
import dis
import functools
import gc
import hashlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import logging
import os
import re
import signal
import sys
import textwrap
import threading
import time
import traceback
import types
import typing
from collections.abc import Callable
from typing import Any

PROTOCOL = 1
TEXT_LIMIT = 400
LARGE = 10**6
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# Audit events that change files: which of their arguments are paths, each with the one that is its folder's descriptor.
CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.chmod": ((0, 2),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "shutil.rmtree": ((0, 1),),
    "sqlite3.connect": ((0, None),),
}
# Audit events of what reaches out of the process: not for what only makes something.
REACHES_OUT = {
    "socket.connect": "to connect",
    "socket.sendto": "to connect",
    "socket.bind": "to listen",
    "subprocess.Popen": "to start a process",
    "os.system": "to start a process",
    "os.posix_spawn": "to start a process",
    "os.spawn": "to start a process",
}
SAFE_WRITES = ("/dev/", "/proc/self/")


class Deadline(BaseException):
    """The time for one step is over; not an Exception, so that user code does not catch it by accident."""


class Refused(PermissionError):
    """The user's code tried something that a worker does not do, such as writing into the project."""


def shorten(text: object, limit: int = TEXT_LIMIT) -> str:
    """``text`` on one line and not longer than ``limit``."""
    text = " ".join(str(text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def safe_repr(value: object, limit: int = 80) -> str:
    """``repr`` that cannot fail and does not depend on addresses."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return shorten(ADDRESS.sub("", text), limit)


# ---------------------------------------------------------------------------------------------------- the channel


class Channel:
    """JSON lines to the parent on a private copy of stdout; the user's code keeps none of the three streams."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._fd = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)

    def send(self, kind: str, **fields: Any) -> None:
        """Send one message; a forked child ends here instead of speaking with its parent's voice."""
        if os.getpid() != self._pid:
            os._exit(0)
        fields["kind"] = kind
        data = json.dumps(fields, default=str).encode() + b"\n"
        with self._lock:
            while data:
                data = data[os.write(self._fd, data) :]


# ------------------------------------------------------------------------------------------------------ the guard


def end_with_parent() -> None:
    """End this process soon after the one that started it, whatever that ended by."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def limit_resources(request: dict[str, Any]) -> None:
    """Limits of the operating system, where it has them, for memory, processor time and the size of files."""
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:
        return
    for name, amount in (
        ("RLIMIT_AS", request.get("memory")),
        ("RLIMIT_CPU", request.get("cpu_seconds")),
        ("RLIMIT_FSIZE", 256 * LARGE),
        ("RLIMIT_CORE", 0),
    ):
        if amount is not None and hasattr(resource, name):
            which = getattr(resource, name)
            hard = resource.getrlimit(which)[1]
            resource.setrlimit(which, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))


class Seal:
    """While it is on, nothing that is run may write any file, start a process or open a connection: functions and
    constructors that a worker calls are to make something and to do nothing else."""

    def __init__(self) -> None:
        self.on = False

    def __enter__(self) -> None:
        self.on = True

    def __exit__(self, *_: object) -> None:
        self.on = False


def guard(request: dict[str, Any]) -> Seal:
    """Keep the user's code inside the scratch folder, inside its limits, and in this process. The seal says when not
    even the scratch folder may be written to."""
    seal = Seal()
    scratch = os.path.realpath(request["scratch"])
    sys.dont_write_bytecode = True
    os.chdir(scratch)
    limit_resources(request)

    def allowed(path: Any, folder: Any = -1) -> bool:
        """Whether a file may be changed; ``folder`` is the descriptor that its path is relative to, if it has one."""
        if isinstance(path, int):
            return True
        text = os.fsdecode(path)
        if isinstance(folder, int) and folder >= 0:
            text = os.path.join(os.path.realpath(f"/proc/self/fd/{folder}"), text)
        text = os.path.realpath(text)
        if seal.on:
            return text == os.devnull or text.startswith(SAFE_WRITES)
        return text == os.devnull or text.startswith((scratch + os.sep, *SAFE_WRITES)) or text == scratch

    def refuse(what: str) -> None:
        raise Refused(f"jitlint's worker refused {what}")

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            writes = (
                any(c in mode for c in "wax+") if isinstance(mode, str) else bool(flags & (os.O_WRONLY | os.O_RDWR))
            )
            if writes and path is not None and not allowed(path):
                refuse(f"to write {os.fsdecode(path)}")
        elif event in CHANGES:
            for path, folder in CHANGES[event]:
                if not allowed(args[path], args[folder] if folder is not None and folder < len(args) else -1):
                    refuse(f"{event} of {args[path]!r}")
        elif event in ("os.fork", "os.forkpty"):
            refuse("to fork")
        elif event in ("os.exec", "os.kill", "os.killpg"):
            refuse(event)
        elif seal.on and event in REACHES_OUT:
            refuse(REACHES_OUT[event])

    sys.addaudithook(audit)
    return seal


class Clock:
    """Time limits for single steps, kept by an interval timer where the platform has one (the parent has the last
    word everywhere)."""

    def __init__(self) -> None:
        self._works = hasattr(signal, "setitimer")
        self._until: float | None = None
        if self._works:
            signal.signal(signal.SIGALRM, self._ring)

    def _ring(self, _signum: int, _frame: Any) -> None:
        if self._until is not None:
            raise Deadline()

    def start(self, seconds: float) -> None:
        """Raise :class:`Deadline` in the main thread after ``seconds``, and again each half second until stopped."""
        if self._works:
            self._until = time.monotonic() + seconds
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01), 0.5)

    def stop(self) -> None:
        """Call it off."""
        self._until = None
        if self._works:
            signal.setitimer(signal.ITIMER_REAL, 0)


# ------------------------------------------------------------------------------------------------ the user's files


class Sources:
    """Which code is the user's: files under the project's roots that are not an installed package in one."""

    def __init__(self, roots: list[str]) -> None:
        self._roots = tuple(os.path.normpath(r) + os.sep for r in roots)
        self._known: dict[str, str] = {}

    def of(self, filename: str) -> str:
        """The normalised path of a user's file, or "" for anybody else's."""
        found = self._known.get(filename)
        if found is None:
            found = self._known[filename] = self._classify(filename)
        return found

    def _classify(self, filename: str) -> str:
        if filename.startswith("<") or filename == __file__:
            return ""
        path = os.path.normpath(os.path.abspath(filename))
        for root in self._roots:
            if path.startswith(root):
                inside = path[len(root) :].split(os.sep)
                if not {"site-packages", "dist-packages"} & set(inside):
                    return path
        return ""

    def frames_of(self, tb: Any) -> list[list[Any]]:
        """The user's frames of a traceback, innermost first: [path, row, function] each."""
        out = []
        while tb is not None:
            path = self.of(tb.tb_frame.f_code.co_filename)
            if path:
                out.append([path, tb.tb_lineno, tb.tb_frame.f_code.co_name])
            tb = tb.tb_next
        out.reverse()
        return out

    def stack_of(self, frame: Any) -> list[list[Any]]:
        """The user's frames of the running stack from ``frame`` outward."""
        out = []
        while frame is not None:
            path = self.of(frame.f_code.co_filename)
            if path:
                out.append([path, frame.f_lineno, frame.f_code.co_name])
            frame = frame.f_back
        return out


def describe_error(error: BaseException, sources: Sources, tb: Any = None) -> dict[str, Any]:
    """What the parent needs to know of an exception: class, ancestry, message, the user's frames.

    ``tb`` is its traceback as far as it has come, where the exception is still on its way.
    """
    return {
        "class": type(error).__name__,
        "mro": [c.__name__ for c in type(error).__mro__ if c not in (object, BaseException)],
        "module": type(error).__module__,
        "message": shorten(_first_lines(error)),
        "frames": sources.frames_of(error.__traceback__),
        "origin": _origin(error),
        "by_jax": is_jax_error(type(error)) or raised_by_jax(error, sources, files_of(tb or error.__traceback__)),
    }


def _first_lines(error: object) -> str:
    try:
        return ADDRESS.sub("", "\n".join(str(error).splitlines()[:6]))
    except Exception:
        return ""


def _origin(error: object) -> list[list[Any]]:
    """Rows that JAX names in the text of an UnexpectedTracerError: where the leaked value was made."""
    if type(error).__name__ != "UnexpectedTracerError":
        return []
    try:
        return [[path, int(row)] for path, row in re.findall(r"(/[^\s:]+\.py):(\d+)", str(error))]
    except Exception:
        return []


# ---------------------------------------------------------------------------------------------------- the recorder


CONTROL_FLOW = os.path.join("jax", "_src", "lax", "control_flow") + os.sep
MARKER_FILE = os.path.join("jax", "_src", "interpreters", "partial_eval.py")
API_FILE = os.path.join("jax", "_src", "api.py")
MARKERS = ("trace_to_jaxpr", "trace_to_jaxpr_dynamic", "trace_to_jaxpr_final", "trace_to_jaxpr_dynamic2")
NO_ROWS: set[int] = set()
CONTROL = ("scan", "while_loop", "fori_loop", "map", "cond", "switch", "associative_scan", "reduce", "custom_root")


class Marker:
    """One run of JAX's own trace-to-jaxpr: the traced user function is the first user frame beneath it."""

    def __init__(self) -> None:
        self.root: Trace | None = None


class Trace:
    """One tracing of one user function by JAX."""

    def __init__(self, frame: Any, path: str, transform: str, depth: int, calls: list[list[Any]]) -> None:
        self.frame = frame
        self.code = frame.f_code
        self.path = path
        self.transform = transform
        self.depth = depth
        self.calls = calls
        self.started = time.perf_counter()
        self.error: str | None = None
        self.ran: dict[int, set[int]] = {}
        self.rows: dict[tuple[str, int], int] = {}
        self.signature: list[list[str]] = []
        self.template: tuple[list[Any], Any] | None = None


class Recorder:
    """Watches the user's frames while the module is imported and while jobs are traced."""

    def __init__(self, channel: Channel, sources: Sources, request: dict[str, Any]) -> None:
        self._channel = channel
        self._sources = sources
        self._watch: dict[str, list[dict[str, Any]]] = {}
        for watch in request.get("watch", ()):
            self._watch.setdefault(watch["file"], []).append(watch)
        self._watched_rows = {
            path: {row for w in watches for row in range(w["row"], w["end_row"] + 1)}
            for path, watches in self._watch.items()
        }
        for path, row in (job["unless_ran"] for job in request.get("jobs", ()) if "unless_ran" in job):
            self._watched_rows.setdefault(path, set()).add(row)
        self._stale = {(path, row) for path, row in request.get("stale", ())}
        self._kept: dict[tuple[str, int], tuple[Trace, str | None]] = {}
        self._local = threading.local()
        self._kinds: dict[str, str] = {}
        self._last_error: int | None = None
        self._codes: dict[int, tuple[Any, str]] = {}
        self._reach: dict[int, tuple[Any, set[int]]] = {}
        self.hits: dict[tuple[str, int], int] = {}
        self.traced: set[tuple[str, int]] = set()
        self.job: str | None = None
        self.jax: Any = None
        self.on = False

    # -- switching

    def start(self) -> None:
        """Begin to watch, in this thread and in those made from now on."""
        self.on = True
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> None:
        """Stop watching."""
        self.on = False
        sys.settrace(None)
        threading.settrace(None)

    # -- events

    def _state(self) -> Any:
        local = self._local
        if not hasattr(local, "markers"):
            local.markers, local.roots = [], []
        return local

    def _kind(self, filename: str) -> str:
        kind = self._kinds.get(filename)
        if kind is None:
            if self._sources.of(filename):
                kind = "user"
            elif filename.endswith(MARKER_FILE):
                kind = "marker"
            elif filename.endswith(API_FILE):
                kind = "api"
            else:
                kind = "other"
            self._kinds[filename] = kind
        return kind

    def _call(self, frame: Any, _event: str, _arg: Any) -> Any:
        kind = self._kinds.get(frame.f_code.co_filename) or self._kind(frame.f_code.co_filename)
        if kind == "other" or not self.on:
            return None
        try:
            if kind == "marker":
                return self._enter_marker(frame) if frame.f_code.co_name in MARKERS else None
            if kind == "api":
                return self._enter_jit(frame) if frame.f_code.co_name == "jit" else None
            return self._enter_user(frame)
        except Exception:
            self._channel.send("trouble", text=shorten(traceback.format_exc()))
            return None

    def _enter_marker(self, frame: Any) -> Any:
        state = self._state()
        marker = Marker()
        state.markers.append(marker)
        frame.f_trace_lines = False

        def leave(_frame: Any, event: str, arg: Any) -> Any:
            if event == "return":
                if marker in state.markers:
                    del state.markers[state.markers.index(marker) :]
                if marker.root is not None:
                    self._finish(marker.root, arg)
            return leave

        return leave

    def _enter_jit(self, frame: Any) -> None:
        """Report which function a call of ``jax.jit`` is given, and where."""
        code = code_of(frame.f_locals.get("fun"))
        stack = self._sources.stack_of(frame.f_back)[:1]
        if code is not None and stack and self._sources.of(code.co_filename):
            function = [self._sources.of(code.co_filename), code.co_firstlineno]
            self._channel.send("site", place=stack[0], function=function)

    def _enter_user(self, frame: Any) -> Any:
        state = self._state()
        code = frame.f_code
        path = self._sources.of(code.co_filename)
        root = None
        if code.co_name != "<module>" and not code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            root = self._root(frame, path, state)
        rows = self._watched_rows.get(path, NO_ROWS)
        watched = bool(rows) and self._holds(code, rows)
        frame.f_trace_lines = watched
        tracing = state.roots[-1] if state.roots else None
        seen: set[int] = set()
        if watched and tracing is not None:
            frame.f_trace_opcodes = hasattr(code, "co_positions")
            seen = tracing.ran.setdefault(id(code), seen)
            self._codes[id(code)] = (code, path)

        def step(frame: Any, event: str, arg: Any) -> Any:
            if event == "opcode":
                seen.add(frame.f_lasti)
            elif event == "line":
                row = frame.f_lineno
                if row in rows:
                    key = (path, row)
                    self.hits[key] = self.hits.get(key, 0) + 1
                    if tracing is not None:
                        tracing.rows[key] = tracing.rows.get(key, 0) + 1
                if root is not None:
                    root.error = None
            elif event == "exception":
                self._raised(frame, path, arg, tracing, root)
            elif event == "return" and root is not None:
                self._leave_root(root, state)
            return step

        return step

    def _holds(self, code: Any, rows: set[int]) -> bool:
        """Whether ``code`` (with what is defined inside it) has one of these rows; the answer is kept per code."""
        known = self._reach.get(id(code))
        if known is None or known[0] is not code:
            known = self._reach[id(code)] = (code, {code.co_firstlineno, *rows_of(code)})
        return not rows.isdisjoint(known[1])

    # -- roots

    def _root(self, frame: Any, path: str, state: Any) -> Trace | None:
        back = frame.f_back
        if back is None or self._kind(back.f_code.co_filename) == "user":
            return None
        marker = state.markers[-1] if state.markers else None
        transform = self._transform(back)
        if marker is not None and marker.root is None:
            transform = transform or "jit"
        elif transform != "vmap":
            return None
        else:
            marker = None
        trace = Trace(frame, path, transform, len(state.roots), self._sources.stack_of(back))
        trace.signature = self._signature(frame)
        if self._stale and not state.roots and self.job is None:
            trace.template = self._template(frame)
        if marker is not None:
            marker.root = trace
        state.roots.append(trace)
        return trace

    def _transform(self, frame: Any) -> str:
        """The name of what called a user function: jit, scan, cond, vmap …; "" for plain calls and for grad."""
        found = ""
        while frame is not None:
            name, code = frame.f_code.co_filename, frame.f_code
            if self._kind(name) == "user":
                break
            if CONTROL_FLOW in name and code.co_name in CONTROL:
                found = code.co_name
            elif name.endswith(os.path.join("jax", "_src", "pjit.py")):
                found = found if found in CONTROL else "jit"
            elif code.co_name in ("make_jaxpr_f", "eval_shape") and name.endswith(os.path.join("_src", "api.py")):
                found = code.co_name.replace("_f", "")
            elif code.co_name == "vmap_f" and not found:
                found = "vmap"
            elif code.co_name == "cache_miss" and name.endswith(os.path.join("_src", "api.py")):
                found = "pmap"
            elif "shard_map" in os.path.basename(name) and not found:
                found = "shard_map"
            frame = frame.f_back
        return found

    def _leave_root(self, root: Trace, state: Any) -> None:
        if root in state.roots:
            del state.roots[state.roots.index(root) :]
        root.frame = None
        if root.template is not None and root.error is None:
            rows = {*root.rows, *((path, row) for path, row, _ in root.calls)}
            own = {row for path, row in self._stale if path == root.path}
            if not self._stale.isdisjoint(rows) or self._holds(root.code, own):
                self._keep(root)
        if root.transform == "vmap":
            self._finish(root, None)

    def _finish(self, trace: Trace, result: Any) -> None:
        """Report a trace; ``result`` is what JAX's tracing function returned, None where it raised."""
        self.traced.add((trace.path, trace.code.co_firstlineno))
        jaxpr = find_jaxpr(result)
        fields = {}
        if jaxpr is not None:
            fields["equations"] = count_equations(jaxpr)
            fields["constant_bytes"] = constant_bytes(result)
        self._channel.send(
            "trace",
            file=trace.path,
            row=trace.code.co_firstlineno,
            name=trace.code.co_name,
            qualname=getattr(trace.code, "co_qualname", trace.code.co_name),
            transform=trace.transform,
            depth=trace.depth,
            calls=trace.calls[:8],
            signature=trace.signature,
            ok=result is not None or (trace.transform == "vmap" and trace.error is None),
            error=trace.error,
            job=self.job,
            seconds=round(time.perf_counter() - trace.started, 4),
            ran=self._coverage(trace),
            **fields,
        )

    # -- errors

    def _raised(self, frame: Any, path: str, arg: Any, tracing: Trace | None, root: Trace | None) -> None:
        kind, error, tb = arg
        if issubclass(kind, (StopIteration, GeneratorExit, Deadline)):
            return
        if root is not None:
            root.error = kind.__name__
        if self._last_error == id(error) or not isinstance(error, BaseException):
            return
        # Only the innermost user frame of an exception is new; its callers' frames see the same object again.
        self._last_error = id(error)
        watched = frame.f_lineno in self._watched_rows.get(path, NO_ROWS)
        if tracing is not None or watched or is_jax_error(kind):
            description = describe_error(error, self._sources, tb)
            description["frames"] = self._sources.stack_of(frame)
            self._channel.send("raised", error=description, tracing=tracing is not None, job=self.job)

    # -- what ran

    def _coverage(self, trace: Trace) -> dict[str, list[Any]]:
        """For each watched place: "full" if all of it ran during this trace, "part" if some, and how often."""
        out = {}
        places: dict[str, list[tuple[Any, set[int]]]] = {}
        for ident, offsets in trace.ran.items():
            code, path = self._codes[ident]
            places.setdefault(path, []).append((code, offsets))
        for path, watches in self._watch.items():
            for watch in watches:
                hits = trace.rows.get((path, watch["row"]), 0)
                inside: set[Any] = set()
                ran: set[Any] = set()
                for code, offsets in places.get(path, ()):
                    a, b = positions_inside(code, offsets, watch)
                    inside |= a
                    ran |= b
                if ran:
                    out[watch["id"]] = ["full" if ran == inside else "part", max(hits, 1)]
                elif hits:
                    out[watch["id"]] = ["line", hits]
        return out

    # -- arguments

    def _signature(self, frame: Any) -> list[list[str]]:
        out = []
        for name in argument_names(frame.f_code):
            if name in frame.f_locals:
                out.append([name, *self._describe(frame.f_locals[name])])
        return out

    def _describe(self, value: Any) -> list[str]:
        """("traced", "f32[3,4]"), ("static", "True") or, for containers of both, ("tree", "{w: f32[3], n: 2}")."""
        jax = self.jax
        if jax is None:
            return ["unknown", safe_repr(value)]
        if isinstance(value, jax.core.Tracer):
            return ["traced", aval_text(value.aval)]
        try:
            leaves, tree = jax.tree_util.tree_flatten(value)
        except Exception:
            return ["static", safe_repr(value)]
        traced = [leaf for leaf in leaves if isinstance(leaf, jax.core.Tracer)]
        if not traced:
            return ["static", safe_repr(value)]
        texts = [aval_text(x.aval) if isinstance(x, jax.core.Tracer) else safe_repr(x, 30) for x in leaves]
        try:
            text = tree_text(tree.unflatten([Text(t) for t in texts]))
        except Exception:
            text = "{}: {}".format(type(value).__name__, ", ".join(texts))
        return ["tree", shorten(text)]

    def _template(self, frame: Any) -> tuple[list[Any], Any]:
        """The arguments of a traced call with abstract values in place of tracers, to trace it again later."""
        jax = self.jax
        code, values = frame.f_code, frame.f_locals
        named = code.co_varnames[: code.co_argcount]
        keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        args = [values[n] for n in named if n in values]
        kwargs = {n: values[n] for n in keywords if n in values}
        index = code.co_argcount + code.co_kwonlyargcount
        if code.co_flags & inspect.CO_VARARGS:
            args.extend(values.get(code.co_varnames[index], ()))
            index += 1
        if code.co_flags & inspect.CO_VARKEYWORDS:
            kwargs.update(values.get(code.co_varnames[index], {}))
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        return [abstract(jax, x) if isinstance(x, jax.core.Tracer) else x for x in leaves], tree

    # -- stale values

    def _keep(self, trace: Trace) -> None:
        key = (trace.path, trace.code.co_firstlineno)
        if key not in self._kept:
            first = self._again(trace.code, trace.template)
            self._kept[key] = (trace, first)

    def _again(self, code: Any, template: tuple[list[Any], Any] | None) -> str | None:
        leaves, tree = template or ([], None)
        function = function_of(code)
        if function is None:
            return None
        was, self.on = self.on, False
        try:
            return retrace(self.jax, function, leaves, tree)
        except Exception as error:
            return f"{type(error).__name__}: {_first_lines(error)}"
        finally:
            self.on = was

    def report_stale(self) -> None:
        """Trace each kept function twice more and say whether what JAX records has changed since the first time."""
        if self._kept:
            self.jax.clear_caches()
        for (path, row), (trace, first) in self._kept.items():
            second = self._again(trace.code, trace.template)
            self.jax.clear_caches()
            third = self._again(trace.code, trace.template)
            self._channel.send(
                "stale",
                file=path,
                row=row,
                name=trace.code.co_name,
                known=first is not None,
                changed=first != second,
                unstable=second != third,
            )


class Text:
    """A leaf that prints as its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def tree_text(value: Any) -> str:
    """A container of :class:`Text` leaves in Python's own notation, field names kept."""
    if isinstance(value, dict):
        return "{{{}}}".format(", ".join(f"{k}: {tree_text(v)}" for k, v in value.items()))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        inner = ", ".join(f"{k}={tree_text(v)}" for k, v in zip(value._fields, value))
        return f"{type(value).__name__}({inner})"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(tree_text(v) for v in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return "(%s)" % (inner + "," if len(value) == 1 else inner)
    return safe_repr(value, 200)


DTYPE_SHORT = (
    ("bfloat", "bf"),
    ("float", "f"),
    ("uint", "u"),
    ("int", "i"),
    ("complex", "c"),
)


def aval_text(aval: Any) -> str:
    """``f32[32,784]``; a weak type (of a Python scalar) is marked with ``~``."""
    dtype = str(getattr(aval, "dtype", "?"))
    for long, short in DTYPE_SHORT:
        if dtype.startswith(long) and dtype[len(long) :].isdigit():
            dtype = short + dtype[len(long) :]
            break
    shape = ",".join(str(d) for d in getattr(aval, "shape", ()))
    return "{}[{}]{}".format(dtype, shape, "~" if getattr(aval, "weak_type", False) else "")


def argument_names(code: Any) -> tuple[str, ...]:
    """Names of the parameters of ``code``, ``*args`` and ``**kwargs`` included."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    names: tuple[str, ...] = code.co_varnames[:count]
    return names


def rows_of(code: Any) -> set[int]:
    """Rows of the instructions of ``code``, nested code included."""
    rows = {row for _, row in dis.findlinestarts(code) if row}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            rows |= rows_of(const)
    return rows


def positions_inside(code: Any, offsets: set[int], watch: dict[str, Any]) -> tuple[set[Any], set[Any]]:
    """Source positions of the instructions of ``code`` inside the watched span: all of them, and those that ran."""
    start, end = (watch["row"], watch["column"]), (watch["end_row"], watch["end_column"])
    inside, ran = set(), set()
    for index, position in enumerate(code.co_positions()):
        row, end_row, column, end_column = position
        if None in position or row != row:
            continue
        if (row, column) >= start and (end_row, end_column) <= end:
            inside.add(position)
            if 2 * index in offsets:
                ran.add(position)
    return inside, ran


def is_jax_error(kind: type) -> bool:
    """Whether an exception class is one of JAX's own."""
    return any((c.__module__ or "").startswith(("jax", "jaxlib")) for c in kind.__mro__)


def files_of(tb: Any) -> list[str]:
    """The files of the frames of a traceback, innermost first."""
    out = []
    while tb is not None:
        out.append(tb.tb_frame.f_code.co_filename)
        tb = tb.tb_next
    out.reverse()
    return out


def raised_by_jax(error: BaseException, sources: Sources, files: list[str]) -> bool:
    """Whether code of JAX raised an error of Python's. What other packages miss in the installed JAX is not of the
    program's doing."""
    library = os.sep + "jax" + os.sep
    if not files or library not in files[0]:
        return False
    caller = next((file for file in files if library not in file), "")
    return not isinstance(error, (AttributeError, ImportError)) or bool(sources.of(caller))


def find_jaxpr(result: Any) -> Any:
    """The jaxpr in what a tracing function of JAX returned (a jaxpr, or a tuple that begins with one), or None."""
    candidates = result if isinstance(result, (tuple, list)) else (result,)
    for candidate in candidates:
        inner = getattr(candidate, "jaxpr", candidate)
        if hasattr(inner, "eqns"):
            return inner
    return None


def count_equations(jaxpr: Any) -> int:
    """Equations of a jaxpr, those of inner jaxprs included."""
    total = 0
    for eqn in jaxpr.eqns:
        total += 1
        for value in eqn.params.values():
            for item in value if isinstance(value, (tuple, list)) else (value,):
                inner = find_jaxpr(item)
                if inner is not None:
                    total += count_equations(inner)
    return total


def constant_bytes(result: Any) -> int:
    """Bytes of the arrays that a trace captured as constants."""
    total = 0
    parts = result if isinstance(result, (tuple, list)) else (result,)
    for part in parts:
        consts = getattr(part, "consts", part if isinstance(part, (tuple, list)) else ())
        for const in consts if isinstance(consts, (tuple, list)) else ():
            size = getattr(const, "nbytes", 0)
            total += size if isinstance(size, int) else 0
    return total


def abstract(jax: Any, tracer: Any) -> Any:
    """The ShapeDtypeStruct of a tracer."""
    aval = tracer.aval
    weak = bool(getattr(aval, "weak_type", False))
    try:
        return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=weak)
    except TypeError:
        return jax.ShapeDtypeStruct(aval.shape, aval.dtype)


def code_of(function: Any) -> Any:
    """The code of the user's function inside partials, bound methods, decorators and transforms; None if unknown."""
    for _ in range(10):
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__func__"):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return getattr(function, "__code__", None)


def function_of(code: Any) -> Any:
    """A living function that runs ``code``, the newest if there are several, or None."""
    found = [f for f in gc.get_referrers(code) if isinstance(f, types.FunctionType) and f.__code__ is code]
    return found[-1] if found else None


def retrace(jax: Any, function: Any, leaves: list[Any], tree: Any) -> str:
    """The text of the program JAX records for ``function`` now, with the values of its constants."""
    dynamic = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.ShapeDtypeStruct)]

    def fresh(*values: Any) -> Any:
        filled = list(leaves)
        for index, value in zip(dynamic, values):
            filled[index] = value
        args, kwargs = jax.tree_util.tree_unflatten(tree, filled)
        return function(*args, **kwargs)

    closed = jax.make_jaxpr(fresh)(*[leaves[i] for i in dynamic])
    return program_text(closed)


def program_text(closed: Any) -> str:
    """A jaxpr as text without addresses, followed by a digest of each constant."""
    import numpy

    text = [re.sub(r"0x[0-9a-f]+", "0x", str(closed))]
    for const in closed.consts:
        try:
            text.append(hashlib.sha1(numpy.asarray(const).tobytes()).hexdigest())
        except Exception:
            text.append(type(const).__name__)
    return "\n".join(text)


class CompileLog(logging.Handler):
    """Counts what JAX compiles, by the name of the function, from the arguments of its log records."""

    def __init__(self, channel: Channel, recorder: Recorder) -> None:
        super().__init__(logging.DEBUG)
        self._channel = channel
        self._recorder = recorder

    def emit(self, record: logging.LogRecord) -> None:
        """Report a compilation."""
        if str(record.msg).startswith("Compiling") and isinstance(record.args, tuple) and record.args:
            name = re.sub(r"^\w+\((.*)\)$", r"\1", str(record.args[0]))
            self._channel.send("compile", name=name, job=self._recorder.job)


def listen_to_compiles(channel: Channel, recorder: Recorder) -> None:
    """Attach a :class:`CompileLog` to the loggers that the versions of JAX use."""
    handler = CompileLog(channel, recorder)
    for name in ("jax._src.interpreters.pxla", "jax._src.pjit"):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False


# --------------------------------------------------------------------------------------------------- the module


def future_flags(tree: ast.Module) -> int:
    """Compiler flags of the ``from __future__`` imports of a module."""
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def names_bound(node: ast.stmt) -> set[str]:
    """Names that a top-level statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    out = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            out.add(child.id)
        elif isinstance(child, ast.alias):
            out.add(child.asname or child.name.split(".")[0])
    return out


class Overlay:
    """Finds modules as ever, but reads some files from memory: fixes are tried before they are written."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec of a module whose file is in the overlay, else None."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin in self._texts:
            spec.loader = OverlayLoader(name, spec.origin, self._texts[spec.origin])
            return spec
        return None


class OverlayLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from a text in place of its file."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_data(self, path: Any) -> bytes:
        """The text, as UTF-8."""
        return self._text.encode()

    def path_stats(self, path: Any) -> Any:
        """No time stamp, so that no cached bytecode is taken for this text."""
        raise OSError("text in memory")


class Importer:
    """Runs the top-level statements of one module in order; what fails is reported and the rest still runs."""

    def __init__(
        self, request: dict[str, Any], channel: Channel, recorder: Recorder, sources: Sources, clock: Clock
    ) -> None:
        self._module = request["module"]
        self._seconds = request["import_seconds"]
        self._channel = channel
        self._recorder = recorder
        self._sources = sources
        self._clock = clock

    def run(self) -> types.ModuleType:
        """The module object; the import ends early when its time is over."""
        name, path = self._module["name"], self._module["path"]
        package = name.rpartition(".")[0]
        if package:
            self._guarded(lambda: importlib.import_module(package), row=0, names=set())
        if name in sys.modules:
            if getattr(sys.modules[name], "__file__", None) == path:
                return sys.modules[name]
            # A script may bear the name of a module that the worker or jax has imported: theirs stays.
            name = "_jitlint_" + name
        module = self._empty(name, path)
        sys.modules[name] = module
        source = self._module["source"]
        try:
            tree = ast.parse(source, path)
        except (SyntaxError, ValueError) as error:
            self._channel.send(
                "problem", row=getattr(error, "lineno", 0) or 0, error=describe_error(error, self._sources)
            )
            return module
        self._statements(tree, module, path)
        if package and package in sys.modules:
            setattr(sys.modules[package], name.rpartition(".")[2], module)
        return module

    def _empty(self, name: str, path: str) -> types.ModuleType:
        locations = [os.path.dirname(path)] if os.path.basename(path) == "__init__.py" else None
        spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=locations)
        if spec is not None:
            return importlib.util.module_from_spec(spec)
        module = types.ModuleType(name)
        module.__file__ = path
        return module

    def _statements(self, tree: ast.Module, module: types.ModuleType, path: str) -> None:
        namespace = module.__dict__
        namespace["__builtins__"] = builtins
        namespace["__doc__"] = ast.get_docstring(tree, clean=False)
        flags = future_flags(tree)
        until = time.monotonic() + self._seconds
        late = False
        for node in tree.body:
            if late and not is_definition(node):
                continue
            code = compile(ast.Module([node], []), path, "exec", flags, dont_inherit=True)
            left = max(until - time.monotonic(), 1.0)
            outcome = self._guarded(
                functools.partial(exec, code, namespace),
                row=node.lineno,
                names=names_bound(node),
                namespace=namespace,
                seconds=left,
                watched=not imports_packages(node, self._sources),
            )
            late = late or outcome == "late"

    def _guarded(
        self,
        action: Callable[[], object],
        row: int,
        names: set[str],
        namespace: dict[str, Any] | None = None,
        seconds: float | None = None,
        watched: bool = True,
    ) -> str:
        """Run one statement; report how it failed, and unbind what it should have bound so that no later statement
        works on an old value."""
        error = None
        if watched:
            self._recorder.start()
        try:
            self._clock.start(seconds or self._seconds)
            action()
        except Deadline:
            self._stop()
            self._channel.send("late", row=row)
            return "late"
        except BaseException as caught:
            error = caught
        self._stop()
        if error is not None:
            self._channel.send("problem", row=row, error=describe_error(error, self._sources))
            for name in names:
                (namespace or {}).pop(name, None)
            return "error"
        return "ok"

    def _stop(self) -> None:
        self._clock.stop()
        self._recorder.stop()


def imports_packages(node: ast.stmt, sources: Sources) -> bool:
    """Whether a statement imports nothing but what is not the user's, which takes less time if nobody watches."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [node.module or ""]
    else:
        return False
    for name in names:
        try:
            spec = importlib.util.find_spec(name.partition(".")[0])
        except Exception:
            return False
        if spec is None or not spec.origin or sources.of(spec.origin):
            return False
    return True


def is_definition(node: ast.stmt) -> bool:
    """Whether a statement is run even when the time for the import is over: imports, functions, classes, bindings."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    return isinstance(node, kinds)


# ------------------------------------------------------------------------------------------------------- the jobs


class Unplannable(Exception):
    """An argument of a job cannot be built, and why."""


class Builder:
    """Makes arguments from their JSON encoding (``plan.py`` writes it)."""

    def __init__(self, jax: Any, module: types.ModuleType) -> None:
        self._jax = jax
        self._module = module
        self._receiver: Any = None
        self._producing: list[str] = []
        self._open: dict[str, Any] = {}
        self.produced = False
        """Methods of the program were traced to learn what they give."""
        self.guessed = False
        """An array of some rank and dtype stands in for one of which nothing is known."""

    def prepare(self, job: dict[str, Any]) -> Any:
        """The function of a job: by name, or as a node says that it is made."""
        rank, dtype = job.get("guess", (2, "float32"))
        self._open = {"aval": [dtype, [4] * rank, False]}
        function = job["function"]
        return self.resolve(function) if isinstance(function, str) else self.build(function)

    def asked(self, job: dict[str, Any], function: Any) -> list[Any]:
        """The positional arguments of a job whose parameters only the function itself can tell; none of other jobs."""
        if not job.get("ask"):
            return []
        plain = inspect.unwrap(getattr(function, "__func__", function))
        self._receiver = getattr(function, "__self__", self._receiver)
        hints, given, out = hints_of(plain), job.get("args", ()), []
        for index, name in enumerate(required_parameters(function)):
            if name in job.get("kwargs", {}):
                break
            if index < len(given) and "unknown" not in given[index]:
                out.append(self.argument(given[index]))
                continue
            produced = self._produced(name, written_annotation(plain, name), self._open)
            if produced is None and KEY_NAME.fullmatch(name):
                produced = [self._key({"key": "typed"})]
            out.append(produced[0] if produced else self._of_type(hints.get(name, typing.Any), self._open, name, 0))
        return out

    def argument(self, node: dict[str, Any]) -> Any:
        """What ``node`` stands for, with abstract values for the arrays in it; the object of a method stays as it is,
        since it may be static."""
        value = self.build(node)
        if "made" in node:
            return value
        leaves, tree = self._jax.tree_util.tree_flatten(value)
        if not any(isinstance(leaf, self._jax.Array) for leaf in leaves):
            return value
        return tree.unflatten([self._without_data(leaf) for leaf in leaves])

    def _without_data(self, leaf: Any) -> Any:
        return abstract(self._jax, leaf) if isinstance(leaf, self._jax.Array) else leaf

    def build(self, node: dict[str, Any]) -> Any:
        """The value that ``node`` stands for; arrays are abstract. Raises :class:`Unplannable`."""
        (kind,) = [k for k in node if k in BUILDERS] or [""]
        if not kind:
            raise Unplannable(f"an argument of unknown kind: {shorten(node, 80)}")
        return BUILDERS[kind](self, node)

    def _aval(self, node: dict[str, Any]) -> Any:
        dtype, shape, weak = node["aval"]
        numpy = self._jax.numpy
        try:
            kind = numpy.dtype(dtype)
        except TypeError as error:
            raise Unplannable(f"no dtype {dtype!r}") from error
        try:
            return self._jax.ShapeDtypeStruct(tuple(shape), kind, weak_type=bool(weak))
        except TypeError:
            return self._jax.ShapeDtypeStruct(tuple(shape), kind)

    def _key(self, node: dict[str, Any]) -> Any:
        make = self._jax.random.key if node["key"] == "typed" else self._jax.random.PRNGKey
        return self._jax.eval_shape(make, 0)

    def _value(self, node: dict[str, Any]) -> Any:
        return node["value"]

    def _list(self, node: dict[str, Any]) -> Any:
        return [self.build(x) for x in node["list"]]

    def _tuple(self, node: dict[str, Any]) -> Any:
        return tuple(self.build(x) for x in node["tuple"])

    def _dict(self, node: dict[str, Any]) -> Any:
        return {self.build(k): self.build(v) for k, v in node["dict"]}

    def _ref(self, node: dict[str, Any]) -> Any:
        return self.resolve(node["ref"])

    def _call(self, node: dict[str, Any]) -> Any:
        function = self.build(node["call"])
        args = [self.build(x) for x in node.get("args", ())]
        kwargs = {k: self.build(v) for k, v in node.get("kwargs", {}).items()}
        return self.abstractly(function, args, kwargs)

    def _attr(self, node: dict[str, Any]) -> Any:
        value = self.build(node["attr"])
        try:
            return getattr(value, node["name"])
        except AttributeError as error:
            raise Unplannable(str(error)) from error

    def _item(self, node: dict[str, Any]) -> Any:
        try:
            return self.build(node["item"])[node["index"]]
        except (LookupError, TypeError) as error:
            raise Unplannable(f"{type(error).__name__}: {error}") from error

    def _hint(self, node: dict[str, Any]) -> Any:
        """What an annotation describes that only the interpreter can resolve: a class of the program, an alias."""
        reached, parameter = node["hint"]
        open_array = self._open
        function = inspect.unwrap(self.resolve(reached) if isinstance(reached, str) else self.build(reached))
        produced = self._produced(parameter, written_annotation(function, parameter), open_array)
        if produced is not None:
            return produced[0]
        if node.get("otherwise"):
            self.guessed = True
            return self.build(node["otherwise"])
        hints = hints_of(function)
        return self._of_type(hints.get(parameter, typing.Any), open_array, parameter, 0)

    def _of_type(self, hint: Any, open_array: dict[str, Any], what: str, depth: int) -> Any:
        """An argument of an annotated type: arrays, numbers, containers, and classes made of annotated fields."""

        def inner(each: Any) -> Any:
            return self._of_type(each, open_array, what, depth + 1)

        arguments, origin = typing.get_args(hint), typing.get_origin(hint)
        if hint in NUMBERS:
            return NUMBERS[hint]
        if hint is type(None):
            return None
        if isinstance(hint, type) and hasattr(hint, "dim_str") and hasattr(hint, "dtypes"):
            return self._jaxtyped(hint)
        array = getattr(sys.modules.get("numpy"), "ndarray", None)
        if hint in (self._jax.Array, array, typing.Any) or isinstance(hint, typing.TypeVar):
            self.guessed = True
            return self._aval(open_array)
        if depth < 5 and origin in (tuple, list, dict):
            if origin is dict:
                return {"a": inner(arguments[1])}
            items = [inner(each) for each in arguments if each is not Ellipsis]
            return items if origin is list else tuple(items)
        if depth < 5 and arguments and origin is not None:
            wanted = (self._jax.Array, *arguments)
            return inner(next(each for each in wanted if each in arguments and each is not type(None)))
        if depth < 5 and isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
            types_of = hints_of(hint)
            return hint(**{name: inner(types_of.get(name, typing.Any)) for name in required_fields(hint)})
        raise Unplannable(f"nothing says what its parameter `{what}` is")

    def _jaxtyped(self, hint: Any) -> Any:
        """An array of a jaxtyping annotation; every named dimension has the same size."""
        sizes = [part for part in hint.dim_str.split() if part != "..." and not part.startswith("*")]
        shape = [int(part) if part.isdecimal() else 4 for part in sizes]
        names = [name for name in ("float32", "int32", "bool", "uint32", "complex64") if name in hint.dtypes]
        return self._aval({"aval": [names[0] if names else "float32", shape, False]})

    # -- objects whose methods are traced, and what their methods give

    def _made(self, node: dict[str, Any]) -> Any:
        """An object of a class of the program: as a call of the program makes it, else with arguments by annotation."""
        spelled = json.dumps([node, self._open], sort_keys=True)
        if spelled not in MADE:
            MADE[spelled] = self._make(node)
        self._receiver = MADE[spelled]
        return self._receiver

    def _make(self, node: dict[str, Any]) -> Any:
        owner = self.resolve(node["made"])
        why: list[str] = []
        for call in node["calls"]:
            with excuses(why):
                made = self.build(call)
                if isinstance(made, owner):
                    return made
        kinds = [owner]
        for name in node["subclasses"]:
            with excuses([]):
                kinds.append(self.resolve(name))
        for kind in sorted(kinds, key=is_abstract):
            with excuses(why):
                return self._filled(kind)
        # The first attempt is the likeliest: as the program does, else of the class itself.
        raise Unplannable(why[0])

    def _filled(self, kind: Any) -> Any:
        """What a call of a class or function gives, each argument that it cannot do without by its annotation."""
        of_fields = dataclasses.is_dataclass(kind) or not isinstance(kind, type)
        hints = hints_of(kind) if of_fields else hints_of(kind.__init__)
        given = {}
        for name, parameter in inspect.signature(kind).parameters.items():
            if parameter.default is not parameter.empty or parameter.kind in (
                parameter.VAR_POSITIONAL,
                parameter.VAR_KEYWORD,
            ):
                continue
            if name not in hints:
                raise Unplannable(f"nothing says what the parameter `{name}` of {kind.__name__} is")
            # A size is that of the arrays which stand for what is not known.
            hint = hints[name]
            given[name] = 4 if hint is int else self._concrete(self._of_type(hint, self._open, name, 0))
        return kind(**given)

    def _fill(self, node: dict[str, Any]) -> Any:
        return self._filled(self.build(node["filled"]))

    def _concrete(self, value: Any) -> Any:
        struct, zeros = self._jax.ShapeDtypeStruct, self._jax.numpy.zeros

        def filled(leaf: Any) -> Any:
            return zeros(leaf.shape, leaf.dtype) if isinstance(leaf, struct) else leaf

        return self._jax.tree_util.tree_map(filled, value)

    def _produced(self, parameter: str, annotation: str, open_array: dict[str, Any]) -> Any:
        """What the object whose method is traced gives for a parameter, in a list; None if nothing.

        It may have an attribute ``default_params`` for ``params``; for ``state``, ``init`` may return ``state``, or
        something of the class that the parameter is said to have.
        """
        receiver = self._receiver
        if receiver is None or parameter in self._producing or len(self._producing) > 3:
            return None
        self._producing.append(parameter)
        try:
            for name in (f"default_{parameter}", parameter):
                with excuses([]):
                    value = getattr(receiver, name)
                    if value is not None and not callable(value):
                        return [value]
            for method, index in methods_giving(type(receiver), parameter, annotation):
                with excuses([]):
                    given = self._given_by(receiver, method, open_array)
                    return [given if index is None else given[index]]
        finally:
            self._producing.pop()
        return None

    def _given_by(self, receiver: Any, name: str, open_array: dict[str, Any]) -> Any:
        """What a method returns, by shapes only; its arguments are found in the same way."""
        method = getattr(receiver, name)
        function = inspect.unwrap(getattr(type(receiver), name))
        hints = hints_of(function)
        args = []
        for parameter in required_parameters(method):
            if KEY_NAME.fullmatch(parameter):
                args.append(self._key({"key": "typed"}))
                continue
            produced = self._produced(parameter, written_annotation(function, parameter), open_array)
            hint = hints.get(parameter, typing.Any)
            args.append(produced[0] if produced is not None else self._of_type(hint, open_array, parameter, 0))
        self.produced = True
        return self._jax.eval_shape(method, *args)

    def abstractly(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """``function(*args, **kwargs)``, by shapes only where an argument is abstract or the result holds arrays."""
        tree_util = self._jax.tree_util
        leaves, tree = tree_util.tree_flatten((args, kwargs))
        dynamic = [i for i, x in enumerate(leaves) if isinstance(x, self._jax.ShapeDtypeStruct)]
        if not dynamic:
            return function(*args, **kwargs)

        def inner(*values: Any) -> Any:
            filled = list(leaves)
            for index, value in zip(dynamic, values):
                filled[index] = value
            again, more = tree_util.tree_unflatten(tree, filled)
            return function(*again, **more)

        return self._jax.eval_shape(inner, *[leaves[i] for i in dynamic])

    def resolve(self, dotted: str) -> Any:
        """The object of that dotted name: in the module under test, else importable. Raises :class:`Unplannable`."""
        parts = dotted.split(".")
        if any(p == "<locals>" for p in parts):
            raise Unplannable("it is defined inside a function")
        if hasattr(self._module, parts[0]):
            return follow(self._module, parts, dotted)
        for cut in range(len(parts), 0, -1):
            name = ".".join(parts[:cut])
            try:
                found = importlib.import_module(name)
            except ImportError:
                continue
            return follow(found, parts[cut:], dotted)
        raise Unplannable(f"there is no {dotted} once the module is imported")


NUMBERS = {bool: True, int: 2, float: 0.5, complex: 0.5}
KEY_NAME = re.compile(r"(.*_)?(key|subkey|rng|prng)(_(input|init|eval|net|noise|sample|reset|step|\d*))?")
MADE: dict[str, Any] = {}
"""Objects that were made, by how: JAX tells static arguments apart by their identity."""


@contextlib.contextmanager
def excuses(why: list[str]) -> Any:
    """Go on after any exception but the end of the time, and note it."""
    try:
        yield
    except Exception as error:
        built = f"building its arguments raised {type(error).__name__}: {_first_lines(error)}"
        why.append(str(error) if isinstance(error, Unplannable) else built)


def hints_of(thing: Any) -> dict[str, Any]:
    """The annotations of a function or class, as far as they can be resolved."""
    try:
        return typing.get_type_hints(thing)
    except Exception:
        return dict(getattr(thing, "__annotations__", {}))


def required_parameters(function: Any) -> list[str]:
    """Names of the positional parameters that a call must give."""
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]


def is_abstract(kind: Any) -> bool:
    """Whether a class leaves methods to those derived from it, declared so or by raising NotImplementedError."""
    if inspect.isabstract(kind):
        return True
    for name in dir(kind):
        code = getattr(inspect.getattr_static(kind, name, None), "__code__", None)
        if code is not None and code.co_names == ("NotImplementedError",):
            return True
    return False


def methods_giving(kind: type, name: str, annotation: str) -> list[tuple[str, int | None]]:
    """The methods of a class that return a variable of that name, or something of that annotation, alone or at an
    index, those that ask least first."""
    found = []
    for attribute in dir(kind):
        if attribute.startswith("__"):
            continue
        function = inspect.unwrap(inspect.getattr_static(kind, attribute, None))
        if not isinstance(function, types.FunctionType):
            continue
        place = place_returned(function, name, annotation)
        required = required_parameters(function)
        if place is not None and name not in required:
            found.append((len(required), attribute, place[0]))
    return [(attribute, index) for _, attribute, index in sorted(found, key=lambda each: each[:2])]


@functools.lru_cache(maxsize=None)
def source_tree(function: Any) -> Any:
    """The definition of a function as it is written, None where that is not known."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None


def written_annotation(function: Any, parameter: str) -> str:
    """The annotation of a parameter as it is written; "" without one, or for one that says little."""
    arguments = getattr(source_tree(function), "args", None)
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arguments is not None else []
    found = next((a.annotation for a in every if a.arg == parameter and a.annotation is not None), None)
    text = "" if found is None else ast.unparse(found)
    return "" if VAGUE.fullmatch(text) else text


VAGUE = re.compile(r"(\w+\.)*(Any|object|Array|ndarray|ArrayLike|PyTree|int|float|bool|str|Numeric|Scalar|PRNGKey)")
"""Annotations that two values can share though one is of no use where the other is."""


@functools.lru_cache(maxsize=None)
def returned_names(function: Any) -> tuple[Any, ...]:
    """For each ``return`` of a function, the name that it returns, or the tuple of those; None for other values."""
    tree = source_tree(function)

    def named(value: Any) -> Any:
        return value.id if isinstance(value, ast.Name) else None

    out: list[Any] = []
    todo: list[Any] = list(getattr(tree, "body", ()))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            value = node.value
            out.append(tuple(map(named, value.elts)) if isinstance(value, ast.Tuple) else named(value))
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))
    return tuple(out)


def place_returned(function: Any, name: str, annotation: str) -> tuple[int | None] | None:
    """Where a function returns the variable of that name, or something of that annotation: alone (None) or at an index;
    None if it does not."""
    for names in returned_names(function):
        if names == name:
            return (None,)
        if isinstance(names, tuple) and name in names:
            return (names.index(name),)
    returns = getattr(source_tree(function), "returns", None)
    if returns is None or not annotation:
        return None
    if ast.unparse(returns) == annotation:
        return (None,)
    inner = returns.slice if isinstance(returns, ast.Subscript) else None
    parts = [ast.unparse(part) for part in inner.elts] if isinstance(inner, ast.Tuple) else []
    return (parts.index(annotation),) if annotation in parts else None


BUILDERS = {
    "hint": Builder._hint,
    "made": Builder._made,
    "filled": Builder._fill,
    "aval": Builder._aval,
    "key": Builder._key,
    "value": Builder._value,
    "list": Builder._list,
    "tuple": Builder._tuple,
    "dict": Builder._dict,
    "ref": Builder._ref,
    "call": Builder._call,
    "attr": Builder._attr,
    "item": Builder._item,
}


def required_fields(kind: Any) -> list[str]:
    """Names of the fields that an instance of a dataclass or named tuple cannot be made without."""
    if dataclasses.is_dataclass(kind):
        absent = dataclasses.MISSING
        return [
            field.name
            for field in dataclasses.fields(kind)
            if field.init and field.default is absent and field.default_factory is absent
        ]
    return [name for name in kind._fields if name not in kind._field_defaults]


def follow(value: Any, names: list[str], dotted: str) -> Any:
    """Attribute by attribute from ``value``; raises :class:`Unplannable`."""
    for name in names:
        try:
            value = getattr(value, name)
        except AttributeError as error:
            raise Unplannable(f"there is no {dotted} once the module is imported") from error
    return value


class Tracer:
    """Runs jobs: builds the arguments of each, lets JAX trace the function, reports how it ended."""

    def __init__(
        self,
        request: dict[str, Any],
        channel: Channel,
        recorder: Recorder,
        sources: Sources,
        clock: Clock,
        seal: Seal,
        jax: Any,
        module: types.ModuleType,
    ) -> None:
        self._seal = seal
        self._seconds = request["job_seconds"]
        self._channel = channel
        self._recorder = recorder
        self._sources = sources
        self._clock = clock
        self._jax = jax
        self._builder = Builder(jax, module)

    def run(self, job: dict[str, Any]) -> bool:
        """Run one job and send its outcome; True if a job that guesses otherwise could not come to anything else, or must not be tried."""
        started = time.perf_counter()
        self._recorder.job = job["id"]
        outcome: dict[str, Any]
        try:
            outcome = self._run(job)
        except Unplannable as error:
            outcome = {"outcome": "unplanned", "reason": shorten(error)}
        except Deadline:
            outcome = {"outcome": "late", "reason": f"tracing took longer than {self._seconds:g} s"}
        finally:
            self._clock.stop()
            self._recorder.stop()
            self._recorder.job = None
        self._channel.send("job", id=job["id"], seconds=round(time.perf_counter() - started, 4), **outcome)
        # What took too long with one guess would take the time of all other functions with the next ones.
        return outcome["outcome"] == "late" or (outcome["outcome"] in ("ok", "raised") and not self._builder.guessed)

    def _run(self, job: dict[str, Any]) -> dict[str, Any]:
        self._clock.start(self._seconds)
        try:
            with self._seal:
                function = self._builder.prepare(job)
                args = self._builder.asked(job, function) or [self._builder.argument(x) for x in job.get("args", ())]
                kwargs = {k: self._builder.argument(v) for k, v in job.get("kwargs", {}).items()}
        except Unplannable:
            raise
        except Deadline:
            raise
        except BaseException as error:
            raise Unplannable(f"building its arguments raised {type(error).__name__}: {_first_lines(error)}") from error
        if self._builder.produced:
            # Else JAX remembers what it traced for that, and nothing of the function runs.
            self._jax.clear_caches()
        if job.get("leaks"):
            return self._check_leaks(job, function, args, kwargs)
        return self._trace(job, function, args, kwargs)

    def _trace(self, job: dict[str, Any], function: Any, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        error = None
        self._recorder.start()
        try:
            closed = self._jaxpr(job, function, args, kwargs)
        except Deadline:
            raise
        except BaseException as caught:
            error = caught
        self._recorder.stop()
        if error is not None:
            return {"outcome": "raised", "error": describe_error(error, self._sources)}
        return {
            "outcome": "ok",
            "equations": count_equations(closed.jaxpr),
            "leaks": leaked_names(self._jax, self._sources),
        }

    def _jaxpr(self, job: dict[str, Any], function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Trace as the program would: a jitted object by its own ``trace``, else jitted here with the options given."""
        if not hasattr(function, "trace"):
            if job.get("jit") is None:
                return self._through(function, args, kwargs)
            function = self._builder.resolve(job["jitter"])(function, **job["jit"])
        if not hasattr(function, "trace"):
            return self._through(function, args, kwargs)
        traced = function.trace(*args, **kwargs)
        return traced.jaxpr

    def _through(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Trace a callable that hides its jit (``eqx.filter_jit``, ``nnx.jit``, a user's wrapper) from outside."""
        tree_util, struct = self._jax.tree_util, self._jax.ShapeDtypeStruct
        leaves, tree = tree_util.tree_flatten((args, kwargs))
        dynamic = [i for i, x in enumerate(leaves) if isinstance(x, struct)]

        def outer(*values: Any) -> Any:
            filled = list(leaves)
            for index, value in zip(dynamic, values):
                filled[index] = value
            again, more = tree_util.tree_unflatten(tree, filled)
            out = function(*again, **more)
            return [x for x in tree_util.tree_leaves(out) if isinstance(x, (self._jax.Array, self._jax.core.Tracer))]

        return self._jax.make_jaxpr(outer)(*[leaves[i] for i in dynamic])

    def _check_leaks(
        self, job: dict[str, Any], function: Any, args: list[Any], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        with self._jax.checking_leaks():
            result = self._trace(job, function, args, kwargs)
        error = result.get("error")
        if error is not None and "Leaked" in error["message"]:
            return {"outcome": "leak", "error": error}
        return result


def leaked_names(jax: Any, sources: Sources) -> list[list[str]]:
    """Places in the user's modules that hold a tracer although nothing is being traced."""
    out = []
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not sources.of(path):
            continue
        for attribute, value in list(vars(module).items()):
            for where in tracers_in(jax, value, f"{name}.{attribute}", 3):
                out.append([sources.of(path), where])
    return out[:20]


def tracers_in(jax: Any, value: Any, where: str, depth: int) -> list[str]:
    """Dotted places of tracers inside a value, at most ``depth`` steps down."""
    if isinstance(value, jax.core.Tracer):
        return [where]
    if depth == 0 or isinstance(value, (str, bytes, int, float, types.ModuleType, type)):
        return []
    if isinstance(value, dict):
        items = [(f"{where}[{safe_repr(k, 20)}]", v) for k, v in list(value.items())[:100]]
    elif isinstance(value, (list, tuple, set)):
        items = [(f"{where}[{i}]", v) for i, v in enumerate(list(value)[:100])]
    elif hasattr(value, "__dict__") and not callable(value):
        items = [(f"{where}.{k}", v) for k, v in list(vars(value).items())[:100]]
    else:
        return []
    return [found for name, item in items for found in tracers_in(jax, item, name, depth - 1)]


# ------------------------------------------------------------------------------------------------------- the whole


def find_jax(channel: Channel) -> Any:
    """jax, or None with the reason sent."""
    try:
        jax = importlib.import_module("jax")
        importlib.import_module("jax.numpy")
        return jax
    except ImportError as error:
        channel.send("nojax", reason=shorten(error))
    except Exception as error:
        channel.send("nojax", reason=f"importing jax raised {type(error).__name__}: {shorten(error)}")
    return None


def main() -> None:
    """Serve one request."""
    raw = sys.stdin.buffer.read()
    channel = Channel()
    try:
        serve(json.loads(raw), channel)
    except BaseException:
        channel.send("crash", text=shorten(traceback.format_exc(), 2000))
    finally:
        # Neither the user's atexit functions nor threads that do not end keep the worker alive.
        os._exit(0)


def serve(request: dict[str, Any], channel: Channel) -> None:
    """Import the module of the request and run its jobs."""
    channel.send("hello", protocol=PROTOCOL, python=sys.version.split()[0], executable=sys.executable)
    del sys.path[0]
    end_with_parent()
    sys.argv = [request["module"]["path"]]
    sources = Sources(request["user_roots"])
    clock = Clock()
    seal = guard(request)
    jax = find_jax(channel)
    if jax is None:
        return
    channel.send("jax", version=jax.__version__)
    # Only now, so that no file of the user's stands in for one that jax imports.
    sys.path[:0] = request["sys_path"]
    importlib.invalidate_caches()
    if request.get("overlay"):
        sys.meta_path.insert(0, Overlay(request["overlay"]))
    recorder = Recorder(channel, sources, request)
    recorder.jax = jax
    listen_to_compiles(channel, recorder)
    # The recorder reads what JAX raised from tracebacks, so none of its frames may be hidden.
    jax.config.update("jax_traceback_filtering", "off")
    started = time.perf_counter()
    module = Importer(request, channel, recorder, sources, clock).run()
    channel.send("imported", seconds=round(time.perf_counter() - started, 3))
    channel.send("leaks", names=leaked_names(jax, sources))
    # What the import has traced with the program's own arguments is not tried again with guessed ones, and a call that
    # it has made is not repeated.
    known = {row for path, row in recorder.traced if path == request["module"]["path"]}
    # Before anything of the program is called for what it makes, so that only the program changes what it reads.
    clock.start(request["job_seconds"])
    with contextlib.suppress(Deadline):
        recorder.report_stale()
    clock.stop()
    settled: set[str] = set()
    for job in request.get("jobs", ()):
        ran = recorder.hits.get(tuple(job.get("unless_ran", ())), 0)
        probed, probe, _ = job["id"].partition(":probe:")
        if job.get("unless_traced") in known or ran or (probe and probed in settled):
            continue
        tracer = Tracer(request, channel, recorder, sources, clock, seal, jax, module)
        if tracer.run(job) and probe:
            settled.add(probed)
    hits = [[path, row, count] for (path, row), count in recorder.hits.items()]
    channel.send("done", hits=hits)


if __name__ == "__main__":
    main()
