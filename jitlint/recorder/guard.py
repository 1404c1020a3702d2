"""``jitlint.no_retrace()``: from here on, compiling is an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jitlint.recorder.memory import watch
from jitlint.recorder.runtime.recorder import Guard, RetraceError, recorder

__all__ = ["RetraceError", "no_retrace"]


@contextmanager
def no_retrace(*, eager: bool = True) -> Iterator[None]:
    """While entered, whatever jax traces or compiles in this thread raises :class:`RetraceError` at that call.

    Warm up first, then enter it::

        state = step(state, first_batch)
        with jitlint.no_retrace():
            for batch in batches:
                state = step(state, batch)

    ``eager=False`` lets operations outside of jitted functions compile, such as the first ``jnp.zeros(3)``. Enter it in
    the thread that calls jax. The message has the reason where the function was jitted after jitlint began to watch:
    call :func:`jitlint.watch` before jax is imported, or run under ``jitlint trace`` or ``pytest --jit-budget``.

    Raises:
        RetraceError: at the call that has something traced or compiled.
    """
    watch()
    guard = Guard(eager)
    recorder().forbid(guard)
    try:
        yield
    finally:
        recorder().allow(guard)
