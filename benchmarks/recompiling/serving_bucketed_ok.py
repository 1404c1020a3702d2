# causes: encode=
"""A server that pads requests to one length."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10
LENGTH = 32


class Server:
    def __init__(self, dim):
        self.table = jnp.ones((100, dim))
        self._encode = jax.jit(self.encode)

    def encode(self, table, ids, mask):
        return (table[ids] * mask[:, None]).sum(axis=0) / mask.sum()

    def handle(self, request):
        words = request.split()[:LENGTH]
        ids = np.zeros(LENGTH, dtype=np.int32)
        ids[: len(words)] = [hash(w) % 100 for w in words]
        mask = (np.arange(LENGTH) < len(words)).astype(np.float32)
        return self._encode(self.table, ids, mask)


requests = [" ".join(["word"] * (i + 1)) for i in range(N)]
server = Server(8)
for request in requests:
    out = server.handle(request)
print(out)
