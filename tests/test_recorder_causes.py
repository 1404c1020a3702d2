"""Why a function was traced again: of signatures alone, and of programs under the recorder."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest

from jitlint.recorder.record import load_record
from jitlint.recorder.runtime.causes import Cause, differences, explain
from jitlint.recorder.runtime.identity import Serials
from jitlint.recorder.runtime.signature import Leaf, Signature, static_text
from tests.recorder_runs import PROGRAMS, PYTHONS, causes_of, record_program, run_recorded


def array(path: str, shape: tuple[int, ...] = (), dtype: str = "float32", weak: bool = False) -> Leaf:
    return Leaf(path, True, dtype=dtype, shape=shape, weak=weak)


def static(path: str, text: str, kind: str = "int", token: str | None = None, by_identity: bool = False) -> Leaf:
    return Leaf(path, False, text=text, type=kind, token=token or text, by_identity=by_identity)


def signature(*leaves: Leaf, trees: dict[str, str] | None = None, spelling: dict[str, str] | None = None) -> Signature:
    names = dict.fromkeys(leaf.path.partition("[")[0] for leaf in leaves)
    shapes = dict.fromkeys(names, "*") | (trees or {})
    return Signature(
        leaves,
        tuple((name, text, hash(text)) for name, text in shapes.items()),
        tuple(sorted((dict.fromkeys(names, "position") | (spelling or {})).items())),
        (("jax_enable_x64", "False"),),
        1,
    )


def kinds(causes: list[Cause]) -> list[str]:
    return [cause.kind for cause in causes]


def test_shape_dtype_and_weak_type_name_the_argument_and_both_values() -> None:
    old = signature(array("x", (3,)), array("y"), array("z"))
    new = signature(array("x", (4,)), array("y", dtype="int32", weak=True), array("z", weak=True))
    assert [cause.describe() for cause in differences(old, new)] == [
        "shape of x: float32[3] → float32[4]",
        "dtype of y: float32 → int32",
        "weak type of z: strong float32 → weak float32",
    ]


def test_a_static_value_tells_what_it_was() -> None:
    assert differences(signature(static("n", "2")), signature(static("n", "3"))) == [Cause("static", "n", "2", "3")]


def test_an_object_that_equals_only_itself_is_told_as_such() -> None:
    old = signature(static("f", "<function f>", "function", "#1", by_identity=True))
    new = signature(static("f", "<function f>", "function", "#2", by_identity=True))
    assert differences(old, new)[0].note == "another object that equals only itself"


def test_none_where_an_array_was_is_a_structure() -> None:
    old = Signature((), (("m", "None", 1),), (("m", "position"),), (), 0)
    new = Signature((array("m"),), (("m", "*", 2),), (("m", "position"),), (), 0)
    assert differences(old, new) == [Cause("structure", "m", "None", "array")]


def test_other_keys_are_a_structure_and_their_leaves_no_cause_of_their_own() -> None:
    old = signature(array("d['a']"), trees={"d": "{'a': *}"})
    new = signature(array("d['a']"), array("d['b']"), trees={"d": "{'a': *, 'b': *}"})
    assert differences(old, new) == [Cause("structure", "d", "{'a': *}", "{'a': *, 'b': *}")]


def test_a_tree_that_differs_in_addresses_only_holds_another_object() -> None:
    old = signature(array("arm[0]"), trees={"arm": "Node[(<function f at 0x7f01>), *]"})
    new = signature(array("arm[0]"), trees={"arm": "Node[(<function f at 0x7f02>), *]"})
    assert kinds(differences(old, new)) == ["static"]


def test_a_keyword_where_a_position_was_is_spelling() -> None:
    old = signature(array("x"), array("y"))
    new = signature(array("x"), array("y"), spelling={"y": "keyword"})
    assert differences(old, new) == [Cause("spelling", "y", "position", "keyword")]


def test_traced_where_it_was_static() -> None:
    assert differences(signature(static("n", "2")), signature(array("n", dtype="int32"))) == [
        Cause("static", "n", "static 2", "int32[]")
    ]


def test_a_changed_option_is_named_and_an_unknown_one_is_not() -> None:
    old = signature(array("x"))
    assert differences(old, old._replace(context=(("jax_enable_x64", "True"),))) == [
        Cause("context", "jax_enable_x64", "False", "True")
    ]
    assert kinds(differences(old, old._replace(context_token=2))) == ["context"]


def test_the_nearest_earlier_signature_explains() -> None:
    near = signature(array("x", (3,)), static("n", "5"))
    far = signature(array("x", (9,)), static("n", "7"))
    assert explain([near, far], signature(array("x", (3,)), static("n", "6"))) == [Cause("static", "n", "5", "6")]
    assert explain([near, far], near) == []
    assert explain([], near) == []


def test_serials_are_not_used_twice() -> None:
    class Thing:
        pass

    serials = Serials()
    thing = Thing()
    first = serials.of(thing)
    assert serials.of(thing) == first
    seen = {first}
    for _ in range(2000):
        seen.add(serials.of(Thing()))
    assert len(seen) == 2001


def test_the_text_of_a_static_value_runs_no_repr_of_the_users() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("was asked for its repr")

    @dataclasses.dataclass(frozen=True)
    class Config:
        width: int
        inner: Loud

    assert static_text((1, "a", None, {"k": len})) == "(1, 'a', None, {'k': <function len>})"
    text = static_text([Config(3, Loud())])
    assert text.startswith("[Config(width=3, inner=<")
    assert text.endswith("Loud object>)]")
    assert len(static_text("x" * 500)) < 130


EXPECTED: dict[str, dict[str, int]] = {
    "shape_varies": {"first": 1, "shape of x": 4, "evicted": 1},
    "dtype_varies": {"first": 1, "dtype of x": 2},
    "weak_type_varies": {"first": 1, "weak type of x": 1},
    "static_enum": {"first": 1, "static value of mode": 1},
    "fresh_static": {"first": 1, "static value of op": 2},
    "structure_varies": {"first": 1, "structure of tree": 2},
    "none_or_array": {"first": 1, "structure of mask": 1},
    "spelling_varies": {"first": 1, "spelling of b": 2, "spelling of a": 1},
    "module_level": {"first": 1},
    "make_step.<locals>.local_step": {"first": 1, "new function object": 2},
    "partial(partial_target)": {"first": 1, "new function object": 2},
    "Model.bound_attribute": {"first": 1},
    "Model.bound_in_loop": {"first": 1, "new function object": 5},
    "Model.static_self": {"first": 1, "static value of self": 1},
    "Model.class_method": {"first": 1, "new function object": 1},
    "grad(loss)": {"first": 1, "new function object": 1},
    "vmap(loss)": {"first": 1},
    "vmap(plain)": {"first": 1},
    "outer": {"first": 1, "evicted": 1, "context of jax_default_matmul_precision": 1},
    "lax.scan(body)": {"first": 1},
    "lax.scan(<lambda>)": {"first": 1, "new function object of <lambda>": 1},
    "big_tree": {"first": 1},
    "dropped.<locals>.<lambda>": {"first": 1, "new function object": 2},
}


@pytest.mark.parametrize("python", PYTHONS)
def test_causes_of_the_stress_program(python: str, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    run_recorded(python, str(PROGRAMS / "stress.py"), cwd=tmp_path, folder=tmp_path / "record")
    record = load_record(tmp_path / "record")
    assert {label: causes_of(record, label) for label in EXPECTED} == {k: Counter(v) for k, v in EXPECTED.items()}


MORE = """
import collections, dataclasses, functools
from functools import partial
import jax, jax.numpy as jnp, numpy as np

