"""A traced value bounds a Python loop or repeats a list.

`range(n)`, `itertools` counts, `[x] * n` and slices of Python sequences need a Python int. A traced value has none, and
JAX raises `TracerIntegerConversionError`.

## Example

```python
@jax.jit
def power(x, n):
    y = x
    for _ in range(n):  # raises TracerIntegerConversionError
        y = y * x
    return y
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("n",))
def power(x, n):
    y = x
    for _ in range(n):
        y = y * x
    return y
```

or `jax.lax.fori_loop(0, n, body, x)`, which takes a traced bound.

## When it is silent

On bounds that come from shapes, lengths, constants and static arguments.

## Fix safety

The fix makes the parameter static, where every call passes a Python int of few values; it is safe.
"""

from collections.abc import Iterator

from jitlint.api import Context, NeedsConcrete, Report, Rule, Severity, is_guarded, setting_help


def check(event: NeedsConcrete, ctx: Context) -> Iterator[Report]:
    """Report a traced bound."""
    if event.need not in ("range", "repeat", "list-slice") or is_guarded(event):
        return
    message = f"{event.what} needs a Python int, but `{ctx.code(event)}` is traced: {event.verb} {event.error}"
    yield Report(
        event.node,
        message,
        setting_help(event, ctx) or "use `jax.lax.fori_loop`, or take the bound from a shape",
        fix=ctx.static_fix(event),
    )


RULE = Rule(
    code="JIT103",
    name="traced-loop-bound",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(NeedsConcrete,),
    check=check,
    fix="safe",
)
