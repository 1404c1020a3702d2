"""An item of a jax array is assigned in place.

jax arrays are immutable: `x[i] = v` raises `TypeError`, inside jit and outside. On a numpy array inside jit a traced
value or index raises too.

## Example

```python
def clear(x):
    x[0] = 0.0  # raises TypeError
    return x
```

## Use instead

```python
def clear(x):
    x = x.at[0].set(0.0)
    return x
```

## When it is silent

On numpy arrays with host values, lists and dicts.

## Fix safety

`x = x.at[i].set(v)` is what was meant, and safe.
"""

from collections.abc import Iterator

from jitlint.api import Context, ItemAssignment, Report, Rule, Severity


def check(event: ItemAssignment, ctx: Context) -> Iterator[Report]:
    """Report an in-place update of an array."""
    target = ctx.code(event)
    if event.kind == "numpy":
        yield Report(
            event.node,
            f"`{target}` is an item of a numpy array, which cannot hold a traced value: {event.verb} ValueError or "
            "TracerArrayConversionError",
            "make the array with `jax.numpy` and use `.at[].set()`",
        )
        return
    yield Report(
        event.node,
        f"jax arrays are immutable: assigning to `{target}` {event.verb} TypeError",
        "use `x = x.at[i].set(v)`",
        fix=ctx.at_fix(event),
    )


RULE = Rule(
    code="JIT110",
    name="array-item-assignment",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(ItemAssignment,),
    check=check,
    fix="safe",
)
