# causes: simulate=function
"""A worker wraps the simulator in a partial for each job."""

import jax.numpy as jnp
from worker import Worker

N = 10

worker = Worker()
results = [worker.run({"rate": 0.1 * job}, jnp.ones(3)) for job in range(N)]
print(len(results))
