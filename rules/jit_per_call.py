"""A function makes a jitted callable, uses it and throws it away, and is itself called again and again.

Every call of the function makes a new lambda, local function, `partial`, `grad` result or bound method, and JAX, which
keeps compiled programs by the identity of the function, compiles again each time.

## Example

```python
def ascend(theta, x):
    return theta + 0.1 * jax.jit(jax.grad(log_lik))(theta, x)  # compiles in every call

for _ in range(100):
    theta = ascend(theta, x)
```

## Use instead

```python
grad_log_lik = jax.jit(jax.grad(log_lik))

def ascend(theta, x):
    return theta + 0.1 * grad_log_lik(theta, x)
```

## When it is silent

On functions called once, on jitted callables that are kept (on `self`, in a cache, behind `lru_cache`, returned by a
factory that is called once), and on `jax.jit(f)` of a function that stays the same.

## Fix safety

The callable is made once, above the function or class, where nothing in it depends on the function: it then reads only
what the module binds once, before. That is safe. Elsewhere there is no automatic fix: where to keep the callable is
yours to say.
"""

from collections.abc import Iterator

from jitlint.api import Certainty, Context, Report, Rule, Severity, Site


def check(event: Site, ctx: Context) -> Iterator[Report]:
    """Report a jitted callable that is made anew by each call of a function."""
    found = ctx.remade(event)
    if found is None or found.loop is not None:
        return
    given = ctx.handed_over(event)
    for node, unit in given:
        yield Report(
            node,
            f"what this call jits is a {found.why} that is new each time: {found.count.compilations}",
            "make it once, and give it what changes as arguments",
            certainty=Certainty.POSSIBLE if found.root or not found.count.exact else None,
            trace=(ctx.step("jitted here", event.node, event.unit), *ctx.loop_steps(found)),
            properties={"variants": found.count.text},
            unit=unit,
        )
    if given:
        return
    where = found.root or (event.entry.frame.qualname if event.entry.frame is not None else "")
    name = f"`{where.split('.<')[0]}`" if where else "the function around it"
    yield Report(
        event.node,
        f"each call of {name} jits a {found.why} that is new each time: {found.count.compilations}",
        "make the jitted callable once, at module level, in `__init__` or in a cached factory",
        certainty=Certainty.POSSIBLE if found.root or not found.count.exact else None,
        trace=ctx.loop_steps(found),
        fix=ctx.hoist_fix(event, found),
        properties={"variants": found.count.text},
    )


RULE = Rule(
    code="JIT302", name="jit-per-call", severity=Severity.WARNING, since="0.1.0", on=(Site,), check=check, fix="safe"
)
