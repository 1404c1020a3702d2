"""A traced value is hashed: as a dict key, in a set, or by a cache.

Tracers are not hashable, and JAX raises `TypeError`. An `lru_cache`d function called with a traced argument hashes it.

## Example

```python
@functools.lru_cache
def norm(scale):
    return jnp.sqrt(2 * jnp.pi) * scale

@jax.jit
def density(x, scale):
    return x / norm(scale)  # raises TypeError
```

## Use instead

```python
def norm(scale):
    return jnp.sqrt(2 * jnp.pi) * scale

@jax.jit
def density(x, scale):
    return x / norm(scale)
```

## When it is silent

On static keys.
"""

from collections.abc import Iterator

from jitlint.api import Context, NeedsConcrete, Report, Rule, Severity, is_guarded, setting_help


def check(event: NeedsConcrete, ctx: Context) -> Iterator[Report]:
    """Report a traced value that is hashed."""
    if event.need != "hash" or is_guarded(event):
        return
    what = ctx.code(event)
    inside = event.what in ("a key", "an element")
    found = f"hashes {event.what}, which is traced" if inside else f"is traced and cannot be hashed ({event.what})"
    yield Report(
        event.node,
        f"`{what}` {found}: {event.verb} TypeError",
        setting_help(event, ctx) or "use static keys, or look up with `jnp.where` and arrays",
        fix=ctx.static_fix(event),
    )


RULE = Rule(
    code="JIT112",
    name="hashed-tracer",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(NeedsConcrete,),
    check=check,
    fix="safe",
)
