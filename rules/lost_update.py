"""The result of a pure array method is thrown away.

jax arrays never change. `x.at[i].set(v)`, `x.sort()` and their kin give a new array and leave `x` as it is; as a
statement of its own such a call does nothing.

A `jax.pure_callback` whose result is thrown away may not happen at all.

## Example

```python
def clear(x):
    x.at[0].set(0.0)  # nothing happens
    return x
```

## Use instead

```python
def clear(x):
    x = x.at[0].set(0.0)
    return x
```

## When it is silent

On results that are assigned, returned or passed on, and on numpy arrays, whose methods may work in place.

## Fix safety

The fix assigns the result to the array. It is safe: nothing else can have been meant.
"""

from collections.abc import Iterator

from jitlint.api import Context, LostUpdate, Report, Rule, Severity


def check(event: LostUpdate, ctx: Context) -> Iterator[Report]:
    """Report a lost result."""
    if event.method == "pure_callback":
        yield Report(
            event.node,
            "nothing uses the result of `pure_callback`: JAX may leave the call out, or make it more than once",
            "use `jax.debug.callback` or `jax.experimental.io_callback` where the effect is what matters",
        )
        return
    yield Report(
        event.node,
        f"`{ctx.code(event)}` gives a new array, which is thrown away: `{event.name}` stays as it is",
        f"assign it: `{event.name} = {ctx.code(event)}`",
        fix=ctx.kept_update_fix(event),
    )


RULE = Rule(
    code="JIT407",
    name="lost-update",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(LostUpdate,),
    check=check,
    fix="safe",
)
