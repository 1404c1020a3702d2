# causes: forces=shape
"""Simulation: particles that left the box are removed on the host."""

import jax
import numpy as np

N = 8


@jax.jit
def forces(pos):
    d = pos[:, None] - pos[None]
    return d.sum(1)


rng = np.random.default_rng(0)
pos = rng.uniform(-1, 1, size=(200, 2)).astype(np.float32)
for t in range(N):
    f = np.asarray(forces(pos))
    pos = pos + 0.001 * f + rng.normal(size=pos.shape).astype(np.float32) * 0.2
    inside = np.abs(pos).max(axis=1) < 1.5
    pos = pos[inside]
print(pos.shape)
