"""A jitted method reads an attribute of `self` that is assigned outside `__init__`.

Where `self` is static, or bound (`jax.jit(self.step)`), its attributes are read while tracing and become constants of
the compiled program. The cache knows the object by its hash, which by default is its identity: assigning an attribute
changes neither, and the next call runs with the old value.

## Example

```python
class Objective:
    def __init__(self, weight):
        self.weight = weight

    @functools.partial(jax.jit, static_argnames="self")
    def loss(self, x):
        return self.weight * jnp.sum(x**2)

    def reweight(self, factor):
        self.weight = self.weight * factor  # `loss` does not see it
```

## Use instead

```python
class Objective:
    def __init__(self, weight):
        self.weight = weight

    def loss(self, x):
        return _loss(self.weight, x)

    def reweight(self, factor):
        self.weight = self.weight * factor


@jax.jit
def _loss(weight, x):
    return weight * jnp.sum(x**2)
```

Or make the class a pytree (`jax.tree_util.register_dataclass`), and pass the object as a traced argument.

## When it is silent

On attributes assigned in `__init__` (or another method that runs once) only, on attributes filled in once where they
were None (and others that the same method sets), on assignments after which the function is jitted anew or its cache is
cleared, and on objects that are pytrees and passed as arguments.
"""

from collections.abc import Iterator

from jitlint.api import Certainty, Context, Report, Rule, Severity, StaleRead


def check(event: StaleRead, ctx: Context) -> Iterator[Report]:
    """Report a stale read of an attribute of ``self``."""
    if event.kind != "self":
        return
    name, row = event.name, ctx.span(event.changed_unit, event.changed_at).row
    where = f"in `{event.changed_in}`, line {row}" if event.changed_in else f"in line {row}"
    yield Report(
        event.node,
        f"`{name}` is read while `{event.entry.name}` is traced and is assigned {where}: "
        "the compiled code keeps the old value",
        f"pass `{name}` as an argument, or make the class a pytree and pass the object",
        certainty=Certainty.DEFINITE if event.certain else Certainty.POSSIBLE,
        trace=(
            ctx.step(f"`{event.entry.name}` is jitted here", event.entry.node, event.entry.unit),
            ctx.step(f"`{name}` is read while tracing", event.node, event.unit),
            ctx.step("assigned here", event.changed_at, event.changed_unit),
        ),
    )


RULE = Rule(
    code="JIT402",
    name="stale-self",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(StaleRead,),
    check=check,
)
