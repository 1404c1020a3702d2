"""A static argument is equal only to itself, and is made anew for each call.

A lambda, a local function, a `partial`, an optimizer made of closures, or an object with the default `__hash__` is
never equal to the one of the call before. JAX compiles again, and keeps every one of them alive. The same holds for
the static fields of a pytree.

## Example

```python
for fold in folds:
    opt = make_optimizer(1e-2)  # new closures
    params = step(opt, params)  # static_argnames=("opt",): compiles for each fold
```

## Use instead

```python
opt = make_optimizer(1e-2)
for fold in folds:
    params = step(opt, params)
```

## When it is silent

On functions of a module, on objects made once, and on those that compare by value (frozen dataclasses, tuples, enums).

## Fix safety

There is no automatic fix.
"""

from collections.abc import Iterator

from jitlint.api import Context, EntryCall, Report, Rule, Severity


def check(event: EntryCall, ctx: Context) -> Iterator[Report]:
    """Report a static argument that is made anew."""
    for cause in ctx.changing(event):
        made = ctx.made_anew(cause)
        if cause.kind != "fresh" or made is None or not cause.count.many:
            continue
        what = cause.values[0] if cause.values else "object"
        name = f"`{cause.part.param}{cause.part.path}` of `{event.entry.name}`"
        field = cause.part.kind == "meta"
        yield Report(
            made[0] if field else event.node,
            f"{name} is static and holds a {what} that is new{ctx.over(cause)}: {cause.count.compilations}",
            "make it once and pass the same object",
            trace=ctx.cause_steps(event, cause),
            properties={"variants": cause.count.text},
            unit=made[1] if field else None,
        )


RULE = Rule(code="JIT205", name="fresh-static", severity=Severity.WARNING, since="0.1.0", on=(EntryCall,), check=check)
