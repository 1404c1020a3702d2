"""Traced code writes to a variable, attribute or container from outside.

The write happens once for each compilation, while tracing, and not in later calls. Containers that are arguments are
rebuilt by JAX for the traced function: what is written to them is lost for the caller.

## Example

```python
calls = 0


@jax.jit
def step(w):
    global calls
    calls += 1  # 1, however often `step` is called
    return w * 2
```

## Use instead

```python
@jax.jit
def step(w, calls):
    return w * 2, calls + 1
```

## When it is silent

On containers and objects made in the traced function, in callbacks, where the object written to is returned, on
arguments that the traced function writes to for its own use (it reads what it wrote, and no caller that can be seen
looks at the object afterwards), on what was None or missing before (filled in once), on flags set to `True` or
`False`, on variables that nothing but the traced function reads afterwards, and in tests, which count traces that way.
Writes of traced values are JIT406.
"""

from collections.abc import Iterator

from jitlint.api import Context, OuterWrite, Report, Rule, Severity


def check(event: OuterWrite, ctx: Context) -> Iterator[Report]:
    """Report writes of what is not traced, and writes to arguments."""
    if event.argument:
        if not ctx.is_returned(event) and not ctx.is_scratch(event):
            yield Report(
                event.node,
                f"`{ctx.code(event)}` changes an argument of {ctx.traced_function(event)}, which gets a copy of "
                "it: the caller's object stays as it was",
                "return what changed, or work on a copy",
            )
    elif event.leaf is None and event.kind != "cache" and not event.first and ctx.is_compiled(event):
        yield Report(
            event.node,
            f"`{ctx.code(event)}` runs while {ctx.traced_function(event)} is traced: {ctx.when_written(event)}",
            "return the new value and assign it outside, or use `jax.debug.callback`",
        )


RULE = Rule(
    code="JIT405",
    name="outer-write",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(OuterWrite,),
    check=check,
)
