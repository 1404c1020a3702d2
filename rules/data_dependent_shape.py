"""The size of a result depends on traced data.

Boolean mask indexing (also `x.at[mask].set(v)`), `nonzero`, `unique`, one-argument `where` and their kin give as many
elements as the data says, and a compiled program needs to know. JAX raises `NonConcreteBooleanIndexError` or
`ConcretizationTypeError`.

## Example

```python
@jax.jit
def positive_mean(x):
    return x[x > 0].mean()  # raises NonConcreteBooleanIndexError
```

## Use instead

```python
@jax.jit
def positive_mean(x):
    keep = x > 0
    return jnp.where(keep, x, 0).sum() / keep.sum()
```

or give `size=` to `jnp.nonzero`, `jnp.unique` and the like.

## When it is silent

On three-argument `where`, with `size=` (or `length=`, `total_repeat_length=`) given, on a mask known while tracing.

## Fix safety

The fix writes a masked update or sum as `jnp.where`, which computes every element: it is unsafe where one of those left
out would have failed.
"""

from collections.abc import Iterator

from jitlint.api import Context, DynamicShape, Report, Rule, Severity, is_guarded


def check(event: DynamicShape, ctx: Context) -> Iterator[Report]:
    """Report a result whose size depends on data."""
    if is_guarded(event):
        return
    message = f"the size of the result of {event.what} depends on the traced values in `{ctx.code(event)}`: {event.verb} {event.error}"
    give = f"give `{event.unless[0]}=`" if event.unless else "use `jnp.where(mask, x, fill)`"
    yield Report(event.node, message, give, fix=ctx.mask_fix(event))


RULE = Rule(
    code="JIT107",
    name="data-dependent-shape",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(DynamicShape,),
    check=check,
    fix="unsafe",
)
