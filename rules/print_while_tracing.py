"""Traced code prints, logs or shows progress.

Python runs once for each compilation, and so does the `print`: it shows a tracer (`Traced<ShapedArray(float32[])>`)
instead of a value, and nothing at all in later calls.

## Example

```python
@jax.jit
def loss(w):
    value = jnp.sum(w**2)
    print("loss", value)  # loss Traced<ShapedArray(float32[])>, once
    return value
```

## Use instead

```python
@jax.jit
def loss(w):
    value = jnp.sum(w**2)
    jax.debug.print("loss {}", value)
    return value
```

## When it is silent

On `jax.debug.print` with its values as arguments, in callbacks, outside of traced functions, in handlers of exceptions,
and where only static values are logged. A `print` of static values is reported as information: it may be there to show when a function is
compiled.

## Fix safety

The fix replaces `print(…)` of traced values by `jax.debug.print(…)` with placeholders, f-strings taken apart.
It is safe: values appear where tracers did.
"""

from collections.abc import Iterator

from jitlint.api import Context, Effect, Report, Rule, Severity

_ADVICE = {
    "print": "use `jax.debug.print`",
    "log": "log from `jax.debug.callback`, or outside",
    "progress": "show progress outside, or from `jax.debug.callback`",
    "format": 'pass the values as arguments: `jax.debug.print("x = {}", x)`',
    "no-placeholder": "write a `{}` for each value: the format is that of `str.format`",
}


def check(event: Effect, ctx: Context) -> Iterator[Report]:
    """Report output made while tracing."""
    advice, often = _ADVICE.get(event.effect), ctx.how_often(event)
    if advice is None or often is None or event.effect in ("log", "progress") and not event.traced:
        return
    where = ctx.traced_function(event)
    if event.effect == "no-placeholder":
        message = f"`{ctx.code(event)}` has values but no `{{}}` to show them in: raises ValueError"
        yield Report(event.node, message, advice, severity=Severity.ERROR)
    elif event.traced:
        yield Report(
            event.node,
            f"`{ctx.code(event)}` runs while {where} is traced: it shows a tracer, {often}",
            advice,
            fix=ctx.debug_print_fix(event),
        )
    else:
        yield Report(
            event.node,
            f"`{ctx.code(event)}` runs {often} of {where}, not in every call",
            advice,
            severity=Severity.INFO,
        )


RULE = Rule(
    code="JIT404",
    name="print-while-tracing",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(Effect,),
    check=check,
    fix="safe",
)
