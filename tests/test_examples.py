"""The example project: what its README says is wrong is found and is wrong, and nothing else is found."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import jitlint
from jitlint.registry import known_codes

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import jax, jax.numpy as jnp, numpy as np
from spirals import data, model, train, utils
from spirals.config import Config

def outcome(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "runs"

config = Config()
x, y = data.make_spirals(256, 0.2, seed=0)
x = np.asarray(data.standardise(x))
params = model.init(jax.random.key(0), config)
loss = jax.jit(train.loss_fn)
print("dropout", outcome(lambda: loss(params, x, y, jax.random.key(1), True)))
print("clip_by_norm", outcome(lambda: jax.jit(utils.clip_by_norm)(params, 1.0)))
print("one_hot", outcome(lambda: utils.one_hot(jnp.asarray(y), 2)))
print("summarise", outcome(lambda: utils.summarise(jnp.ones(3))))
first = float(train.scaled_loss(params, x, y))
train.set_loss_scale(5.0)
print("scaled_loss", "stale" if float(train.scaled_loss(params, x, y)) == first else "fresh")
traces = []
grad = jax.grad
jax.grad = lambda f: traces.append(f) or grad(f)
print("pick_rate", train.pick_rate(params, x, y, [0.1, 0.01, 0.001]) and len(traces))
jax.grad = grad
print("evaluate", outcome(lambda: train.evaluate(params, x, y)))
print("smooth", outcome(lambda: utils.smooth(jnp.ones(9), window=3)))
print("embed", outcome(lambda: model.embed(params, x)))
print("decay", outcome(lambda: jax.jit(utils.decay)(params, 0.1)))
print("halve_while_large", outcome(lambda: jax.jit(utils.halve_while_large)(8.0, 1.0)))
"""


def promised() -> set[tuple[str, str, str]]:
    """File, function and code of each row of the table in the README of the examples."""
    rows = re.findall(r"^\| (\w+\.py) \| (\w+) \| (JIT\d+) \|", (EXAMPLES / "README.md").read_text("utf-8"), re.M)
    assert len(rows) == 7
    return set(rows)


def test_what_is_wrong_is_found_and_nothing_else() -> None:
    report = jitlint.check_paths([EXAMPLES])
    found = {(Path(finding.filename).name, finding.qualname, finding.code) for finding in report.findings}
    assert found == {row for row in promised() if row[2] in known_codes()}


def test_jax_agrees() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(EXAMPLES / "src")], capture_output=True, text=True, check=True
    )
    assert dict(line.split() for line in run.stdout.splitlines()) == {
        "dropout": "TracerBoolConversionError",
        "clip_by_norm": "TracerBoolConversionError",
        "one_hot": "ConcretizationTypeError",
        "summarise": "ConcretizationTypeError",
        "scaled_loss": "stale",
        "pick_rate": "3",
        "evaluate": "runs",
        "smooth": "runs",
        "embed": "runs",
        "decay": "runs",
        "halve_while_large": "runs",
    }


@pytest.mark.parametrize("unsafe", [False, True])
def test_fix_repairs_what_it_says(unsafe: bool, tmp_path: Path) -> None:
    copy = tmp_path / "examples"
    shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--unsafe-fixes"] if unsafe else []
    command = [sys.executable, "-m", "jitlint", "check", "--fix", *options, str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    left = {finding.code for finding in jitlint.check_paths([copy]).findings}
    assert not left & {"JIT102", "JIT105"}
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import jax, jax.numpy as jnp; from spirals import utils; "
        "print(utils.one_hot(jnp.arange(3), 3).shape)"
    )
    run = subprocess.run([sys.executable, "-c", program, str(copy / "src")], capture_output=True, text=True, check=True)
    assert run.stdout == "(3, 3)\n"
