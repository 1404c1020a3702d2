"""`lax.scan` and its kin are called outside jit with a function that is new each time.

Outside jit these compile their functions on their own, and find the compiled program again by the identity of the
function. A lambda, local function, `partial` or bound method made for each call compiles for each call. `lax.map`
compiles for each call whatever it is given.

## Example

```python
def sample(key, x, n):
    def body(x, k):
        return x + random.normal(k, x.shape), x
    return lax.scan(body, x, random.split(key, n))  # compiles in every call

for i in range(100):
    x, xs = sample(random.key(i), x, 50)
```

## Use instead

```python
@partial(jax.jit, static_argnames=("n",))
def sample(key, x, n):
    ...
```

Inside jit a new body costs nothing. Or define the body at module level.

## When it is silent

Inside a traced function, with a body at module level, and where the call happens once.
"""

from collections.abc import Iterator

from jitlint.api import Context, ControlFlow, Report, Rule, Severity


def check(event: ControlFlow, ctx: Context) -> Iterator[Report]:
    """Report an un-jitted control-flow call whose body is made anew."""
    found = ctx.remade(event)
    if found is None:
        return
    why = "which keeps no program" if event.kind == "map" else f"with a {found.why} that is new each time"
    yield Report(
        event.node,
        f"`lax.{event.kind}` outside jit, {why}: {found.count.compilations}",
        "jit the function around it, or define the body at module level and pass what it needs in the carry",
        trace=ctx.loop_steps(found),
        properties={"variants": found.count.text},
    )


RULE = Rule(
    code="JIT307",
    name="fresh-control-flow-body",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(ControlFlow,),
    check=check,
)
