"""Verdicts: claims on small programs, put to JAX."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitlint.dynamic.confirm import Options, confirm
from jitlint.dynamic.judge import Verdict
from jitlint.dynamic.rollback import still_traces
from jitlint.dynamic.run import Limits
from jitlint.findings import Edit, Finding, Fix, Span
from tests.dynamic_runs import PATIENT, PYTHONS, claim, load, trial, write

HEAD = "import jax\nimport jax.numpy as jnp\nfrom functools import partial\n"


@pytest.mark.parametrize("python", PYTHONS)
def test_claims_of_errors(tmp_path: Path, python: Path) -> None:
    write(
        tmp_path,
        program=HEAD
        + """
@jax.jit
def raises(x):
    if x > 0:
        return x
    return -x

@jax.jit
def fine(x):
    if x.ndim > 0:
        return x
    return -x

@jax.jit
def half(x):
    if x.ndim == 7 and x > 1:
        return x
    return x * 3

@jax.jit
def never(x):
    if x > 2:
        return x

@jax.jit
def item(x):
    x[0] = 1.0
    return x

@partial(jax.jit, static_argnames="shape")
def make(shape):
    return jnp.zeros(shape)

def host():
    return make([2, 3])

try:
    raises(1.0)
except TypeError:
    pass
fine(jnp.ones(3))
half(jnp.ones(3))
make((2, 3))
make([2, 2])
item(jnp.ones(2))
""",
    )
    judged, more, summary = trial(
        tmp_path,
        ("JIT101", "x > 0"),
        ("JIT101", "x.ndim > 0"),
        ("JIT101", "x.ndim == 7 and x > 1"),
        ("JIT101", "x > 1"),
        ("JIT101", "x > 2"),
        ("JIT201", "[2, 2]"),
        ("JIT201", "[2, 3]"),
        ("JIT201", "make((2, 3))"),
        ("JIT110", "x[0] = 1.0"),
        options=Options(python, PATIENT),
    )
    verdicts = {marked: verdict for marked, (verdict, _) in judged.items()}
    assert verdicts == {
        "x > 0": "confirmed",
        "x.ndim > 0": "refuted",
        "x.ndim == 7 and x > 1": "unresolved",
        "x > 1": "unresolved",
        "x > 2": "confirmed",
        "[2, 2]": "confirmed",
        "[2, 3]": "unresolved",
        "make((2, 3))": "refuted",
        "x[0] = 1.0": "confirmed",
    }
    assert "every kind of array" in judged["x > 2"][1], "nothing calls it"
    assert "only part" in judged["x.ndim == 7 and x > 1"][1]
    assert more == []
    assert summary.verdicts == {Verdict.CONFIRMED: 4, Verdict.REFUTED: 2, Verdict.UNRESOLVED: 3}
    assert (summary.traced, len(summary.targets)) == (6, 6)


@pytest.mark.parametrize("python", PYTHONS)
def test_claims_of_what_does_not_raise(tmp_path: Path, python: Path) -> None:
    write(
        tmp_path,
        program=HEAD
        + """
import time
scale = 1.0
kept = []

@jax.jit
def stale(x):
    return x * scale

@jax.jit
def steady(x):
    return x * jnp.pi

def plain(x):
    return x

@jax.jit
def prints(x):
    print(x)
    for i in range(20):
        x = x + i
    return x

@jax.jit
def leaks(x):
    kept.append(x)
    return x

@partial(jax.jit, static_argnames="n")
def varying(x, n):
    return x + n

for n in range(3):
    stale(1.0)
    steady(1.0)
    scale = scale * 2
    jax.jit(lambda x: x + n)(1.0)
    jax.jit(plain)(2.0)
    varying(1.0, n=n)
