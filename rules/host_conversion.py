"""A traced value is converted to a Python number, to numpy or to text.

`int`, `float`, `complex`, `.item()`, `.tolist()`, `math.*`, most of `np.*` and a format spec need the value itself,
which does not exist while tracing: JAX raises `ConcretizationTypeError`, `TracerArrayConversionError` or `TypeError`.
A numpy array indexed by a traced value fails the same way.

## Example

```python
@jax.jit
def scale(x):
    return x / np.sqrt(x.shape[0]) * np.sin(x)  # np.sin raises TracerArrayConversionError
```

## Use instead

```python
@jax.jit
def scale(x):
    return x / np.sqrt(x.shape[0]) * jnp.sin(x)
```

`jnp` for `np` on traced values, `x.astype(int)` for `int(x)`, `jnp.asarray(table)[i]` for a numpy table.

## When it is silent

On shapes and static values; outside traced functions; on the numpy functions that only call a method of the tracer
(`np.sum`, `np.mean`, `np.reshape` and some twenty more work).

## Fix safety

Where the value is a Python setting the fix makes it static, which is safe. `jnp.` for `np.` and `x.astype(int)` for
`int(x)` are unsafe: they give a jax array, in 32 bits unless jax is told otherwise.
"""

from collections.abc import Iterator

from jitlint.api import Context, NeedsConcrete, Report, Rule, Severity, is_guarded, setting_help

NEEDS = ("convert", "item", "numpy", "math", "format", "attribute", "numpy-index", "iterate")
ADVICE = {
    "convert": "keep it an array: `x.astype(int)`, `jnp.float32(x)`; convert after the jitted call",
    "item": "return the array, and take the value after the jitted call",
    "numpy": "use the function of `jax.numpy`",
    "math": "use the function of `jax.numpy`",
    "format": 'use `jax.debug.print("{x:.3f}", x=x)`',
    "attribute": "do this outside the traced function",
    "iterate": "a scalar has no length and no elements; index or reshape it where it should be a vector",
    "numpy-index": "index a jax array: `jnp.asarray(table)[i]`",
}


def check(event: NeedsConcrete, ctx: Context) -> Iterator[Report]:
    """Report a conversion that needs the value."""
    if event.need not in NEEDS or is_guarded(event):
        return
    how = "cannot format" if event.need == "format" else "needs the value of"
    message = f"{event.what} {how} `{ctx.code(event)}`, which is traced: {event.verb} {event.error}"
    fix = ctx.static_fix(event) or ctx.conversion_fix(event)
    yield Report(event.node, message, setting_help(event, ctx) or ADVICE[event.need], fix=fix)


RULE = Rule(
    code="JIT104",
    name="host-conversion",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(NeedsConcrete,),
    check=check,
    fix="safe",
)
