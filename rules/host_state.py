"""Traced code reads a clock, host randomness, the environment, a file or an iterator.

Python runs once for each compilation, and what it reads becomes a constant of the compiled program: every later call
adds the same noise, sees the same time, takes the same batch.

## Example

```python
@jax.jit
def augment(image):
    return image + np.random.normal(size=image.shape)  # the same noise in every call
```

## Use instead

```python
@jax.jit
def augment(key, image):
    return image + jax.random.normal(key, image.shape)
```

Read clocks, the environment, files and iterators outside, and pass what was read as an argument.

## When it is silent

Outside of traced functions, in the bodies of `jax.debug.callback`, `jax.pure_callback` and
`jax.experimental.io_callback`, on a generator made from a fixed seed in the traced function itself, on iterators made
there, and on the environment under `vmap` that is not jitted.
"""

from collections.abc import Iterator

from jitlint.api import Context, Effect, Report, Rule, Severity

_WHAT = {
    "clock": ("reads the clock", "read it outside, and wait for the result with `block_until_ready` first"),
    "random": ("draws random numbers", "use `jax.random` with a key passed as an argument"),
    "env": ("reads the environment", "read it outside, and pass what was read as an argument"),
    "io": ("opens a file or stream", "do it outside, or in `jax.experimental.io_callback`"),
    "iterator": (
        "takes an element of an iterator made outside",
        "take it outside and pass it as an argument, or stack the elements and `jax.lax.scan` over them",
    ),
}


def check(event: Effect, ctx: Context) -> Iterator[Report]:
    """Report reads of host state."""
    if event.effect == "env" and not ctx.is_compiled(event):
        return  # the environment is the same for the whole batch
    found, often = _WHAT.get(event.effect), ctx.how_often(event)
    if found is not None and often is not None:
        does, advice = found
        yield Report(
            event.node,
            f"`{ctx.code(event)}` {does} while {ctx.traced_function(event)} is traced: {often}, and all get the same",
            advice,
        )


RULE = Rule(
    code="JIT403",
    name="host-state",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(Effect,),
    check=check,
)
