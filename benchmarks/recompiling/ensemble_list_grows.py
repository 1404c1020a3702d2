# causes: average=structure
import jax

N = 10


@jax.jit
def average(members):
    return sum(members) / len(members)


members = []
for seed in range(N):
    members.append(jax.random.normal(jax.random.PRNGKey(seed), (4,)))
    mean = average(members)
print(mean)
