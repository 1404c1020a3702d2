"""A Python loop of many turns in a traced function.

Python runs the loop while tracing, and every turn adds its operations to the program: tracing and compiling grow with
the number of turns. `lax.fori_loop` and `lax.scan` trace their body once.

## Example

```python
@jax.jit
def integrate(x):
    for _ in range(1000):
        x = x + 0.01 * jnp.sin(x)  # 1000 times in the program
    return x
```

## Use instead

```python
@jax.jit
def integrate(x):
    return lax.fori_loop(0, 1000, lambda i, x: x + 0.01 * jnp.sin(x), x)
```

## When it is silent

On loops of few turns (the option `unroll-threshold` says how many are), loops whose length is not known, and loops that
run no operation on traced values.

## Fix safety

There is no automatic fix.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, Unrolled

MANY_OPERATIONS = 128


def check(event: Unrolled, ctx: Context) -> Iterator[Report]:
    """Report a loop that makes the program large."""
    turns = event.iterations
    if turns is None or turns < ctx.limits.unrolled_turns or turns * event.operations < MANY_OPERATIONS:
        return
    yield Report(
        ctx.loop_head(event),
        f"this loop is unrolled while tracing: {turns} turns of about {event.operations} operations each are compiled",
        "use `lax.fori_loop` or `lax.scan`, whose body is compiled once",
        properties={"operations": turns * event.operations},
    )


RULE = Rule(code="JIT308", name="unrolled-loop", severity=Severity.WARNING, since="0.1.0", on=(Unrolled,), check=check)
