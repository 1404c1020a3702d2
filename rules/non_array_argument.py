"""A string, a function or another object that is no pytree is passed to a traced parameter.

The arguments of a jitted function must be arrays, numbers or pytrees of them. Anything else raises `TypeError` at the
call ("not a valid JAX type").

## Example

```python
@jax.jit
def reduce(x, how):
    return x.sum() if how == "sum" else x.mean()

reduce(x, "sum")  # raises TypeError
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("how",))
def reduce(x, how):
    return x.sum() if how == "sum" else x.mean()
```

## When it is silent

On `jax.tree_util.Partial`, registered pytrees, `None`, and defaults that no call overrides.

## Fix safety

Making the parameter static is safe where every call passes a hashable value without arrays.
"""

from collections.abc import Iterator

from jitlint.api import BadArgument, Certainty, Context, Report, Rule, Severity


def check(event: BadArgument, ctx: Context) -> Iterator[Report]:
    """Report an argument that JAX does not take."""
    if event.receiver:
        return
    which = f"`{event.param}` of `{event.callee}`" if event.param else f"an argument of `{event.callee}`"
    fix = ctx.static_fix(event)
    help_ = (
        f"make it static: `static_argnames=({event.param!r},)`"
        if fix is not None
        else "pass arrays and pytrees of arrays; bind the rest with `functools.partial`"
    )
    verb = "may raise" if event.possible else "raises"
    yield Report(
        event.node,
        f"{event.what} is passed to {which}, which is traced: {verb} {event.error}",
        help_,
        certainty=Certainty.POSSIBLE if event.possible else None,
        fix=fix,
    )


RULE = Rule(
    code="JIT108",
    name="non-array-argument",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(BadArgument,),
    check=check,
    fix="safe",
)
