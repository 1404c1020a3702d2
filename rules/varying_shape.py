"""The shape of an argument changes over a loop.

Each shape is compiled on its own. A slice `x[:i]`, a concatenation that grows, a selection by a mask on the host, or
the last batch that is smaller than the others gives a new shape and a new compilation.

## Example

```python
history = jnp.zeros(1)
for t in range(100):
    bound = ucb(history)  # compiles in every turn
    history = jnp.concatenate([history, bound[None]])
```

## Use instead

```python
history = jnp.zeros(100)
for t in range(100):
    bound = ucb(history, t)  # looks at history[:t] by a mask
    history = history.at[t].set(bound)
```

## When it is silent

On padded or bucketed arrays, on the levels of a pyramid (each half as large as the one before), and on other shapes at
other calls.

## Fix safety

There is no automatic fix.
"""

from collections.abc import Iterator

from jitlint.api import Context, EntryCall, Report, Rule, Severity


def check(event: EntryCall, ctx: Context) -> Iterator[Report]:
    """Report an argument whose shape changes."""
    for cause in ctx.changing(event):
        if cause.kind != "shape" or cause.loop is None or not cause.count.many or cause.levels:
            continue
        shapes = ", ".join(v for v in cause.values[:3] if "?" not in v and "some" not in v)
        seen = f" ({shapes}{', …' if len(cause.values) > 3 else ''})" if shapes else ""
        name = f"`{cause.part.param}{cause.part.path}` of `{event.entry.name}`"
        known = cause.count.exact or cause.count.number is not None
        programs = cause.count.compilations if known else "one compilation for each shape"
        yield Report(
            event.node,
            f"the shape of {name} changes{ctx.over(cause)}{seen}: {programs}",
            "pad it to one shape (or to a few), and pass the length or a mask",
            trace=ctx.cause_steps(event, cause),
            properties={"variants": cause.count.text},
        )
        return


RULE = Rule(code="JIT304", name="varying-shape", severity=Severity.WARNING, since="0.1.0", on=(EntryCall,), check=check)
