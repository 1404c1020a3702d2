"""A traced function reads a variable that changes after it was traced.

While tracing, Python reads globals, variables of enclosing functions, attributes, lists, dicts and numpy arrays once,
and what it finds becomes part of the compiled program. A later call with arguments of the same shapes and dtypes runs
that program again: it does not look at the variable. Wrapping the same function in `jax.jit` once more does not help.

## Example

```python
temperature = 1.0


@jax.jit
def soften(logits):
    return jax.nn.softmax(logits / temperature)


def anneal(logits):
    global temperature
    for _ in range(10):
        logits = soften(logits)  # divides by 1.0 for ever
        temperature = temperature * 0.9
    return logits
```

## Use instead

```python
@jax.jit
def soften(logits, temperature):
    return jax.nn.softmax(logits / temperature)


def anneal(logits):
    temperature = 1.0
    for _ in range(10):
        logits = soften(logits, temperature)
        temperature = temperature * 0.9
    return logits
```

A Python number passed as an argument is traced: another value of it does not compile again.

## When it is silent

On constants, modules, classes, functions that stay the same, and variables set before the first call only.

## Fix safety

The fix gives the function a parameter for the variable, and passes the variable at every call in the file. It is unsafe:
calls from elsewhere must pass it, too. There is none where the value decides something while tracing, or where the
function is used in another way than called.
"""

from collections.abc import Iterator

from jitlint.api import Certainty, Context, Report, Rule, Severity, StaleRead


def check(event: StaleRead, ctx: Context) -> Iterator[Report]:
    """Report a stale read of anything but an attribute of ``self`` or of a static argument."""
    if event.kind in ("self", "static"):
        return
    name, row = event.name, ctx.span(event.changed_unit, event.changed_at).row
    if event.kind == "loop":
        message = (
            f"`{name}` is a variable of the loop that makes `{event.reader or event.entry.name}`, and is read only when "
            "that is first called: every function made here sees its last value"
        )
        advice = f"bind the value when the function is made: `lambda x, {name}={name}: …`, or `functools.partial`"
    else:
        can = "is" if event.certain else "may be"
        changed = "replaced" if event.helper else "changed"
        message = (
            f"`{name}` is read while `{event.entry.name}` is traced and {can} {changed} afterwards, in line {row}: "
            "the compiled code keeps the old value"
        )
        advice = f"pass `{name}` to `{event.entry.name}` as an argument"
    yield Report(
        event.node,
        message,
        advice,
        certainty=Certainty.DEFINITE if event.certain or event.kind == "loop" else Certainty.POSSIBLE,
        trace=(
            ctx.step(f"`{event.entry.name}` is jitted here", event.entry.node, event.entry.unit),
            ctx.step(f"`{name}` is read while tracing", event.node, event.unit),
            ctx.step("changed here", event.changed_at, event.changed_unit),
        ),
        fix=ctx.parameter_fix(event),
    )


RULE = Rule(
    code="JIT401",
    name="stale-closure",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(StaleRead,),
    check=check,
    fix="unsafe",
)
