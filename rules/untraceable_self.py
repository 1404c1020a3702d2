"""Something is jitted that is no function, or a method with a `self` that JAX does not take.

`@jax.jit` on a method traces `self` too. Where the class is no pytree, the call raises `TypeError`. `@jax.jit` above
`@staticmethod`, `@classmethod` or `@property` raises in the class body, and so does `jax.jit` of anything else that is
no function: of the result of a call, or of a generator.

## Example

```python
class Model:
    @jax.jit
    def apply(self, x):
        return self.w * x

Model().apply(x)  # raises TypeError
```

## Use instead

```python
class Model:
    @functools.partial(jax.jit, static_argnames=("self",))
    def apply(self, x):
        return self.w * x
```

where the object is hashable and never changed; else jit a function that takes the arrays, or register the class as a
pytree.

## When it is silent

On static `self`, on `jax.jit(self.m)` of a bound method, on registered pytrees and modules of equinox and nnx.

## Fix safety

Unsafe: a static `self` freezes its attributes at the first call.
"""

from collections.abc import Iterator

from jitlint.api import BadArgument, BadSite, Certainty, Context, Report, Rule, Severity

SITES = {
    "descriptor": "jit wraps a `{0}` object, which is no function: {verb} TypeError",
    "not-callable": "jit is given {0}, which is no function: {verb} TypeError",
    "generator": "`{0}` is a generator function, which jit does not take: {verb} TypeError",
    "self": "`{0}` is traced in this method, but `{1}` is no pytree: a call raises TypeError",
}
HELP = {
    "descriptor": "put `@{0}` outermost",
    "not-callable": "jit the function, then call it: `jax.jit(f)(x)`",
    "generator": "return the values as a tuple or list",
}


def check(event: BadSite | BadArgument, ctx: Context) -> Iterator[Report]:
    """Report what cannot be jitted, and a method called with a `self` that is no pytree."""
    if isinstance(event, BadArgument):
        if event.receiver:
            yield Report(
                event.node,
                f"`{event.callee}` traces `{event.param}`, {event.what.rstrip(',')}: {event.verb} TypeError",
                f"make it static: `static_argnames=({event.param!r},)`, or register the class as a pytree",
                fix=ctx.static_self_fix(event),
            )
        return
    if event.problem not in SITES:
        return
    what, _, more = event.detail.partition(":")
    help_ = HELP.get(event.problem, f"make it static: `static_argnames=({what!r},)`, or register the class as a pytree")
    yield Report(
        event.node,
        SITES[event.problem].format(what, more, verb=event.verb),
        help_.format(what),
        certainty=None if event.raises else Certainty.POSSIBLE,
        fix=ctx.static_self_fix(event),
    )


RULE = Rule(
    code="JIT111",
    name="untraceable-self",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(BadSite, BadArgument),
    check=check,
    fix="unsafe",
)
