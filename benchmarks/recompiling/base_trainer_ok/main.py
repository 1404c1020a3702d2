# causes: update=
import jax.numpy as jnp
from trainer import SGDTrainer

N = 10

trainer = SGDTrainer(lr=0.1, params=jnp.ones(3))
trainer.fit(jnp.ones((4, 3)), epochs=N)
print(trainer.params)
