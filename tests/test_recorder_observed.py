"""What a record tells the analysis: trees read back from their text, and findings that stand on recorded calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jitlint import semantics
from jitlint.findings import Finding
from jitlint.project.config import Config
from jitlint.project.modules import load_project
from jitlint.recorder.observed import arguments_of, observations
from jitlint.registry import all_rules
from jitlint.semantics.forecast import Forecast
from jitlint.semantics.observed import (
    ArrayLeaf,
    Branch,
    FunctionKey,
    Observed,
    ObservedArgument,
    ObservedCall,
    ObservedFunction,
    StaticLeaf,
)
from tests.recorder_runs import record_program

F32 = ArrayLeaf("float32", (2,))


def read(tree: str, *paths: str) -> Observed | None:
    """What is read of an argument ``a`` whose leaves are at these paths."""
    leaves: list[dict[str, Any]] = [{"path": f"a{path}", "dtype": "float32", "shape": [2]} for path in paths]
    return arguments_of({"trees": {"a": tree}, "leaves": leaves})["a"]


def test_containers_are_read_back() -> None:
    assert read("*", "") == F32
    assert read("(*,)", "[0]") == Branch("tuple", ((0, F32),))
    assert read("[*, None, ()]", "[0]") == Branch("list", ((0, F32), (1, Branch("none")), (2, Branch("tuple"))))
    assert read("{1: *, 'b]': {}}", "[1]") == Branch("dict", ((1, F32), ("b]", Branch("dict"))))


def test_fields_of_objects_are_named_by_the_paths_of_their_leaves() -> None:
    named = read("CustomNode(namedtuple[S], [*, None, {'k': *}])", ".w", ".p['k']")
    assert named == Branch("object", (("w", F32), (None, Branch("none")), ("p", Branch("dict", (("k", F32),)))), "S")
    words = "CustomNode(Train[(<function f.<locals>.g at 0x7f>, 'a]b', {1: (2,)})], [*, (CustomNode(E[None], []),)])"
    inner = Branch("tuple", ((0, Branch("object", (), "E")),))
    assert read(words, ".step") == Branch("object", (("step", F32), (None, inner)), "Train")
    numbered = read("CustomNode(X[None], [*])", "[<flat index 0>]")
    assert numbered == Branch("object", ((None, F32),), "X")
    assert read("CustomNode(OrderedDict[('b',)], [*])", "['b']") == Branch("dict", (("b", F32),), "OrderedDict")


@pytest.mark.parametrize("tree", ["{<E.x: 1>: *}", "CustomNode(X[(", "*", "PyTree"])
def test_what_cannot_be_read_loses_no_other_argument(tree: str) -> None:
    leaves = [{"path": "ab", "dtype": "key<fry>", "shape": []}, {"path": "n", "static": "3", "type": "int"}]
    found = arguments_of({"trees": {"a": tree, "ab": "*", "n": "*"}, "leaves": leaves})
    assert found == {"a": None, "ab": ArrayLeaf("key", ()), "n": StaticLeaf("3", "int")}


def call(path: Path | None, row: int, **arguments: Observed) -> ObservedCall:
    given = tuple(ObservedArgument(name, keyword=False, value=value) for name, value in arguments.items())
    return ObservedCall("" if path is None else str(path), row, given)


def analysed(
    folder: Path, row: int, calls: Sequence[ObservedCall], traces: int = 1, wrappers: tuple[str, ...] = ()
) -> tuple[dict[str, Finding], list[Forecast]]:
    """Findings by code, and forecasts, of ``m.py`` in a folder whose function in that row was called so."""
    key: FunctionKey = str((folder / "m.py").resolve()), row, wrappers
    observed = {key: ObservedFunction(traces, tuple(calls))}
    project = load_project([folder], Config())
    found = semantics.analyse(project, Config(), all_rules(), observed)
    return {each.code: each for each in found}, semantics.estimates(project, Config(), observed)


def write(folder: Path, text: str) -> Path:
    (folder / "m.py").write_text(f"import jax\nimport jax.numpy as jnp\n{text}", encoding="utf-8")
    return folder / "m.py"


SHAPED = (
    "@jax.jit\ndef f(x, n):\n    if x.ndim == 1 and n is not None:\n        return jnp.zeros(n) + x\n    return x\n"
)


def test_what_nobody_calls_is_definite_with_recorded_arguments(tmp_path: Path) -> None:
    write(tmp_path, SHAPED)
    guessed, _ = analysed(tmp_path, 99, [])
    assert guessed["JIT105"].certainty.value == "possible"
    number = ArrayLeaf("int32", (), weak=True)
    found, _ = analysed(tmp_path, 3, [call(Path("/elsewhere/run.py"), 7, x=F32, n=number)])
    assert found["JIT105"].certainty.value == "definite"
    assert found["JIT105"].trace[0].what == "`f` is called at run.py:7 in the recorded run"
    unused, _ = analysed(tmp_path, 3, [call(None, 0, x=ArrayLeaf("float32", (2, 2)), n=number)])
    assert "JIT105" not in unused


def test_variants_are_those_of_the_record(tmp_path: Path) -> None:
    write(tmp_path, SHAPED)
    calls = [call(None, 0, x=ArrayLeaf("float32", (n,)), n=Branch("none")) for n in (1, 2, 3)]
    _, (forecast,) = analysed(tmp_path, 3, calls, traces=5)
    assert (forecast.number, forecast.exact, forecast.recorded) == (3, True, 5)
    assert forecast.text.splitlines()[0].endswith("m.py:3: f: exactly 3; recorded: 5")
    assert "the shape of `x` changes from call to call" in forecast.text


def test_the_recorded_call_is_found_in_the_program(tmp_path: Path) -> None:
    """A jitted function that reaches its call in ways that nobody can follow."""
    path = write(
        tmp_path, f"import registry\n{SHAPED}\ndef main():\n    registry.get('f')(jnp.ones(2), 3)\n\n\nmain()\n"
    )
    number = ArrayLeaf("int32", (), weak=True)
    found, _ = analysed(tmp_path, 4, [call(path.resolve(), 11, x=F32, n=number)])
    assert next((step.row, step.what) for step in found["JIT105"].trace) == (11, "`f` is called here")


def test_unknown_arguments_of_known_calls_are_completed(tmp_path: Path) -> None:
    path = write(tmp_path, f"import data\n{SHAPED}\nf(data.x, data.n)\nfor batch in data:\n    f(batch, None)\n")
    one = call(path.resolve(), 10, x=F32, n=ArrayLeaf("int32", ()))
    many = [call(path.resolve(), 12, x=ArrayLeaf("float32", (n,)), n=Branch("none")) for n in (4, 5, 6)]
    guessed, _ = analysed(tmp_path, 99, [])
    assert "JIT304" not in guessed
    found, _ = analysed(tmp_path, 4, [one, *many])
    assert found["JIT105"].certainty.value == "definite"
    assert found["JIT304"].span.row == 12


def test_instances_of_classes_of_the_program_have_their_fields(tmp_path: Path) -> None:
    write(
        tmp_path,
        "from typing import NamedTuple\n\nclass State(NamedTuple):\n    w: jax.Array\n    mask: jax.Array | None\n\n"
        "@jax.jit\ndef f(state, config):\n    if state.mask is not None:\n        return jnp.zeros(state.w)\n"
        "    if config == 'big' and state.w > 0:\n        return state.w\n    return state.w\n",
    )
    state = Branch("object", (("w", ArrayLeaf("float32", ())), (None, Branch("none"))), "State")
    found, _ = analysed(tmp_path, 9, [call(None, 0, state=state, config=StaticLeaf("'big'", "str"))])
    assert "JIT105" not in found
    assert (found["JIT101"].span.row, found["JIT101"].certainty.value) == (13, "definite")


def test_functions_under_transforms_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, "def f(x, n):\n    return jnp.zeros(n) + x\n\n\ng = jax.jit(f)\nh = jax.jit(jax.vmap(f))\n")
    seen = call(None, 0, x=F32, n=ArrayLeaf("int32", ()))
    _, forecasts = analysed(tmp_path, 3, [seen], wrappers=("vmap",))
    assert [forecast.calls for forecast in forecasts] == [False, True]


def test_a_run_is_recorded_and_read_back(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    write(tmp_path, SHAPED)
    program = (
        "import functools, m, jax.numpy as jnp\n"
        "call = functools.partial(getattr(m, 'f'), n=None)\n"
        "for size in (1, 2, 3):\n"
        "    call(jnp.ones((size, 2)))\n"
    )
    _, record = record_program(program, tmp_path)
    observed = observations(record)
    (function,) = observed.values()
    assert [each.value("x") for each in function.calls] == [ArrayLeaf("float32", (n, 2)) for n in (1, 2, 3)]
    forecasts = semantics.estimates(load_project([tmp_path / "m.py"], Config()), Config(), observed)
    assert [(each.count, each.recorded) for each in forecasts] == [("exactly 3", 3)]
