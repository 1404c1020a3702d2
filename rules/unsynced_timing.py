"""A clock is read before a jitted call is done, or around the call that compiles.

A jitted call returns at once; the device works on. Without waiting for the result, the clock measures how long it took
to hand the work over. The first call with arguments of new shapes also traces and compiles, which takes far longer
than the work.

## Example

```python
start = time.perf_counter()
y = work(x)
print(time.perf_counter() - start)
```

## Use instead

```python
work(x).block_until_ready()  # compile first
start = time.perf_counter()
y = work(x).block_until_ready()
print(time.perf_counter() - start)
```

## When it is silent

Where the result is waited for, or converted to a Python number or a numpy array, and around calls that were made
before with the same shapes. The rule is off unless it is selected.
"""

from collections.abc import Iterator

from jitlint.api import Context, Report, Rule, Severity, Timing


def check(event: Timing, ctx: Context) -> Iterator[Report]:
    """Report a clock that measures something else."""
    name = event.entry.name
    if event.how == "unfinished":
        message = f"the clock is read without waiting for `{name}`: it measures how long the call took to be queued"
        advice = "call `jax.block_until_ready` on the result before reading the clock"
    else:
        message = f"the clock measures the first call of `{name}`, which compiles"
        advice = "call it once with the same shapes before the clock starts"
    yield Report(event.node, message, advice)


RULE = Rule(
    code="JIT411",
    name="unsynced-timing",
    severity=Severity.INFO,
    since="0.1.0",
    on=(Timing,),
    check=check,
)
