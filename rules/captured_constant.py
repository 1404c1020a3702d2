"""A traced function closes over a large array.

An array that is not passed as an argument becomes a constant of the compiled program. A large one makes lowering and
compiling slow and the program big, is kept in memory a second time, and does not change when the variable does. The same
goes for a module of nnx or equinox that an object keeps whose method is jitted: its parameters are constants.

## Example

```python
features = jnp.asarray(np.load("features.npy"))  # many megabytes


@jax.jit
def predict(w):
    return features @ w
```

## Use instead

```python
@jax.jit
def predict(features, w):
    return features @ w
```

## When it is silent

On modules that are passed as arguments, on arrays below one mebibyte (or what the option `captured-constant-bytes` says)
or of unknown size, on arrays of which only the shape is read, and on arrays made in the traced function.
"""

from collections.abc import Iterator

from jitlint.api import Captured, Certainty, Context, Report, Rule, Severity


def check(event: Captured, ctx: Context) -> Iterator[Report]:
    """Report a large constant."""
    size = "a module with its parameters" if event.nbytes is None else f"{event.nbytes / 2**20:.0f} MiB"
    pure = event.nbytes is not None
    yield Report(
        event.node,
        f"`{event.name}` ({size}) is closed over by `{event.entry.name}`: a constant of the compiled program",
        f"pass `{event.name}` as an argument" if pure else "pass its parameters as an argument (`nnx.split`)",
        certainty=None if pure else Certainty.POSSIBLE,
        trace=(ctx.step(f"`{event.entry.name}` is jitted here", event.entry.node, event.entry.unit),),
    )


RULE = Rule(
    code="JIT409",
    name="captured-constant",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(Captured,),
    check=check,
)
