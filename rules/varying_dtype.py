"""An argument has one dtype in one call and another in the next: int here, float there, or weakly typed at first.

JAX compiles for each dtype, and tells weakly typed values (Python numbers, `jnp.array(0.0)`, `jnp.full(shape, 0.5)`)
from those with a dtype of their own. A state that starts weak and comes back strong compiles twice; that of an
optimizer, a solver or an environment is held against what `update` or `step` gives, though nothing in the project calls
them.

## Example

```python
state = jnp.array(0.0)  # weakly typed
for x in xs:
    state = ema(state, x)  # compiles for the weak one, then for the strong one
```

## Use instead

```python
state = jnp.array(0.0, dtype=jnp.float32)
for x in xs:
    state = ema(state, x)
```

## When it is silent

On Python numbers of one kind, whatever their values, on arrays that keep their dtype over a loop, and on calls apart
that give arrays of different dtypes: that can be meant.

## Fix safety

A state that starts weak is given its dtype where it is made, in the function that calls: `dtype=` in `jnp.full` and its
kin, `jnp.asarray` around a number. That is not safe: the first turn may round otherwise, and other uses see the dtype too.
"""

from collections.abc import Iterator

from jitlint.api import Certainty, Context, EntryCall, Report, Rule, Severity, WeakState


def check(event: EntryCall | WeakState, ctx: Context) -> Iterator[Report]:
    """Report an argument whose dtype or weak type changes."""
    if isinstance(event, WeakState):
        yield Report(
            event.node,
            f"`{event.name}` of `{event.cls}` begins weakly typed, and `{event.by}` gives it another type: "
            "a jitted step compiles twice, `lax.scan` refuses the state",
            "give the first value its dtype, as in `jnp.asarray(x, dtype=jnp.float32)`",
            certainty=Certainty.POSSIBLE,
        )
        return
    causes = ctx.changing(event)
    dtypes = {(c.part.param, c.part.path) for c in causes if c.kind == "dtype"}
    for cause in causes:
        where = (cause.part.param, cause.part.path)
        if cause.kind not in ("dtype", "weak") or cause.kind == "weak" and where in dtypes:
            continue
        meant = cause.kind == "weak" or not cause.count.exact or not ctx.python_numbers(cause)
        if cause.loop is None and meant:
            continue
        name = f"`{where[0]}{where[1]}` of `{event.entry.name}`"
        weak = cause.kind == "weak"
        if weak:
            what = "is weakly typed in one call and not in the next"
        elif len(cause.values) == 1:
            what = f"is {cause.values[0]}, from turn to turn"
        else:
            what = f"is {' in one call, '.join(cause.values)} in another"
        typed = "give the first value its dtype, as in `jnp.asarray(x, dtype=jnp.float32)`"
        yield Report(
            event.node,
            f"{name} {what}: {cause.count.compilations}",
            typed if weak else "convert it to one dtype before the call",
            trace=ctx.cause_steps(event, cause),
            fix=ctx.typed_start_fix(event) if weak else None,
            properties={"variants": cause.count.text},
        )


RULE = Rule(
    code="JIT305",
    name="varying-dtype",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(EntryCall, WeakState),
    check=check,
    fix="unsafe",
)
