"""Runs one program under JAX, one top-level statement at a time, and says what happened.

Nothing of the program is changed: functions are counted with ``sys.settrace``, and ``jax.jit`` is replaced by a
function that notes what it is given and passes it on, so that what JAX caches stays as it is.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import collections
import contextlib
import functools
import io
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict


class Raised(TypedDict):
    """An exception that a top-level statement ended with."""

    kind: str
    message: str
    file: str | None
    row: int


class Statement(TypedDict):
    """What one top-level statement of the main file did."""

    row: int
    end_row: int
    output: str
    raised: Raised | None


class Outcome(TypedDict):
    """What a program did. Places are ``"file:row"``, files relative to the folder of the main file."""

    statements: list[Statement]
    traces: dict[str, int]
    jitted: list[str]
    revealed: dict[str, list[Any]]


def execute(main: Path, mode: str = "jit") -> Outcome:
    """Run ``main`` as a script in this process, in a mode: ``jit``, ``nojit`` (under ``jax.disable_jit``) or ``leaks``.

    Raises nothing of the program's own; a syntax error in it is raised.
    """
    import jax

    text = main.read_text(encoding="utf-8")
    folder = main.parent
    own = functools.partial(_own_file, {}, folder, main)
    counts: collections.Counter[str] = collections.Counter()
    jitted: set[str] = set()
    revealed: dict[str, list[Any]] = {}
    builtins.reveal = functools.partial(_reveal, revealed, own)  # type: ignore[attr-defined]
    statements = []
    with contextlib.ExitStack() as stack:
        module = stack.enter_context(_script(main))
        if mode == "nojit":
            stack.enter_context(jax.disable_jit())
        elif mode == "leaks":
            stack.enter_context(jax.checking_leaks())
        stack.enter_context(_noting_jit(jitted, own))
        flags = 0
        for node in ast.parse(text, str(main)).body:
            flags |= _future_flags(node)
            code = compile(ast.Module([node], []), str(main), "exec", flags=flags, dont_inherit=True)
            statements.append(_run(node, code, module.__dict__, counts, own))
    return Outcome(statements=statements, traces=dict(counts), jitted=sorted(jitted), revealed=revealed)


@contextlib.contextmanager
def _script(main: Path) -> Iterator[types.ModuleType]:
    """A fresh ``__main__`` with path, working folder and arguments as for a script; all put back at the end."""
    module = types.ModuleType("__main__")
    module.__file__ = str(main)
    modules, path, argv, environ = dict(sys.modules), list(sys.path), sys.argv, dict(os.environ)
    sys.modules["__main__"] = module
    sys.path.insert(0, str(main.parent))
    sys.argv = [str(main)]
    sys.dont_write_bytecode = True
    try:
        with contextlib.chdir(main.parent):
            yield module
    finally:
        sys.path[:], sys.argv = path, argv
        os.environ.clear()
        os.environ.update(environ)
        for name, loaded in list(sys.modules.items()):
            if name not in modules and main.parent in Path(getattr(loaded, "__file__", None) or "/").parents:
                del sys.modules[name]
        sys.modules["__main__"] = modules["__main__"]


def _run(
    node: ast.stmt, code: types.CodeType, names: dict[str, Any], counts: collections.Counter[str], own: _Own
) -> Statement:
    import jax

    output = io.StringIO()
    raised: Raised | None = None
    with contextlib.redirect_stdout(output), _counting(counts, own):
        try:
            exec(code, names)
            jax.effects_barrier()  # type: ignore[no-untyped-call]
        except BaseException as error:
            raised = _raised(error, own)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return Statement(row=first, end_row=node.end_lineno or first, output=output.getvalue(), raised=raised)


def _raised(error: BaseException, own: _Own) -> Raised:
    file, row = None, 0
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = own(frame.f_code.co_filename)
        if name is not None:
            file, row = name, line
    return Raised(kind=type(error).__name__, message=str(error)[:400], file=file, row=row)


_Own = Callable[[str], str | None]


def _own_file(known: dict[str, str | None], folder: Path, main: Path, filename: str) -> str | None:
    """The name of a file of the program, relative to its folder; None for other files."""
    if filename not in known:
        path = Path(filename).absolute()
        inside = path == main or (main.name == "main.py" and folder in path.parents)
        known[filename] = path.relative_to(folder).as_posix() if inside else None
    return known[filename]


def _future_flags(node: ast.stmt) -> int:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return sum(getattr(__future__, alias.name).compiler_flag for alias in node.names)
    return 0


@contextlib.contextmanager
def _counting(counts: collections.Counter[str], own: _Own) -> Iterator[None]:
    """Count, by place of definition, the calls of the program's functions that happen while JAX traces."""
    from jax._src.core import trace_state_clean

    def on_call(frame: types.FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        name = own(code.co_filename)
        if name is not None and code.co_name != "<module>" and not trace_state_clean():
            counts[f"{name}:{code.co_firstlineno}"] += 1

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def _noting_jit(jitted: set[str], own: _Own) -> Iterator[None]:
    """Note the program's functions that reach ``jax.jit``, through ``partial``, ``grad`` and the like too."""
    import jax

    real = jax.jit

    def jit(*args: Any, **kwargs: Any) -> Any:
        for fun in args[:1]:
            while True:
                fun = getattr(fun, "func", None) or getattr(fun, "__wrapped__", None) or fun
                inner = getattr(fun, "__func__", fun)
                if not (hasattr(inner, "__wrapped__") or isinstance(inner, functools.partial)):
                    break
                fun = inner
            code = getattr(inner, "__code__", None)
            if code is not None and (name := own(code.co_filename)) is not None:
                jitted.add(f"{name}:{code.co_firstlineno}")
        return real(*args, **kwargs)

    jax.jit = jit
    try:
        yield
    finally:
        jax.jit = real


def _reveal(revealed: dict[str, list[Any]], own: _Own, value: Any) -> Any:
    """The ``reveal`` that engine fixtures call: notes what kind of value JAX has there, and hands it back."""
    frame = sys._getframe(1)
    name = own(frame.f_code.co_filename)
    revealed.setdefault(f"{name}:{frame.f_lineno}", []).append(kind_of(value))
    return value


def kind_of(value: Any) -> Any:
    """What a value is to JAX, as JSON: a word, or for containers a word with the kinds of what they hold."""
    import jax

    if isinstance(value, jax.core.Tracer):
        return ["traced"]
    if isinstance(value, jax.Array):
        return ["concrete"]
    if isinstance(value, (list, tuple)):
        fields = getattr(value, "_fields", None)
        word = type(value).__name__ if fields else type(value).__mro__[-2].__name__
        return [word, *(kind_of(item) for item in value)]
    if isinstance(value, dict):
        return ["dict", *([str(key), kind_of(item)] for key, item in value.items())]
    return ["static", repr(value), getattr(value, "__name__", ""), type(value).__name__]
