"""An object that is given as a static argument is changed between calls.

JAX knows a static argument by its hash and `==`. For most objects these say which object it is, and not what is in it:
the next call finds the program compiled before, with the old values in it. Where the hash is computed from what
changes, the entry of the cache is lost or, worse, found by accident.

## Example

```python
@functools.partial(jax.jit, static_argnames="config")
def scaled(x, config):
    return x * config.scale


scaled(x, config)
config.scale = 3.0
scaled(x, config)  # scaled by the old value
```

## Use instead

```python
@dataclasses.dataclass(frozen=True)
class Config:
    scale: float


scaled(x, Config(scale=2.0))
scaled(x, Config(scale=3.0))
```

Or pass what changes as a traced argument.

## When it is silent

On objects that are changed before the first call only, and on attributes that the jitted function does not read.
"""

from collections.abc import Iterator

from jitlint.api import Certainty, Context, Report, Rule, Severity, StaleRead


def check(event: StaleRead, ctx: Context) -> Iterator[Report]:
    """Report the change of an attribute that a jitted function read of a static argument."""
    if event.kind != "static":
        return
    name = event.entry.name
    yield Report(
        event.changed_at,
        f"this changes an object that `{name}` got as a static argument, and `{event.name}` was read while tracing: "
        "the compiled code keeps the old value",
        "use a frozen dataclass and make a new one, or pass the value as a traced argument",
        certainty=Certainty.DEFINITE if event.certain else Certainty.POSSIBLE,
        unit=event.changed_unit,
        trace=(
            ctx.step(f"`{name}` is jitted here", event.entry.node, event.entry.unit),
            ctx.step(f"`{event.name}` is read while tracing", event.node, event.unit),
        ),
    )


RULE = Rule(
    code="JIT206",
    name="mutated-static",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(StaleRead,),
    check=check,
)
