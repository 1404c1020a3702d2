"""Stale variables as parameters: where the edits go, and where there are none."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from jitlint.findings import Edit, Span
from jitlint.fix.parameters import as_parameter


def _span(place: object) -> Span:
    start, end = place.start, place.end  # type: ignore[attr-defined]
    return Span(start.line, start.column + 1, end.line, end.column + 1)


def change(source: str) -> tuple[Edit, ...] | None:
    """The edits for the variable ``rate`` that ``step`` reads; ``jit(step)`` or ``@jit`` is the site."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    places = wrapper.resolve(PositionProvider)
    function = next(n for n in places if isinstance(n, cst.FunctionDef) and n.name.value == "step")
    inside = _span(places[function.body])
    reads = [p for n, p in places.items() if isinstance(n, cst.Name) and n.value == "rate"]
    read = next(_span(p) for p in reads if inside.row <= p.start.line <= inside.end_row)
    sites = [n for n in places if isinstance(n, cst.Call) and isinstance(n.func, cst.Name) and n.func.value == "jit"]
    site = _span(places[sites[0] if sites else function.decorators[0].decorator])
    return as_parameter(source, "m.py", read, _span(places[function.name]), site)


def changed(source: str) -> str:
    """The source after the edits."""
    edits = change(source)
    assert edits is not None
    rows = source.splitlines(keepends=True)
    for edit in sorted(edits, reverse=True):
        row, column = edit.span.row - 1, edit.span.column - 1
        rows[row] = rows[row][:column] + edit.text + rows[row][column:]
    out = "".join(rows)
    ast.parse(out)
    return out


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("", "rate"),
        ("w", "w, rate"),
        ("w: float", "w: float, rate"),
        ("w, n=1", "w, n=1, *, rate"),
        ("w, *, n", "w, *, n, rate"),
        ("w, *, n=1", "w, *, n=1, rate"),
        ("w, **more", "w, rate, **more"),
        ("*w", "*w, rate"),
    ],
)
def test_the_parameter_comes_last_where_that_is_allowed(signature: str, expected: str) -> None:
    out = changed(f"rate = 1.0\n@jit\ndef step({signature}):\n    return rate\n")
    assert f"def step({expected}):" in out


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("step()", "step(rate=rate)"),
        ("step(w)", "step(w, rate=rate)"),
        ("step(w, )", "step(w, rate=rate, )"),
        ("step(*w)", "step(*w, rate=rate)"),
        ("(step(w) + 1)", "(step(w, rate=rate) + 1)"),
        ("step(\n    w,\n)", "step(\n    w,\n    rate=rate,\n)"),
    ],
)
def test_every_call_passes_the_variable(call: str, expected: str) -> None:
    assert expected in changed(f"rate = 1.0\n@jit\ndef step(w):\n    return w * rate\n{call}\n")


def test_calls_of_what_jitting_gave_pass_it_too() -> None:
    out = changed("rate = 1.0\ndef step(w):\n    return w * rate\nfast = jit(step)\nfast(1)\nstep(2)\njit\n")
    assert "fast(1, rate=rate)" in out
    assert "step(2, rate=rate)" in out


def test_a_function_that_declares_the_global_passes_it() -> None:
    source = "rate = 1.0\n@jit\ndef step(w):\n    return w * rate\ndef train():\n    global rate\n    rate = 2\n    step(1)\n"
    assert "step(1, rate=rate)" in changed(source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("rate = 1\n@jit\ndef step(w):\n    return w * rate\ng = step\n", id="passed on"),
        pytest.param("rate = 1\n@jit\ndef step(w):\n    return w * rate\ngrad(step)\n", id="transformed"),
        pytest.param("rate = 1\n@jit\n@other\ndef step(w):\n    return w * rate\n", id="other decorator"),
        pytest.param("rate = 1\n@jit\ndef step(w):\n    return w if rate else 0\n", id="decides"),
        pytest.param("rate = 1\n@jit\ndef step(w):\n    return [w for _ in range(rate)]\n", id="counts"),
        pytest.param("rate = 1\n@jit\ndef step(w):\n    return w * rate\ndef f(rate):\n    step(1)\n", id="hidden"),
        pytest.param("rate = 1\n@jit\ndef step(w, /):\n    return w * rate\n", id="positional only"),
        pytest.param("rate = 1\n@jit\ndef step(w):\n    return w * rate\nstep(x for x in w)\n", id="generator"),
        pytest.param("rate = 1\n@jit\ndef step(w):\n    return w * rate\ndef step(w):\n    return 1\n", id="twice"),
        pytest.param("class C:\n    rate = 1\n    @jit\n    def step(w):\n        return w * rate\n", id="method"),
    ],
)
def test_no_edit_where_another_use_or_the_value_stands_against_it(source: str) -> None:
    assert change(source) is None
