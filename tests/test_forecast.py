"""The forecast of ``check --variants``: how many programs, of which kind of cause, without running the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitlint.project.config import Config
from jitlint.project.modules import load_project
from jitlint.semantics import estimates
from jitlint.semantics.forecast import Forecast

HEAD = "import jax\nimport jax.numpy as jnp\nfrom functools import partial\n"


def forecast(folder: Path, program: str) -> Forecast:
    path = folder / "program.py"
    path.write_text(HEAD + program)
    (only,) = estimates(load_project([path], Config()), Config())
    return only


STEP = "@jax.jit\ndef step(x):\n    return x * 2\n"
STATIC = "@partial(jax.jit, static_argnames='n')\ndef step(x, n):\n    return x * n\n"
PROGRAMS = {
    "same arguments": (STEP + "for _ in range(30):\n    step(jnp.ones(3))\n", "exactly 1", ()),
    "python numbers of one kind": (STEP + "for i in range(30):\n    step(i * 0.5)\n", "exactly 1", ()),
    "shapes turn by turn": (
        STEP + "x = jnp.ones(9)\nfor i in range(1, 6):\n    step(x[:i])\n",
        "exactly 5",
        ("shape",),
    ),
    "shapes of many turns": (
        STEP + "x = jnp.ones(90)\nfor i in range(1, 61):\n    step(x[:i])\n",
        "exactly 60",
        ("shape",),
    ),
    "batches of one size": (STEP + "x = jnp.ones(90)\nfor i in range(30):\n    step(x[i : i + 3])\n", "exactly 1", ()),
    "a list that grows": (
        STEP.replace("x * 2", "sum(x)") + "xs = []\nfor i in range(20):\n    xs.append(1.0)\n    step(xs)\n",
        "exactly 20",
        ("structure",),
    ),
    "weak, then strong": (
        STEP.replace("x * 2", "x + jnp.ones(())") + "x = 0.0\nfor i in range(20):\n    x = step(x)\n",
        "exactly 2",
        ("weak",),
    ),
    "int, then float": (STEP + "step(1)\nstep(2)\nstep(2.5)\n", "exactly 2", ("dtype",)),
    "static values": (STATIC + "for i in range(20):\n    step(1.0, n=i)\n", "exactly 20", ("static",)),
    "static values while": (
        STATIC + "i = 0\nwhile True:\n    step(1.0, n=i)\n    i += 1\n",
        "one per iteration",
        ("static",),
    ),
    "a counting while loop": (
        STATIC + "i = 0\nwhile i < 40:\n    step(1.0, n=i)\n    i += 2\n",
        "exactly 20",
        ("static",),
    ),
    "spelling": (STEP + "step(1.0)\nstep(x=1.0)\n", "exactly 2", ("spelling",)),
    "new function each turn": (
        "for _ in range(20):\n    jax.jit(lambda x: x * 2)(1.0)\n",
        "exactly 20",
        ("function",),
    ),
    "same function each turn": (
        "def f(x):\n    return x\nfor _ in range(20):\n    jax.jit(f)(1.0)\n",
        "exactly 1",
        (),
    ),
    "a cached factory": (
        "import functools\n@functools.lru_cache\ndef make(k):\n    return jax.jit(lambda x: x * k)\n"
        "for _ in range(20):\n    make(3)(1.0)\n",
        "exactly 1",
        (),
    ),
    "made behind a test": (
        "f = None\nfor _ in range(20):\n    if f is None:\n        f = jax.jit(lambda x: x)\n    f(1.0)\n",
        "exactly 1",
        (),
    ),
    "nobody calls it": (STEP, "no call seen", ()),
    "a recursion on the host": (
        STEP + "def shrink(x, n):\n    step(x[:n])\n    if n > 1:\n        shrink(x, n - 1)\nshrink(jnp.ones(10), 9)\n",
        "at least 2",
        ("shape",),
    ),
    "a recursion under a trace": (
        "def power(x, n):\n    return x if n == 1 else x * power(x, n - 1)\n"
        "@jax.jit\ndef step(x):\n    return power(x, 8)\nfor i in range(5):\n    step(jnp.ones(3))\n",
        "exactly 1",
        (),
    ),
    "a recursion that calls nothing jitted": (
        STEP + "def size(n):\n    return 1 if n == 0 else 1 + size(n - 1)\n"
        "size(9)\nfor i in range(1, 6):\n    step(jnp.ones(9)[:i])\n",
        "exactly 5",
        ("shape",),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_counted(tmp_path: Path, name: str) -> None:
    program, count, kinds = PROGRAMS[name]
    found = forecast(tmp_path, program)
    assert (found.count, found.kinds) == (count, kinds)


def test_the_text_says_where_and_why(tmp_path: Path) -> None:
    found = forecast(tmp_path, STATIC + "for i in range(20):\n    step(1.0, n=i)\n")
    head, cause = found.text.splitlines()
    assert head.endswith("program.py:4: step: exactly 20")
    assert cause.strip() == "the value of the static `n` changes in the loop at line 7: exactly 20 (a int)"


def test_what_tests_do_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "test_program.py"
    path.write_text(HEAD + STATIC + "def test_all():\n    for i in range(20):\n        step(1.0, n=i)\n")
    (found,) = estimates(load_project([path], Config()), Config())
    assert found.count == "no call seen"
