"""A string, a function or another object that is no pytree is passed to a traced parameter, or a list for an array.

The arguments of a jitted function must be arrays, numbers or pytrees of them. Anything else raises `TypeError` at the
call ("not a valid JAX type"). Unlike NumPy, the functions of `jax.numpy` take no lists for arrays: `jnp.sum([a, b])`
raises `TypeError` too, under `jax.jit` and outside.

## Example

```python
@jax.jit
def reduce(x, how):
    return x.sum() if how == "sum" else x.mean()

reduce(x, "sum")  # raises TypeError

total = jnp.sum([loss, penalty])  # raises TypeError
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("how",))
def reduce(x, how):
    return x.sum() if how == "sum" else x.mean()

total = jnp.sum(jnp.asarray([loss, penalty]))  # or `loss + penalty`
```

## When it is silent

On `jax.tree_util.Partial`, registered pytrees, `None`, and defaults that no call overrides; on functions that do take
lists, such as `jnp.array` and `jnp.stack`.

## Fix safety

Making the parameter static is safe where every call passes a hashable value without arrays. Making an array of a list
is safe where its items are known to have one shape.
"""

from collections.abc import Iterator

from jitlint.api import ArrayWanted, BadArgument, Context, Report, Rule, Severity


def check(event: ArrayWanted | BadArgument, ctx: Context) -> Iterator[Report]:
    """Report an argument that JAX does not take."""
    if isinstance(event, ArrayWanted):
        message = f"`{event.what}` takes arrays, not {event.found}: {event.verb} {event.error}"
        yield Report(event.node, message, _advice(event), fix=ctx.array_fix(event))
        return
    if event.receiver:
        return
    which = f"`{event.param}` of `{event.callee}`" if event.param else f"an argument of `{event.callee}`"
    fix = ctx.static_fix(event)
    help_ = (
        f"make it static: `static_argnames=({event.param!r},)`"
        if fix is not None
        else "pass arrays and pytrees of arrays; bind the rest with `functools.partial`"
    )
    yield Report(
        event.node,
        f"{event.what} is passed to {which}, which is traced: {event.verb} {event.error}",
        help_,
        fix=fix,
    )


def _advice(event: ArrayWanted) -> str:
    if event.numbers:
        return "compute it with `math` or builtins"
    return "make a list of it" if event.found == "an iterator" else "make an array of it"


RULE = Rule(
    code="JIT108",
    name="non-array-argument",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(ArrayWanted, BadArgument),
    check=check,
    fix="safe",
)
