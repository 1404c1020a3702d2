"""A jitted function is only ever called from inside other jitted functions.

Inside a trace the inner jit compiles nothing of its own. It keeps the function a unit of the program, and its
arguments are all traced, Python numbers included: without the jit they would stay what they are.

## Example

```python
@jax.jit
def scale(x, factor):
    return x * factor

@jax.jit
def step(x):
    return scale(x, 2.0)
```

## Use instead

```python
def scale(x, factor):
    return x * factor
```

## When it is silent

On functions that are called from the host too, or by nobody, and on public functions of packages, which others may
call. Off unless selected: the inner jit can be meant, to trace a function once that is called at many places.

## Fix safety

A bare `@jax.jit` is taken off, which is safe.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, Site


def check(event: Site, ctx: Context) -> Iterator[Report]:
    """Report a jit that only other traces reach."""
    calls = ctx.calls_of(event)
    target = event.entry.target
    public = target is not None and target.frame is None and not target.name.startswith("_")
    if event.entry.traced or not calls or not all(c.jitted for c in calls) or public and "." in event.unit.module.name:
        return
    node = target.lazy.name if target is not None and event.entry.form == "decorator" else event.node
    yield Report(
        node,
        f"`{event.entry.name}` is called from inside traced functions only: its jit compiles nothing of its own",
        "leave the jit out",
        trace=(ctx.step("called here, while tracing", calls[0].node, calls[0].unit),),
        fix=ctx.undecorate_fix(event),
    )


RULE = Rule(
    code="JIT309", name="redundant-jit", severity=Severity.INFO, since="0.1.0", on=(Site,), check=check, fix="safe"
)
