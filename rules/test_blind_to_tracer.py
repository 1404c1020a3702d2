"""A test that a tracer answers with a constant, so that the wrong branch is taken silently.

Inside jit a flag is a tracer: `flag is True`, `isinstance(x, float)`, `case True` and `mode == "name"` are all false,
whatever was passed. Nothing raises, and the other branch is compiled.

## Example

```python
@jax.jit
def f(x, flag):
    if flag is True:  # never: flag is a tracer
        x = -x
    return x
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("flag",))
def f(x, flag):
    if flag is True:
        x = -x
    return x
```

## When it is silent

On `is None` and `== None`, `is` with a constant under a name, `isinstance(x, jax.Array)`, tests for tracers, checks of
what is a number already (`if isinstance(n, int) and n < 0: raise …`), and numbers that a word may stand for: what is
compared with a string and used for something else than such tests and messages, too (`if scale == "auto":
scale = x.std()` before `x / scale`).

## Fix safety

Making the setting static is safe.
"""

from collections.abc import Iterator

from jitlint.api import BlindTest, Context, Report, Rule, Severity, setting_help


def check(event: BlindTest, ctx: Context) -> Iterator[Report]:
    """Report a test that is blind to tracers."""
    if event.how == "isinstance" and ctx.only_refuses(event):
        return
    if event.how == "==" and ctx.may_be_a_word(event):
        return
    yield Report(
        event.node,
        f"`{ctx.code(event)}` is always {event.answer} here: the value is a tracer, which no test against {event.against} can see",
        setting_help(event, ctx) or "decide by a static argument",
        fix=ctx.static_fix(event),
    )


RULE = Rule(
    code="JIT113",
    name="test-blind-to-tracer",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(BlindTest,),
    check=check,
    fix="safe",
)
