# causes: tick=shape
"""The board is enlarged on the host where life nears the border."""

import jax
import jax.numpy as jnp
import numpy as np

N = 10


@jax.jit
def tick(board):
    n = sum(jnp.roll(jnp.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    return ((n == 3) | (board & (n == 2))).astype(jnp.int32)


board = np.ones((3, 3), dtype=np.int32)
for t in range(N):
    board = np.pad(board, 1)
    board = np.asarray(tick(board))
print(board.shape)
