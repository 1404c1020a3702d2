# causes: encode=shape
"""A server that encodes requests of any length."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


class Server:
    def __init__(self, dim):
        self.table = jnp.ones((100, dim))
        self._encode = jax.jit(self.encode)

    def encode(self, table, ids):
        return table[ids].mean(axis=0)

    def handle(self, request):
        ids = np.array([hash(w) % 100 for w in request.split()], dtype=np.int32)
        return self._encode(self.table, ids)


requests = [" ".join(["word"] * (i + 1)) for i in range(N)]
server = Server(8)
for request in requests:
    out = server.handle(request)
print(out)
