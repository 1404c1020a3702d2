# causes: energy=function
import jax
import jax.numpy as jnp

N = 10


def energy(q):
    return jnp.sum(q**4 - q**2)


def leapfrog(q, p, dt):
    p = p - dt * jax.jit(jax.grad(energy))(q)
    return q + dt * p, p


q, p = jnp.ones(3), jnp.zeros(3)
for _ in range(N):
    q, p = leapfrog(q, p, 0.01)
print(q)