class Hyper:
    def __init__(self, rate): self.rate = rate

@partial(jax.jit, static_argnames="hyper")
def with_object(x, hyper):
    return x * hyper.rate

for rate in (1.0, 1.0): with_object(1.0, hyper=Hyper(rate))

@partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["fk"])
@dataclasses.dataclass
class Arm:
    w: jax.Array
    fk: object

@jax.jit
def with_field(arm): return arm.w

for _ in range(2): with_field(Arm(jnp.ones(2), lambda q: q))

@jax.jit
def ragged(xs): return sum(xs)

for n in (1, 2): ragged([1.0] * n)

@jax.jit
def either(d): return list(d.values())

either({"a": 1.0}); either(collections.OrderedDict(a=1.0))

@jax.jit
def committed(x): return x

committed(jnp.ones(3)); committed(jax.device_put(jnp.ones(3), jax.devices()[0]))

def fails(x):
    if x > 0: return x

try: jax.jit(fails)(1.0)
except Exception: pass

def element(x): return x + 1
for _ in range(2): jax.lax.map(element, np.arange(3.0))
for n in (3, 4): jax.lax.scan(lambda c, x: (c, x), 0.0, np.ones(n))

def body(c, x): return c, x
for n in (3, 4): jax.lax.scan(body, 0.0, np.ones(n, np.float32))

