"""A traced value indexes a Python list or tuple.

A list is indexed by Python while tracing and needs an int; a tracer has none, and JAX raises
`TracerIntegerConversionError`.

## Example

```python
RATES = [0.1, 0.05, 0.01]

@jax.jit
def step(w, g, phase):
    return w - RATES[phase] * g  # raises TracerIntegerConversionError
```

## Use instead

```python
RATES = jnp.array([0.1, 0.05, 0.01])

@jax.jit
def step(w, g, phase):
    return w - RATES[phase] * g
```

`jax.lax.switch` for a list of functions; `static_argnames` where the index is a setting.

## When it is silent

On a traced index into a jax array, and on static indices.

## Fix safety

Making a setting static is safe.
"""

from collections.abc import Iterator

from jitlint.api import Context, NeedsConcrete, Report, Rule, Severity, is_guarded, setting_help


def check(event: NeedsConcrete, ctx: Context) -> Iterator[Report]:
    """Report a traced index into a Python sequence."""
    if event.need != "list-index" or is_guarded(event):
        return
    message = f"{event.what} must be a Python int, but it is traced in `{ctx.code(event)}`: {event.verb} {event.error}"
    yield Report(
        event.node,
        message,
        setting_help(event, ctx) or "make it a jax array, or use `jax.lax.switch`",
        fix=ctx.static_fix(event),
    )


RULE = Rule(
    code="JIT106",
    name="traced-index-of-sequence",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(NeedsConcrete,),
    check=check,
    fix="safe",
)
