"""An object that was given as a static argument is changed between two calls.

A static argument is a key of the compilation cache. JAX keeps the object itself, so a change of it goes unnoticed: the
next call finds the compiled code of the object as it was, and gives its result. This is so whether the hash of the
object is its identity or is made of the attributes that change.

## Example

```python
class Grid:
    def __init__(self, n):
        self.n = n

@functools.partial(jax.jit, static_argnames=("grid",))
def nodes(lo, grid):
    return lo + jnp.arange(grid.n)

g = Grid(4)
nodes(0.0, g)
g.n = 6
nodes(0.0, g)  # still four nodes
```

## Use instead

```python
@dataclasses.dataclass(frozen=True)
class Grid:
    n: int

g = Grid(4)
nodes(0.0, g)
nodes(0.0, dataclasses.replace(g, n=6))
```

## When it is silent

On changes before the first call or after the last one, and on `self` (a method that reads attributes which change is
JIT402).
"""

from collections.abc import Iterator

from jitlint.api import Certainty, Context, MutatedStatic, Report, Rule, Severity, StaleRead

HELP = "make the object immutable (a frozen dataclass) and pass a new one, or pass the value as a traced argument"


def check(event: MutatedStatic | StaleRead, ctx: Context) -> Iterator[Report]:
    """Report a change of a static argument between two calls, or at any time after it was read while tracing."""
    if isinstance(event, StaleRead):
        if event.kind == "static":
            yield Report(
                event.changed_at,
                f"this changes a static argument of `{event.entry.name}`, which reads `{event.name}` while it is traced: "
                "later calls run the code compiled for the old value",
                HELP,
                certainty=Certainty.DEFINITE if event.certain else Certainty.POSSIBLE,
                unit=event.changed_unit,
                trace=(
                    ctx.step(f"`{event.entry.name}` is jitted here", event.entry.node, event.entry.unit),
                    ctx.step(f"`{event.name}` is read while tracing", event.node, event.unit),
                ),
            )
        return
    row = ctx.span(event.call.unit, event.call.node).row
    yield Report(
        event.node,
        f"the static argument `{event.param}` of `{event.entry.name}` is changed after the call in line {row}: "
        "later calls run the code compiled for the old value",
        HELP,
        certainty=Certainty.DEFINITE if event.certain else Certainty.POSSIBLE,
        trace=(
            ctx.step(f"`{event.entry.name}` is jitted here", event.entry.node, event.entry.unit),
            ctx.step(f"`{event.param}` is passed here, as static", event.call.node, event.call.unit),
            ctx.step("it is changed here", event.node, event.unit),
        ),
    )


RULE = Rule(
    code="JIT206",
    name="mutated-static",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(MutatedStatic, StaleRead),
    check=check,
)
