"""A PRNG key is used twice.

`jax.random` functions have no state: the same key gives the same numbers. A key that was drawn from, or split, must
not be used again.

## Example

```python
noise = jax.random.normal(key, x.shape)
mask = jax.random.bernoulli(key, 0.5, x.shape)  # not independent of `noise`
```

## Use instead

```python
noise_key, mask_key = jax.random.split(key)
noise = jax.random.normal(noise_key, x.shape)
mask = jax.random.bernoulli(mask_key, 0.5, x.shape)
```

In a loop, `key, sub = jax.random.split(key)` gives a new key in each turn, and `jax.random.fold_in(key, i)` one for
each index.

## When it is silent

On branches that exclude each other, and draws masked by tests for different values (`draw * (kind == 0)`), on `fold_in`,
`clone` and `key_data`, and on keys passed to functions of which nothing is known.
"""

from collections.abc import Iterator

from jitlint.api import Context, KeyReuse, Report, Rule, Severity


def check(event: KeyReuse, ctx: Context) -> Iterator[Report]:
    """Report the second use."""
    if event.how == "loop":
        message = f"`{ctx.code(event)}` uses the same key in each turn of the loop: the same numbers come out each time"
        advice = "split the key in each turn, or use `jax.random.fold_in(key, i)`"
    elif event.how == "jit":
        if event.entry is None or len(event.entry.calls) < 2:
            return
        message = f"`{ctx.code(event)}` uses a key that `{event.entry.name}` captures: each call gives the same numbers"
        advice = "pass the key as an argument, and a new one in each call"
    elif event.how == "kept":
        message = f"`{ctx.code(event)}` uses a key that the object keeps: every call gives the same numbers"
        advice = "split the key in each call, and keep one part: `self.key, sub = jax.random.split(self.key)`"
    else:
        row = ctx.span(event.first_unit, event.first).row
        message = f"`{ctx.code(event)}` uses a key that was used in line {row}: the numbers are not independent"
        advice = "split the key, and use each part once"
    step = "called again here" if event.how == "kept" else "used first here"
    yield Report(event.node, message, advice, trace=(ctx.step(step, event.first, event.first_unit),))


RULE = Rule(
    code="JIT410",
    name="key-reuse",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(KeyReuse,),
    check=check,
)
