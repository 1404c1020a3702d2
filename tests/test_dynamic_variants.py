"""Variants: counting them, and what would merge them."""

from __future__ import annotations

from jitlint.dynamic.protocol import Argument, ModuleRun, Place, Trace
from jitlint.dynamic.variants import collect_variants


def trace(*arguments: Argument, job: str | None = None, name: str = "f", **more: object) -> Trace:
    fields: dict[str, object] = {
        "path": "m.py",
        "row": 3,
        "name": name,
        "qualname": name,
        "transform": "jit",
        "depth": 0,
        "calls": (Place("m.py", 20, "<module>"),),
        "arguments": arguments,
        "ok": True,
        "error": None,
        "ran": {},
        "equations": 5,
        "job": job,
    }
    return Trace(**(fields | more))  # type: ignore[arg-type]


def x(text: str) -> Argument:
    return Argument("x", "traced", text)


def run(*traces: Trace, compiled: tuple[str, ...] = ()) -> ModuleRun:
    return ModuleRun("m", "m.py", traces=list(traces), compiles=[(name, None) for name in compiled])


def advice(*traces: Trace) -> str:
    (found,) = collect_variants([run(*traces)])
    return "; ".join(found.advice)


def test_one_variant_needs_no_advice() -> None:
    (found,) = collect_variants([run(trace(x("f32[3]")))])
    assert (found.total, found.advice, found.variants[0].text) == (1, (), "x: f32[3]")


def test_each_cause_has_its_advice() -> None:
    assert "3 shapes: pad" in advice(*(trace(x(f"f32[{n}]")) for n in (1, 2, 3)))
    assert "2 dtypes" in advice(trace(x("f32[3]")), trace(x("i32[3]")))
    assert "weakly typed" in advice(trace(x("f32[]~")), trace(x("f32[]")))
    tree = [Argument("x", "tree", text) for text in ("{w: f32[3]}", "{w: f32[3], b: f32[]}")]
    assert "structure of `x`" in advice(*map(trace, tree))
    static = [Argument("lr", "static", str(n / 10)) for n in range(4)]
    assert "static and has 4 values" in advice(*map(trace, static))
    assert "sometimes passed" in advice(trace(x("f32[]"), Argument("m", "static", "None")), trace(x("f32[]")))
    assert "make the jitted function once" in advice(trace(x("f32[3]")), trace(x("f32[3]")))


def test_what_jax_says_it_compiled_counts_where_the_name_is_unique() -> None:
    inner = trace(x("f32[3]"), depth=1)
    (found,) = collect_variants([run(inner, compiled=("f", "f"))])
    assert found.total == 2
    both = collect_variants([run(trace(x("f32[3]")), trace(x("f32[3]"), row=9), compiled=("f", "f"))])
    assert [each.total for each in both] == [1, 1]


def test_planned_calls_add_what_the_import_did_not_have() -> None:
    (found,) = collect_variants(
        [
            run(
                trace(x("f32[3]")),
                trace(x("f32[3]"), job="m.f:call:1"),
                trace(x("f32[4]"), job="m.f:call:2"),
                trace(x("f32[9]"), job="m.f:annotations"),
                trace(x("f32[]"), job="m.f:probe:float32:0"),
                trace(x("f32[5]"), job="m.f:call:1:leaks"),
            )
        ]
    )
    assert [(v.text, v.planned) for v in found.variants] == [("x: f32[3]", False), ("x: f32[4]", True)]
    assert found.total == 2


def test_a_planned_call_that_another_import_makes_is_counted_once() -> None:
    planned, made = trace(x("f32[3]"), job="m.f:call:1"), trace(x("f32[3]"))
    (found,) = collect_variants([run(planned), run(made)])
    assert ([(v.count, v.planned) for v in found.variants], found.total) == ([(1, False)], 1)


def test_failed_traces_and_inner_ones_are_no_variants() -> None:
    assert collect_variants([run(trace(x("f32[3]"), ok=False), trace(x("f32[3]"), depth=1))]) == ()


def test_control_flow_outside_jit_compiles_on_its_own() -> None:
    bodies = [trace(x("f32[]"), name="<lambda>", transform="scan", row=n) for n in (20, 20, 20)]
    inside = trace(x("f32[]"), name="<lambda>", transform="scan", depth=1)
    (found,) = collect_variants([run(*bodies, inside)])
    assert (found.name, found.row, found.total) == ("lax.scan", 20, 3)