@jax.jit
def varargs(*xs, **named): return sum(xs) + sum(named.values())

varargs(1.0, 2.0); varargs(1.0, 2.0, a=3.0)

jax.pmap(lambda v: v * 2)(jnp.ones((1, 3)))
from jax.experimental.pjit import pjit
pjit(element)(2.0)
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_causes_of_rarer_kinds(python: str, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    _, record = record_program(MORE, tmp_path, python)
    assert causes_of(record, "with_object") == {"first": 1, "static value of hyper": 1}
    assert causes_of(record, "with_field") == {"first": 1, "static value of arm": 1}
    assert causes_of(record, "ragged") == {"first": 1, "structure of xs": 1}
    assert causes_of(record, "either") == {"first": 1, "structure of d": 1}
    assert causes_of(record, "committed") == {"first": 1, "sharding of x": 1}
    assert causes_of(record, "lax.map(element)") == {"first": 1, "new function object": 1}
    assert causes_of(record, "lax.scan(body)")["shape of operand 1"] == 1
    assert causes_of(record, "varargs") == {"first": 1, "spelling of a": 1}
    assert [trace.error for trace in record.traces if trace.label == "fails"] == ["TracerBoolConversionError"]
    assert [trace.transform for trace in record.traces if trace.label == "<lambda>"] == ["pmap"]
    assert [trace.label for trace in record.traces].count("element") == 1


def test_a_trace_tells_where_the_function_was_called_made_and_defined(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    _, record = record_program(
        "import jax\ndef f(x):\n    return x\ndef use(g):\n    return g(1.0)\ng = jax.jit(f)\nuse(g)\n",
        tmp_path,
    )
    (trace,) = record.traces
    assert trace.call is not None
    assert trace.made is not None
    assert (trace.row, trace.made.row, trace.call.row, trace.call.function) == (2, 6, 5, "use")
    assert trace.seconds > 0
    (compile_,) = record.compiles
    assert (compile_.trace, compile_.kind) == (trace.id, "jit")
    assert compile_.compile_seconds > 0


def test_a_nested_trace_knows_its_parent_and_its_time_is_not_counted_twice(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    _, record = record_program(
        "import jax, time\n"
        "@jax.jit\n"
        "def inner(x):\n"
        "    time.sleep(0.2)\n"
        "    return x\n"
        "@jax.jit\n"
        "def outer(x): return inner(x)\n"
        "outer(1.0)\n",
        tmp_path,
    )
    by_label = {trace.label: trace for trace in record.traces}
    assert by_label["inner"].parent == by_label["outer"].id
    assert by_label["outer"].seconds >= by_label["inner"].seconds >= 0.2
    assert by_label["outer"].self_seconds <= by_label["outer"].seconds - by_label["inner"].seconds + 1e-6
    assert [function.label for function in record.functions if function.compiles] == ["outer"]


def test_eager_operations_are_apart_from_jitted_functions(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    _, record = record_program(
        "import jax, jax.numpy as jnp\nx = jnp.ones(3)\nfor n in (1, 2):\n    x[:n] + 1\njax.jit(lambda x: x)(x)\n",
        tmp_path,
    )
    assert [function.label for function in record.functions] == ["<lambda>"]
    assert {compile_.call.row for compile_ in record.eager if compile_.call} == {2, 4}


@pytest.mark.parametrize("python", PYTHONS)
def test_equinox_functions_are_told_apart_and_their_arguments_named(python: str, tmp_path: Path) -> None:
    pytest.importorskip("equinox")
    run_recorded(python, str(PROGRAMS / "equinox_train.py"), cwd=tmp_path, folder=tmp_path / "record")
    record = load_record(tmp_path / "record")
    causes = causes_of(record, "make_step")
    assert (causes["first"], causes["shape of x"], causes["shape of y"], causes["spelling of scale"]) == (1, 2, 2, 1)
    assert causes_of(record, "Evaluator.score") == {"first": 1, "static value of self": 2}
    (make_step,) = [function for function in record.functions if function.label == "make_step"]
    assert make_step.file.endswith("equinox_train.py")
    assert len(make_step.compiles) == 3
