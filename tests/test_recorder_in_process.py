"""The recorder in the user's own process: ``no_retrace`` and the notebook extension."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.recorder_runs import Ran, plain_environment

pytest.importorskip("jax")

ROOT = Path(__file__).parent.parent


def run_program(text: str, folder: Path) -> Ran:
    """Run a program that imports jitlint itself; a process of its own, as the recorder stays in one for good."""
    (folder / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env=plain_environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_no_retrace_raises_at_the_call_and_says_why(tmp_path: Path) -> None:
    ran = run_program(
        "import jitlint\n"
        "jitlint.watch()\n"
        "import jax, numpy as np\n"
        "@jax.jit\n"
        "def step(x): return x + 1\n"
        "step(np.ones(3))\n"
        "with jitlint.no_retrace():\n"
        "    step(np.ones(3))\n"
        "    try:\n"
        "        step(np.ones(4))\n"
        "    except jitlint.RetraceError as error:\n"
        "        print(error)\n"
        "step(np.ones(5))\n"
        "print('after')\n",
        tmp_path,
    )
    assert ran.code == 0, ran.err
    assert ran.out == (
        f"step was traced at {tmp_path / 'program.py'}:10, where no compilation is allowed:"
        " shape of x: float32[3] → float32[4]\nafter\n"
    )


def test_no_retrace_sees_what_was_jitted_before_it_and_eager_operations(tmp_path: Path) -> None:
    ran = run_program(
        "import jax, numpy as np, jax.numpy as jnp\n"
        "step = jax.jit(lambda x: x + 1)\n"
        "x = jnp.ones(3)\n"
        "import jitlint\n"
        "def attempt(do, **options):\n"
        "    try:\n"
        "        with jitlint.no_retrace(**options): do()\n"
        "    except jitlint.RetraceError as error: return str(error).partition(', where')[0].replace(__file__, 'F')\n"
        "print(attempt(lambda: step(np.ones(6))))\n"
        "print(attempt(lambda: jnp.ones(17)))\n"
        "print(attempt(lambda: jnp.ones(18), eager=False))\n"
        "print(attempt(lambda: step(np.ones(7)), eager=False))\n"
        "print(step(np.ones(6)).shape)\n",
        tmp_path,
    )
    assert ran.code == 0, ran.err
    first, eager, allowed, second, after = ran.out.splitlines()
    assert first.startswith("<lambda> was compiled at F:9")
    assert eager.startswith("the eager operation broadcast_in_dim was compiled at F:10")
    assert allowed == "None"
    assert second.startswith("<lambda> was compiled at F:12")
    assert after == "(6,)"


def test_no_retrace_is_for_its_own_thread_and_ends_with_an_error(tmp_path: Path) -> None:
    ran = run_program(
        "import jitlint, jax, threading, numpy as np\n"
        "f = jax.jit(lambda x: x)\n"
        "try:\n"
        "    with jitlint.no_retrace():\n"
        "        other = threading.Thread(target=lambda: print(f(np.ones(1)))); other.start(); other.join()\n"
        "        raise KeyError\n"
        "except KeyError: print(f(np.ones(2)))\n",
        tmp_path,
    )
    assert (ran.code, ran.out) == (0, "[1.]\n[1. 1.]\n"), ran.err


def test_import_of_jitlint_loads_no_recorder(tmp_path: Path) -> None:
    ran = run_program("import sys, jitlint\nprint([m for m in sys.modules if 'recorder' in m])\n", tmp_path)
    assert ran.out == "[]\n"


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors='NoColor')
def cell(text):
    done = shell.run_cell(text, store_history=True)
    done.raise_error()
cell('%load_ext jitlint')
cell('import jax, numpy as np\\nf = jax.jit(lambda x: x.sum())\\nfor n in (2, 3): f(np.ones(n))')
cell('%jit_report')
cell('%jit_reset')
cell('f(np.ones(4))')
cell('%jit_report')
cell('%reload_ext jitlint')
cell('%jit_report')
cell('%unload_ext jitlint')
print('magic', shell.find_line_magic('jit_report'))
"""


def test_the_notebook_extension(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    ran = run_program(NOTEBOOK, tmp_path)
    assert ran.code == 0, ran.out + ran.err
    first, second, third = ran.out.split(" with jax ")[:3]
    assert "2 traces and" in first
    assert "jax was imported before" not in first
    assert "shape of x: float64" in second or "shape of x: float32[2] → float32[3]" in second
    assert "1 trace and" in second
    assert "In[2]" in second
    assert "magic None" in ran.out
    assert "no process" not in third


def test_the_notebook_extension_after_jax_says_what_it_misses(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    ran = run_program(NOTEBOOK.replace("shell =", "import jax\nshell =", 1), tmp_path)
    assert ran.code == 0, ran.err
    assert "functions that are jitted already are not recorded" in ran.out
    assert "2 traces and" in ran.out
