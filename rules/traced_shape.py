"""A traced value gives a shape, a size, an axis, a count or a slice bound of an array.

Shapes are part of the compiled program, so whatever decides one must be known while tracing. Arithmetic with `jnp` on
static numbers gives a tracer too. JAX raises `TypeError`, `ConcretizationTypeError`, `IndexError`,
`TracerIntegerConversionError` or a `ValueError` about a static argument, by function.

## Example

```python
@jax.jit
def grid(n):
    return jnp.arange(n)  # raises ConcretizationTypeError
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("n",))
def grid(n):
    return jnp.arange(n)
```

`math.prod(x.shape)` in place of `jnp.prod(jnp.array(x.shape))`; `jax.lax.dynamic_slice` for a slice of fixed length at
a traced start.

## When it is silent

On shapes, lengths, constants, static arguments, and `math` or builtins on them.

## Fix safety

Making a setting static is safe.
"""

from collections.abc import Iterator

from jitlint.api import Context, NeedsConcrete, Report, Rule, Severity, is_guarded, setting_help

NEEDS = ("shape", "axis", "size", "count", "index", "dtype", "flag", "order", "array-slice")


def check(event: NeedsConcrete, ctx: Context) -> Iterator[Report]:
    """Report a traced value where the shape of something depends on it."""
    if event.need not in NEEDS or is_guarded(event):
        return
    what = f"`{event.param}` of `{event.what}`" if event.param else event.what
    message = f"{what} must be known while tracing, but `{ctx.code(event)}` is traced: {event.verb} {event.error}"
    other = (
        "use `jax.lax.dynamic_slice` or `jax.lax.dynamic_slice_in_dim`"
        if event.need == "array-slice"
        else "take it from a shape or a static argument; compute with `math` or builtins, not `jnp`"
    )
    yield Report(event.node, message, setting_help(event, ctx) or other, fix=ctx.static_fix(event))


RULE = Rule(
    code="JIT105",
    name="traced-shape",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(NeedsConcrete,),
    check=check,
    fix="safe",
)
