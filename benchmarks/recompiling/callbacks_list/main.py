# causes: mean_abs=function
import jax.numpy as jnp
from hooks import Norm
from runner import Runner

N = 10

Runner([Norm()]).run(jnp.ones(3), N)
