"""A static argument takes a new value in every turn of a loop, or in call after call.

Each value of a static argument is compiled on its own. An index, a learning rate or a schedule as a static argument
compiles in every turn.

## Example

```python
@partial(jax.jit, static_argnames=("lr",))
def step(w, grad, lr):
    return w - lr * grad

for i in range(100):
    w = step(w, grad, lr=0.1 / (i + 1))  # compiles 100 times
```

## Use instead

```python
@jax.jit
def step(w, grad, lr):
    return w - lr * grad
```

## When it is silent

On two or three known values (or as many as the option `max-variants` says), on the sizes of shares of a whole
(`min(size, total - start)` over `range(0, total, size)`: two values), on flags, names and enum members, and on the axes of
arrays.

## Fix safety

There is no automatic fix: the parameter can be traced only where nothing in the function needs its value.
"""

from collections.abc import Iterator

from jitlint.api import Context, EntryCall, Report, Rule, Severity

_AXES = {"axis", "axes", "ax", "dim", "dims", "dimension", "axis_index"}
"""Names of parameters that have as many values as an array has axes, and must be static."""


def check(event: EntryCall, ctx: Context) -> Iterator[Report]:
    """Report a static parameter whose value keeps changing."""
    for cause in ctx.changing(event):
        many = cause.count.number is None or cause.count.number > ctx.limits.variants
        if cause.kind != "static" or not many or cause.setting or not (cause.loop or ctx.python_numbers(cause)):
            continue
        if cause.part.param in _AXES:
            continue
        name = f"`{cause.part.param}{cause.part.path}` of `{event.entry.name}`"
        yield Report(
            event.node,
            f"{name} is static, and its value changes{ctx.over(cause)}: {cause.count.compilations}",
            "give it as an array, since `filter_jit` traces nothing else"
            if event.entry.kind == "filter_jit"
            else f"take `{cause.part.param}` out of the static arguments where nothing needs its value while tracing",
            trace=ctx.cause_steps(event, cause),
            properties={"variants": cause.count.text},
        )
    outer = ctx.recursion(event)
    if outer is not None:
        yield Report(
            event.node,
            f"`{event.entry.name}` calls itself with another value of its static `{outer}`: one compilation per level",
            "use a loop, or recurse in a function that is not jitted",
            trace=ctx.path(event),
        )


RULE = Rule(
    code="JIT204", name="varying-static", severity=Severity.WARNING, since="0.1.0", on=(EntryCall,), check=check
)
