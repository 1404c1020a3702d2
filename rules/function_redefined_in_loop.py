"""A jitted function is defined in the body of a loop.

Each turn makes a new function object, and JAX, which keeps compiled programs by the identity of the function, traces
and compiles it again.

## Example

```python
for epoch in range(10):
    @jax.jit
    def step(w, x):  # compiles in every turn
        return w - 0.1 * x
    w = step(w, x)
```

## Use instead

```python
@jax.jit
def step(w, x):
    return w - 0.1 * x

for epoch in range(10):
    w = step(w, x)
```

## When it is silent

On functions defined once, and on those that are kept and called after the loop only.

## Fix safety

The definition is moved before the loop where it closes over nothing that the loop changes, which is safe.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, Site


def check(event: Site, ctx: Context) -> Iterator[Report]:
    """Report a decorated definition in a loop."""
    found = ctx.remade(event)
    if found is None or found.loop is None or event.entry.form != "decorator":
        return
    yield Report(
        event.node,
        f"`{event.entry.name}` is defined and jitted anew in each turn of the loop: {found.count.compilations}",
        "define it once, before the loop, and pass what changes as an argument",
        trace=ctx.loop_steps(found),
        fix=ctx.hoist_fix(event, found),
        properties={"variants": found.count.text},
    )


RULE = Rule(
    code="JIT303",
    name="function-redefined-in-loop",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(Site,),
    check=check,
    fix="safe",
)
