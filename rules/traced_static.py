"""A traced value is given to a static parameter of an inner jitted function.

A static parameter needs a hashable Python value; a tracer of the outer trace is none, and JAX raises `ValueError`.

## Example

```python
@functools.partial(jax.jit, static_argnames=("order",))
def basis(x, *, order): ...

@jax.jit
def fit(x, order):
    return basis(x, order=order)  # raises ValueError
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("order",))
def fit(x, order):
    return basis(x, order=order)
```

## When it is silent

Where a static argument is forwarded to a static parameter.

## Fix safety

Making the outer parameter static is safe where it is a setting.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, StaticArgument


def check(event: StaticArgument, ctx: Context) -> Iterator[Report]:
    """Report a tracer given to a static parameter."""
    if event.problem != "traced":
        return
    fix = ctx.static_fix(event)
    inner = event.entry.name
    yield Report(
        event.node,
        f"{event.what} is given to `{event.param}` of `{inner}`, which is static: "
        f"{event.verb} ValueError",
        fix.message if fix is not None else f"make `{event.param}` of `{inner}` traced, or the value static",
        fix=fix,
    )


RULE = Rule(
    code="JIT203",
    name="traced-static",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(StaticArgument,),
    check=check,
    fix="safe",
)
