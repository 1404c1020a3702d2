"""What happens in different runs of a program: scripts that import each other are run one at a time."""

from pathlib import Path

import jitlint

SOLVER = """
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def solve(x, steps):
    for _ in range(steps):
        x = x - 0.1 * x
    return x


if __name__ == "__main__":
    solve(jnp.ones(3), steps=10)
"""
SCRIPT = """
import jax.numpy as jnp
from solver import solve

if __name__ == "__main__":
    solve(jnp.ones(3), 10)
"""


def codes(folder: Path) -> list[str]:
    return [f.code for f in jitlint.check_paths([folder], isolated=True, cache_dir=None).findings]


def test_what_an_imported_script_does_when_it_is_run_itself_is_another_run(tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text(SOLVER)
    (tmp_path / "script.py").write_text(SCRIPT)
    assert codes(tmp_path) == []


def test_what_a_script_does_itself_is_one_run(tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text(SOLVER.partition("\n\nif __name__")[0])
    (tmp_path / "script.py").write_text(SCRIPT + "    solve(jnp.ones(3), steps=10)\n")
    assert codes(tmp_path) == ["JIT306"]
