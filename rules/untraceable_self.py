"""A method is jitted in a way that cannot work with its class.

`@jax.jit` on a method traces `self` too. Where the class is no pytree, the call raises `TypeError`. `@jax.jit` above
`@staticmethod`, `@classmethod` or `@property` raises in the class body.

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

from jitlint.api import BadArgument, BadSite, Context, Report, Rule, Severity


def check(event: BadSite | BadArgument, ctx: Context) -> Iterator[Report]:
    """Report a jitted descriptor, and a method called with a `self` that is no pytree."""
    if isinstance(event, BadSite):
        if event.problem == "descriptor":
            kind = {"static": "staticmethod", "class": "classmethod", "cached_property": "cached_property"}.get(
                event.detail, "property"
            )
            yield Report(
                event.node,
                f"jit wraps a `{kind}` object, which is no function: raises TypeError in the class body",
                f"put `@{kind}` outermost",
            )


RULE = Rule(code="JIT111", name="untraceable-self", severity=Severity.ERROR, since="0.1.0", on=(BadSite,), check=check)
