"""What the recorder costs: the CPU time of 10,000 calls of a jitted function in a process, with and without it.

Run from the checkout: ``python -m benchmarks.recorder_overhead [--rounds N]``. The rounds alternate, and the medians
are compared, as other work on the machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from jitlint.recorder.launch import environment

PROGRAM = """
import time
import jax, numpy as np

@jax.jit
def step(x, y):
    return x * y + 1

x = y = jax.device_put(np.ones(16, np.float32))
for _ in range(10_000):
    y = step(x, y)
y.block_until_ready()
print(time.process_time())
"""


def cpu_seconds(env: dict[str, str]) -> float:
    """The CPU time of the program, from the start of its process."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Print the medians and the overhead."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    plain = {**os.environ, "JAX_PLATFORMS": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        recorded = {**environment(Path(folder)), "JAX_PLATFORMS": "cpu"}
        pairs = [(cpu_seconds(plain), cpu_seconds(recorded)) for _ in range(rounds)]
    before = statistics.median(pair[0] for pair in pairs)
    after = statistics.median(pair[1] for pair in pairs)
    print(f"without the recorder: {before:.3f} s")
    print(f"with the recorder: {after:.3f} s")
    print(f"overhead: {100 * (after / before - 1):.1f} %")


if __name__ == "__main__":
    main()
