"""A buffer that was donated to a jitted call is used again.

`donate_argnums` and `donate_argnames` let JAX write the result into the buffer of an argument. The array passed is
deleted by that, and so is every other name for it: using it raises `RuntimeError` (or `ValueError`, when it is passed
to another jitted call). The indices count static arguments, and arguments passed by keyword are donated too. What was
donated on one of several ways through the program *may* be deleted, and so may what nothing is known of.

## Example

```python
@functools.partial(jax.jit, donate_argnums=0)
def step(w, g):
    return w - 0.1 * g


new = step(w, g)
drift = new - w  # raises RuntimeError: the buffer of `w` is gone
```

## Use instead

```python
before = w.copy()
w = step(w, g)
drift = w - before
```

Or do not donate.

## When it is silent

Where the name is assigned the result, where no result can take the buffer over, on numpy arrays, on what is read
without its data (`x.shape`, `x.is_deleted()`), and under an outer `jax.jit`, which drops the donation.
"""

from collections.abc import Iterator

from jitlint.api import Context, DonatedUse, Report, Rule, Severity


def check(event: DonatedUse, ctx: Context) -> Iterator[Report]:
    """Report the use of a deleted buffer."""
    if event.how == "twice":
        name = event.entry.name if event.entry is not None else "the call"
        message = f"`{ctx.code(event)}` donates a buffer to `{name}` that is also passed as `{event.name}`: raises"
        advice = "pass a copy, or do not donate"
    else:
        raises = "raises ValueError" if event.how == "again" else "raises RuntimeError"
        row = f" in line {event.source.unit.span(event.source.node).row}" if event.source is not None else ""
        can = "may have been" if event.possible else "was"
        message = f"`{ctx.code(event)}` uses a buffer that {can} donated{row}, and is deleted: {raises}"
        advice = "use the result of that call, copy the array before it, or do not donate"
    yield Report(
        event.node,
        message,
        advice,
        trace=ctx.origin_path(event.source),
    )


RULE = Rule(
    code="JIT408",
    name="donated-reuse",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(DonatedUse,),
    check=check,
)
