"""A broad `except` swallows the error of a tracer, and its branch silently wins.

The conversion errors of tracers derive from `TypeError` (boolean indexing from `IndexError`). An `except Exception`,
`except TypeError` or bare `except` around a traced test catches them while tracing, and the compiled program always
takes the fallback.

## Example

```python
@jax.jit
def f(x):
    try:
        return 1.0 if x > 0 else -1.0
    except Exception:
        return 0.0  # always
```

## Use instead

```python
@jax.jit
def f(x):
    return jnp.where(x > 0, 1.0, -1.0)
```

## When it is silent

On `except ValueError`, on handlers that name a tracer error, and outside traced code. Also on `np.asarray` in a `try`
that catches `TypeError` and not every `Exception`: on arrays it raises that for tracers only, so that is what is asked.
"""

from collections.abc import Iterator

from jitlint.api import Context, DynamicShape, NeedsConcrete, Report, Rule, Severity, TracedUse, TruthTest, is_swallowed


def check(event: TracedUse, ctx: Context) -> Iterator[Report]:
    """Report a traced use whose error a broad handler catches."""
    if is_swallowed(event) and not _is_asked(event) and not event.possible and getattr(event, "reached", True):
        yield Report(
            event.node,
            f"`{ctx.code(event)}` raises {event.error} while tracing, and the `except` around it swallows that: its branch always wins",
            "use `jnp.where` or `jax.lax.cond`, or catch only what can happen at run time",
        )


def _is_asked(event: TracedUse) -> bool:
    """Does the ``try`` find out whether a value is traced?"""
    makes_array = isinstance(event, NeedsConcrete) and event.what in ("np.asarray", "np.array")
    return makes_array and event.guards.isdisjoint({"Exception", "BaseException"})


RULE = Rule(
    code="JIT114",
    name="swallowed-tracer-error",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(TruthTest, NeedsConcrete, DynamicShape),
    check=check,
)
