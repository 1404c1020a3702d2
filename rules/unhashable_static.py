"""An unhashable value reaches a static parameter.

Static arguments are keys of the compilation cache. A list, a dict, a set, an array or an object without hash raises
`ValueError` at the call.

## Example

```python
@functools.partial(jax.jit, static_argnames=("sizes",))
def init(key, sizes): ...

init(key, sizes=[4, 8])  # raises ValueError
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("sizes",))
def init(key, sizes): ...

init(key, sizes=(4, 8))
```

## When it is silent

On tuples, frozen dataclasses, enums; on an unhashable default that no call passes.

## Fix safety

A literal list becomes a tuple, which is safe. `tuple(…)` around a list that was made elsewhere and `frozen=True` on a
dataclass are unsafe: other code may change the object.
"""

from collections.abc import Iterator

from jitlint.api import Certainty, Context, Report, Rule, Severity, StaticArgument, StaticField


def check(event: StaticArgument | StaticField, ctx: Context) -> Iterator[Report]:
    """Report an unhashable static argument, or an array in what is static of a pytree."""
    if isinstance(event, StaticField):
        given = f"`{event.callee}`" if event.callee else "a jitted function"
        yield Report(
            event.node,
            f"`{event.name}` of `{event.cls}` is static and holds an array, which JAX compares with `==`: "
            f"a second instance given to {given} raises ValueError",
            "make it data, or keep a tuple in it",
            certainty=Certainty.POSSIBLE,
        )
        return
    if event.problem == "metadata":
        yield Report(
            event.node,
            f"the static field `{event.param}` of `{event.what}` holds an array, which JAX compares with `==`: "
            f"{event.verb} ValueError",
            f"make `{event.param}` a data field, or keep a tuple in it",
        )
    if event.problem != "unhashable":
        return
    yield Report(
        event.node,
        f"{event.what} is given to the static parameter `{event.param}` of `{event.entry.name}`, "
        f"which must be hashable: {event.verb} ValueError",
        "pass a tuple, a frozen dataclass or another hashable value; arrays belong to traced parameters",
        fix=ctx.hashable_fix(event),
    )


RULE = Rule(
    code="JIT201",
    name="unhashable-static",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(StaticArgument, StaticField),
    check=check,
    fix="safe",
)