prints(1.0)
leaks(1.0)
""",
    )
    judged, more, summary = trial(
        tmp_path,
        ("JIT401", "x * scale"),
        ("JIT401", "jnp.pi"),
        ("JIT404", "print(x)"),
        ("JIT308", "x = x + i"),
        ("JIT406", "kept.append(x)"),
        ("JIT301", "jax.jit(lambda x: x + n)(1.0)"),
        ("JIT301", "jax.jit(plain)(2.0)"),
        ("JIT204", "varying(1.0, n=n)"),
        ("JIT407", "from functools import partial"),
        options=Options(python, PATIENT),
    )
    assert {marked: verdict for marked, (verdict, _) in judged.items()} == {
        "x * scale": "confirmed",
        "jnp.pi": "unresolved",
        "print(x)": "confirmed",
        "x = x + i": "confirmed",
        "kept.append(x)": "confirmed",
        "jax.jit(lambda x: x + n)(1.0)": "confirmed",
        "jax.jit(plain)(2.0)": "refuted",
        "varying(1.0, n=n)": "confirmed",
        "from functools import partial": "unresolved",
    }
    assert judged["varying(1.0, n=n)"][1] == "JAX traced varying 3 times"
    assert more == []
    counted = {each.name: each.total for each in summary.variants}
    assert counted == {"stale": 1, "steady": 1, "plain": 1, "prints": 1, "leaks": 1, "varying": 3, "<lambda>": 3}
    advice = next(each.advice for each in summary.variants if each.name == "varying")
    assert advice == ("`n` is static and has 3 values: trace it if nothing needs it static",)


def test_errors_that_no_rule_foresaw(tmp_path: Path) -> None:
    write(
        tmp_path,
        program=HEAD
        + """
@jax.jit
def inner(x, w):
    return x @ w

def outer():
    return inner(jnp.ones(3), jnp.ones(4))

outer()
inner(jnp.ones(5), jnp.ones(6))
raise ValueError("the program's own")
""",
    )
    _, more, summary = trial(tmp_path)
    (found,) = more
    assert (found.code, found.span, found.qualname) == ("JIT902", Span(7, 5, 7, 17), "inner")
    assert "JAX raised TypeError here" in found.message
    assert [step.row for step in found.trace] == [12, 10]
    assert found.properties["verdict"] == "confirmed"
    assert "TypeError" in summary.failures[found.filename]


def test_a_finding_in_a_module_that_only_another_one_jits(tmp_path: Path) -> None:
    write(
        tmp_path,
        helper="def scatter(x, lossy):\n    if lossy:\n        return x * 2\n    return x\n",
        program=HEAD + "from helper import scatter\nfast = jax.jit(scatter)\nfast(1.0, True)\n",
    )
    project = load(tmp_path)
    out, _ = confirm([claim(project, "JIT101", "lossy:", filename="helper.py")], project, Options(limits=PATIENT))
    assert out[0].properties["verdict"] == "confirmed"
    assert out[0].properties["raised"] == {
        "class": "TracerBoolConversionError",
        "message": out[0].properties["raised"]["message"],  # type: ignore[index]
    }


def test_configured_signatures_reach_what_nothing_calls(tmp_path: Path) -> None:
    write(
        tmp_path,
        program=HEAD
        + """
@partial(jax.jit, static_argnames="deep")
def step(params, x, deep):
    if deep:
        if x.sum() > 0:
            return x
    return params["w"] @ x
