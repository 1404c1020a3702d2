"""A jitted function returns something that is no array.

The result of a jitted function must be arrays, numbers or pytrees of them. A string, a function or an unregistered
object raises `TypeError` at the call.

## Example

```python
@jax.jit
def diagnose(x):
    return {"max": x.max(), "status": "ok"}

diagnose(x)  # raises TypeError
```

## Use instead

```python
@jax.jit
def diagnose(x):
    return {"max": x.max()}
```

## When it is silent

On `None`, numbers and pytrees.
"""

from collections.abc import Iterator

from jitlint.api import BadResult, Context, Report, Rule, Severity


def check(event: BadResult, ctx: Context) -> Iterator[Report]:
    """Report a result that JAX does not give."""
    yield Report(
        event.node,
        f"{event.returned_by} returns {event.what.rstrip(',')}, no array: {event.verb} TypeError",
        "return arrays only, and add the rest outside",
    )


RULE = Rule(
    code="JIT109", name="non-array-result", severity=Severity.ERROR, since="0.1.0", on=(BadResult,), check=check
)
