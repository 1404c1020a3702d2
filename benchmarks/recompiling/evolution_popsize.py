# causes: fitness=shape
"""IPOP: the population doubles at each restart."""

import jax
import jax.numpy as jnp

N = 6


@jax.jit
def fitness(pop):
    return jnp.sum(pop**2, axis=1)


def run(popsize, generations, key):
    pop = jax.random.normal(key, (popsize, 4))
    for g in range(generations):
        f = fitness(pop)
        best = pop[jnp.argmin(f)]
        pop = best + 0.9 * (pop - best)
    return best


popsize = 4
key = jax.random.key(0)
for restart in range(N):
    best = run(popsize, 5, key)
    popsize *= 2
print(best)