""",
    )
    unplanned, _, summary = trial(tmp_path, ("JIT101", "x.sum() > 0"))
    assert unplanned["x.sum() > 0"] == ("unresolved", "nothing says what its parameter `deep` is")
    assert (summary.traced, len(summary.targets)) == (0, 1)
    signatures = {"program.step": ["{w: f32[2,3]}", "f32[3]", "deep=True"]}
    judged, _, summary = trial(tmp_path, ("JIT101", "x.sum() > 0"), options=Options(None, PATIENT, (), signatures))
    assert judged["x.sum() > 0"][0] == "confirmed"
    assert summary.traced == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nobody_has_this\n", "ModuleNotFoundError"),
        ("raise RuntimeError('boom')\n", "boom"),
        ("import sys\nsys.exit(1)\n", "exits while it is imported"),
        ("import os\nos._exit(1)\n", "exit code 1"),
        ("import os\nos.fork()\n", "refused to fork"),
        ("import time\ntime.sleep(60)\n", "its time was over"),
    ],
)
def test_reasons_of_what_stays_unresolved(tmp_path: Path, text: str, why: str) -> None:
    write(
        tmp_path, program=text + HEAD + "def later(x):\n    if x > 0:\n        return x\ngetattr(jax, 'jit')(later)\n"
    )
    judged, more, summary = trial(
        tmp_path, ("JIT101", "x > 0"), options=Options(limits=Limits(seconds=120, import_seconds=4))
    )
    verdict, reason = judged["x > 0"]
    assert verdict == "unresolved"
    assert why in reason
    assert (more, list(summary.unresolved)) == ([], [reason])
    assert why in next(iter(summary.failures.values()))


def test_modules_that_may_not_be_imported_are_not(tmp_path: Path) -> None:
    write(tmp_path, program=HEAD + "@jax.jit\ndef f(x):\n    if x > 0:\n        return x\nf(1.0)\n")
    judged, _, summary = trial(tmp_path, ("JIT101", "x > 0"), options=Options(limits=PATIENT, allow=("other*",)))
    assert judged["x > 0"] == ("unresolved", "importing it is not allowed (--dynamic-allow-import)")
    assert not summary.jax


def test_without_jax_every_finding_stands_unresolved(tmp_path: Path) -> None:
    write(tmp_path, program=HEAD + "@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n")
    judged, _, _ = trial(tmp_path, ("JIT101", "x > 0"), options=Options(tmp_path / "no-python", PATIENT))
    assert judged["x > 0"][0] == "unresolved"
    assert "cannot start" in judged["x > 0"][1]


def _fixed(project_folder: Path, marked: str, text: str, qualname: str) -> tuple[Finding, str]:
    """A finding with a fix that replaces ``marked`` by ``text``, and the file's text with it."""
    project = load(project_folder)
    found = claim(project, "JIT101", marked)
    fix = Fix("try this", (Edit(found.filename, found.span, text),))
    source = next(m.text for m in project.modules if m.display == found.filename)
    from dataclasses import replace

    return replace(found, fix=fix, qualname=qualname), source.replace(marked, text)


@pytest.mark.parametrize(
    ("text", "kept", "why"),
    [
        ("jnp.where(x > 0, x, -x)", True, ""),
        ("x if x.any() else -x", False, "JAX raised TracerBoolConversionError"),
        ("undefined_name", False, "NameError"),
    ],
)
def test_a_fix_stays_only_if_its_function_traces(tmp_path: Path, text: str, kept: bool, why: str) -> None:
    write(
        tmp_path,
        program=HEAD
        + "@jax.jit\ndef f(x):\n    return x if x > 0 else -x\n\n\nif __name__ == '__main__':\n    f(1.0)\n",
    )
    finding, after = _fixed(tmp_path, "x if x > 0 else -x", text, "f")
    rolled_back = still_traces([finding], load(tmp_path), {finding.filename: after}, Options(limits=PATIENT))
    assert [bad.finding for bad in rolled_back] == ([] if kept else [finding])
    assert all(why in bad.reason for bad in rolled_back)


def test_what_another_package_misses_in_jax_is_no_error_of_the_program(tmp_path: Path) -> None:
    package = tmp_path / "site-packages"
    package.mkdir()
    write(package, outdated="import jax.numpy as jnp\nold = jnp.no_such_thing_any_more\n")
    site = f"import sys\nsys.path.append({str(package)!r})\n"
    write(tmp_path, program=f"{HEAD}\n{site}import outdated\n\n@jax.jit\ndef f(x): return x\n")
    _, more, summary = trial(tmp_path)
    assert more == []
    assert "AttributeError" in next(iter(summary.failures.values()))
