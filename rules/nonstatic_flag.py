"""A branch or lookup is decided by a parameter of a jitted function that is a Python setting.

Every argument that a call passes to a jitted function is traced, also a Python `bool`, `int` or enum. A test on it
raises `TracerBoolConversionError`. A flag, a mode or a small count that decides *which* computation is traced belongs
into `static_argnames`: JAX then compiles one version for each of its values.

## Example

```python
@jax.jit
def forward(params, x, training):
    if training:  # raises TracerBoolConversionError
        x = dropout(x)
    return x @ params
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("training",))
def forward(params, x, training):
    if training:
        x = dropout(x)
    return x @ params
```

## When it is silent

On a parameter that every caller leaves at its default (a default is not traced), and on one that is static already.
Arrays, floats and numbers that change over a loop are no settings: those are JIT101.

## Fix safety

The fix is safe: it only adds to `static_argnames` (of the function where the value enters, also when the flag travels
through helpers), and only where every call passes a hashable setting of few values.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, TruthTest, is_guarded


def check(event: TruthTest, ctx: Context) -> Iterator[Report]:
    """Report a truth test decided by settings."""
    roots = ctx.settings_behind(event)
    if not roots or not event.reached or is_guarded(event):
        return
    names = ", ".join(f"`{r.name}`" for r in roots)
    where = roots[-1].entry.name
    message = f"`{ctx.code(event)}` is decided by {names}, which `{where}` traces: {event.verb} {event.error}"
    yield Report(
        event.node,
        message,
        f"make {names} static: `static_argnames=({', '.join(repr(r.name) for r in roots)},)` on `{where}`",
        fix=ctx.static_fix(event),
    )


RULE = Rule(
    code="JIT102",
    name="nonstatic-flag",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(TruthTest,),
    check=check,
    fix="safe",
)
