"""Python control flow asks a traced value for its truth.

Inside `jax.jit` a traced value has a shape and a dtype, but no value. `if`, `while`, `assert`, the ternary, `not`,
every operand of `and` and `or` but the last, a chained comparison, `in`, a comprehension's filter, a `match` on a
literal, and the builtins `bool`, `any`, `all`, `min`, `max` and `sorted` ask it for a bool, and JAX raises
`TracerBoolConversionError` (a `ValueError` where the array is no scalar).

## Example

```python
@jax.jit
def relu(x):
    if x > 0:  # raises TracerBoolConversionError
        return x
    return 0.0
```

## Use instead

```python
@jax.jit
def relu(x):
    return jnp.where(x > 0, x, 0.0)
```

`jnp.where` for values, `jax.lax.cond` for two computations, `jax.lax.while_loop` for a loop, `jnp.logical_and`,
`jnp.logical_or` and `jnp.logical_not` for boolean operators.

## When it is silent

On tests of shape, `ndim`, `dtype`, `len`, `is None`, `isinstance`, containers (what is unpacked with a star is one) and
static arguments; on the last operand of `and`/`or`; under plain `jax.grad` outside jit, where values are concrete; in
callbacks; behind a guard that tells tracers apart or catches the error. A test decided by a parameter that is a Python
setting is JIT102.

## Fix safety

The fix is unsafe: `jnp.where` computes both arms, which can differ where one would have failed.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, TruthTest, is_guarded

CONSTRUCTS = {
    "if": "`if` tests",
    "while": "`while` tests",
    "ternary": "the conditional expression tests",
    "assert": "`assert` tests",
    "not": "`not` asks for the truth of",
    "and": "`and` tests",
    "or": "`or` tests",
    "chain": "a chained comparison tests",
    "in": "`in` compares with",
    "filter": "the comprehension filters by",
    "match": "`match` compares with",
    "guard": "the guard tests",
    "any": "`any` tests",
    "all": "`all` tests",
    "min": "`min` compares",
    "max": "`max` compares",
    "sorted": "`sorted` compares",
    "bool": "`bool` asks for the truth of",
}
ADVICE = {
    "while": "write it as `jax.lax.while_loop`",
    "not": "use `jnp.logical_not(x)` or `~x`",
    "and": "use `jnp.logical_and` or `&`",
    "or": "use `jnp.logical_or` or `|`; to fall back where an argument was not given, test `is None`",
    "chain": "write `(a < b) & (b < c)`",
    "min": "use `jnp.minimum` or `jnp.min`",
    "max": "use `jnp.maximum` or `jnp.max`",
    "sorted": "use `jnp.sort`",
    "any": "use `jnp.any`",
    "all": "use `jnp.all`",
    "assert": "use `jax.experimental.checkify`, or assert on shapes only",
    "match": "use `jax.lax.switch`",
    "filter": "keep all elements and use `jnp.where`",
}


def check(event: TruthTest, ctx: Context) -> Iterator[Report]:
    """Report a truth test of a traced value that no static argument would cure."""
    if not event.reached or is_guarded(event) or ctx.is_container(event) or ctx.settings_behind(event):
        return
    what = ctx.code(event)
    message = f"{CONSTRUCTS[event.construct]} the traced value `{what}`: {event.verb} {event.error}"
    if event.declared:
        message = f"{CONSTRUCTS[event.construct]} `{what}`, which may be an array: raises {event.error} when it is traced"
    yield Report(
        event.node,
        message,
        ADVICE.get(event.construct, "use `jnp.where` to choose a value, `jax.lax.cond` to choose a computation"),
        fix=ctx.elementwise_fix(event),
    )


RULE = Rule(
    code="JIT101",
    name="traced-branch",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(TruthTest,),
    check=check,
    fix="unsafe",
)
