"""``pytest --jit-budget``: tests that say how often a function may be traced.

With the option (or ``jit_budget = true`` in pytest's configuration) a test fails when it breaks its mark::

    @pytest.mark.jit_budget(step=1)
    def test_training(): ...

    @pytest.mark.jit_budget(total=3)
    def test_model(jit_traces):
        ...
        assert jit_traces.count("step") == 1

Without it nothing is recorded and the marks do nothing. It loads nothing of jitlint until then, as pytest loads the
plugin in every project that has jitlint installed.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from jitlint.recorder.memory import MemoryRecord
    from jitlint.recorder.record import Trace

_MEMORY = pytest.StashKey["MemoryRecord"]()


class JitTraces:
    """What was traced in a test so far: the value of the fixture ``jit_traces``."""

    def __init__(self, memory: MemoryRecord) -> None:
        self._memory = memory

    def count(self, name: str | None = None) -> int:
        """How often the functions of this name were traced; without a name, how often any function was."""
        return len(self.of(name))

    def of(self, name: str | None = None) -> list[Trace]:
        """The traces, in order, each with its causes, its signature and the line that was called."""
        from jitlint.recorder.budget import matches

        record = self._memory.record()
        if name is None:
            return record.traces
        return [trace for function in record.functions if matches(function, name) for trace in function.traces]

    @property
    def compiles(self) -> int:
        """How many programs were compiled, those of eager operations included."""
        return len(self._memory.record().compiles)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--jit-budget`` and its setting."""
    group = parser.getgroup("jitlint")
    group.addoption(
        "--jit-budget",
        action="store_true",
        help="record what jax traces, and fail tests that exceed their mark jit_budget(function=number, total=number)",
    )
    parser.addini("jit_budget", "record what jax traces, as --jit-budget does", type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Be there before the first conftest can import jax."""
    if _enabled(early_config):
        from jitlint.recorder.memory import watch

        watch()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers",
        "jit_budget(total=N, **function=N): fail when the test has a function of this name traced more than N times,"
        " or all together more than total (needs --jit-budget)",
    )
    if _enabled(config):
        from jitlint.recorder.memory import watch

        watch()


def _enabled(config: pytest.Config) -> bool:
    return bool(getattr(config.known_args_namespace, "jit_budget", False) or config.getini("jit_budget"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Collect what the test has traced, its fixtures included."""
    if not _enabled(item.config):
        return (yield)
    from jitlint.recorder.memory import MemoryRecord

    memory = MemoryRecord()
    item.stash[_MEMORY] = memory
    memory.start()
    try:
        return (yield)
    finally:
        memory.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail the test when it exceeds its budget; a test that fails by itself keeps its own reason."""
    yield
    memory = item.stash.get(_MEMORY, None)
    mark = item.get_closest_marker("jit_budget")
    if memory is None or mark is None:
        return
    from jitlint.recorder.budget import exceeded

    limits = dict(mark.kwargs)
    total = limits.pop("total", None)
    if mark.args or not all(isinstance(limit, int) for limit in (*limits.values(), total or 0)):
        pytest.fail("jit_budget takes numbers by name, such as jit_budget(step=1, total=3)", pytrace=False)
    excesses = exceeded(memory.record(), limits, total)
    if excesses:
        pytest.fail("\n".join(line for excess in excesses for line in excess.lines()), pytrace=False)


@pytest.fixture
def jit_traces(request: pytest.FixtureRequest) -> JitTraces:
    """What the test has traced so far; skips the test where nothing is recorded."""
    memory = request.node.stash.get(_MEMORY, None)
    if memory is None:
        pytest.skip("nothing is recorded: run pytest with --jit-budget")
    return JitTraces(memory)
