"""A traced value is stored where it outlives its trace, or is used after it.

The store is silent. What is stored is a tracer, not a value: using it in another trace or outside raises
`UnexpectedTracerError` (or a conversion error). Caches that are filled while tracing (`functools.lru_cache`,
`functools.cached_property`, a dict kept by the module) keep tracers even of constants, since under `jax.jit` every
jax operation gives one.

## Example

```python
class Scaler:
    def __init__(self):
        self.scale = jnp.float32(1.0)

    @functools.partial(jax.jit, static_argnames="self")
    def update(self, grads):
        self.scale = self.scale * grads.max()  # a tracer
        return grads / self.scale
```

## Use instead

```python
@jax.jit
def update(scale, grads):
    scale = scale * grads.max()
    return grads / scale, scale
```

Fill caches before tracing, with numpy arrays, or under `jax.ensure_compile_time_eval()`.

## When it is silent

On values that are returned, on caches of what is no jax array, and on attributes that are set once more before anybody
reads them.
"""

from collections.abc import Iterator

from jitlint.api import Context, LeakedUse, OuterWrite, Report, Rule, Severity


def check(event: OuterWrite | LeakedUse, ctx: Context) -> Iterator[Report]:
    """Report stores of tracers, and the use of leaked ones."""
    if isinstance(event, LeakedUse):
        yield Report(
            event.node,
            f"`{ctx.code(event)}` uses a value that was traced earlier, and is no value outside of its trace: "
            f"{event.verb} {event.error}",
            "return the value from the traced function instead of storing it",
            severity=Severity.ERROR,
            trace=ctx.origin_path(event.source),
        )
    elif event.leaf is not None and not event.argument and not event.replaced:
        if event.kind == "cache":
            message = f"`{event.name}` is filled while {ctx.traced_function(event)} is traced, and keeps a tracer"
            advice = "fill the cache before tracing, with numpy arrays, or under `jax.ensure_compile_time_eval()`"
        else:
            message = (
                f"`{ctx.code(event)}` stores a traced value of {ctx.traced_function(event)} where it outlives "
                "the trace: its use raises UnexpectedTracerError"
            )
            advice = "return the value and store it outside"
        yield Report(event.node, message, advice)


RULE = Rule(
    code="JIT406",
    name="leaked-tracer",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(OuterWrite, LeakedUse),
    check=check,
)
