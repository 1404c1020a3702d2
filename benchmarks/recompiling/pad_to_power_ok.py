# causes: loss=
"""Batches are padded to one length."""

import jax
import jax.numpy as jnp
import numpy as np

N = 12
LONGEST = 32


@jax.jit
def loss(emb, tokens, mask):
    h = emb[tokens]
    return jnp.sum(h * mask[..., None]) / mask.sum()


def collate(seqs):
    out = np.zeros((len(seqs), LONGEST), dtype=np.int32)
    mask = np.zeros((len(seqs), LONGEST), dtype=np.float32)
    for i, s in enumerate(seqs):
        out[i, : len(s)] = s
        mask[i, : len(s)] = 1
    return out, mask


emb = jnp.ones((10, 4))
data = [[[1] * (k + 1), [2] * (k + 2)] for k in range(N)]
for seqs in data:
    tokens, mask = collate(seqs)
    value = loss(emb, tokens, mask)
print(value)
