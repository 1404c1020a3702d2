"""A transform is given something that it never takes: an integer to differentiate, a vector as predicate.

`jax.grad` needs real or complex inputs and a scalar result; `jax.lax.cond` needs a scalar predicate and two functions.
Anything else raises `TypeError` when the transform is called, in traced code and outside.

## Example

```python
loss = lambda w: w * 2.0
jax.grad(loss)(3)  # raises TypeError: an int
jax.grad(loss)(jnp.ones(3))  # raises TypeError: the result has shape (3,)
```

## Use instead

```python
loss = lambda w: (w * 2.0).sum()
jax.grad(loss)(3.0)
jax.grad(loss)(jnp.ones(3))
```

## When it is silent

With `allow_int=True`, on `jacfwd` and `jacrev` of vector functions, and wherever shape or dtype is not known.
"""

from collections.abc import Iterator

from jitlint.api import Context, Misuse, Report, Rule, Severity

MESSAGES = {
    "grad-of-int": (
        "`{what}` differentiates by an argument of type {detail}",
        "pass a float, or name another argument in `argnums`",
    ),
    "grad-of-vector": (
        "`{what}` needs a scalar result, but this one has shape {detail}",
        "take a sum or a mean, or use `jax.jacrev`",
    ),
    "predicate": (
        "the predicate of `{what}` must be a scalar, but it is {detail}",
        "use `jnp.where`, or `.any()` or `.all()`",
    ),
    "no-function": (
        "`{detail}` of `{what}` must be a function, but a value is given",
        "pass functions: `lambda: value`",
    ),
}


def check(event: Misuse, ctx: Context) -> Iterator[Report]:
    """Report what the transform refuses."""
    message, advice = MESSAGES[event.problem]
    yield Report(event.node, f"{message.format(what=event.what, detail=event.detail)}: {event.verb} TypeError", advice)


RULE = Rule(code="JIT115", name="transform-misuse", severity=Severity.ERROR, since="0.1.0", on=(Misuse,), check=check)
