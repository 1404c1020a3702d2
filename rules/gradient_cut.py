"""A value under `jax.grad` is converted to a Python number, and the gradient through it is lost.

Under plain `jax.grad` (without `jax.jit`) values are concrete, so `int(x)` and `x.item()` run. What they give is a
Python number that is no longer differentiated: the gradient comes out as if it were a constant.

## Example

```python
def f(w):
    return w * w.item()


jax.grad(f)(3.0)  # 3.0, not 6.0
```

## Use instead

```python
def f(w):
    return w * w


jax.grad(f)(3.0)  # 6.0
```

Where the value is meant to be a constant, `jax.lax.stop_gradient(w)` says so, and works under `jax.jit` as well.

## When it is silent

On arguments that are not differentiated, on shapes and sizes, and outside of gradients.
"""

from collections.abc import Iterator

from jitlint.api import Context, GradientCut, Report, Rule, Severity


def check(event: GradientCut, ctx: Context) -> Iterator[Report]:
    """Report a conversion that drops the gradient."""
    yield Report(
        event.node,
        f"`{ctx.code(event)}` makes a Python number of a differentiated value: the gradient through it is lost",
        "compute with the array, or say `jax.lax.stop_gradient` where a constant is meant",
    )


RULE = Rule(
    code="JIT412",
    name="gradient-cut",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(GradientCut,),
    check=check,
)
