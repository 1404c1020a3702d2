"""A function that is new in every turn of a loop is jitted in that loop.

JAX keeps compiled programs by the identity of the function. A lambda, a function defined in the loop, a `partial`, the
result of `grad` or `vmap`, or a bound method is a new object in every turn, so that every turn traces and compiles
again, however equal they look.

## Example

```python
for batch in batches:
    params = jax.jit(lambda p: update(p, 0.1))(params)  # compiles in every turn
```

## Use instead

```python
step = jax.jit(lambda p: update(p, 0.1))
for batch in batches:
    params = step(params)
```

## When it is silent

On `jax.jit(f)` of the same function in every turn (it compiles once), on functions that are kept and called after the
loop (one program each is what was asked for), and on those made once behind a test.

## Fix safety

The jitted function is made before the loop where nothing in it depends on the loop, which is safe.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, Site


def check(event: Site, ctx: Context) -> Iterator[Report]:
    """Report a jitted callable that is made anew in each turn."""
    found = ctx.remade(event)
    if found is None or found.loop is None or event.entry.form == "decorator":
        return
    kind = event.entry.kind
    yield Report(
        event.node,
        f"`{kind}` of a {found.why} that is new in each turn of the loop: {found.count.compilations}",
        "make the jitted function once, before the loop, and pass what changes as an argument",
        trace=ctx.loop_steps(found),
        fix=ctx.hoist_fix(event, found),
        properties={"variants": found.count.text},
    )


RULE = Rule(
    code="JIT301", name="jit-in-loop", severity=Severity.WARNING, since="0.1.0", on=(Site,), check=check, fix="safe"
)
