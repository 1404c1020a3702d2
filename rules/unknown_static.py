"""Options of a jit site name no parameter, or contradict each other.

`static_argnames` and `donate_argnames` must name parameters, the numbers must be in range: JAX raises `ValueError` when
the decorator runs. With both `static_argnums` and `static_argnames` given, neither is inferred from the other.
`jax.pmap` donates by position only: arguments passed by keyword stay where they are, and the memory is not saved.

## Example

```python
@functools.partial(jax.jit, static_argnames=("trainig",))  # raises ValueError
def step(x, training): ...
```

## Use instead

```python
@functools.partial(jax.jit, static_argnames=("training",))
def step(x, training): ...
```

## When it is silent

Where the function takes `**kwargs`; on names of the function inside `grad`, `vmap` or `partial`.

## Fix safety

A misspelt name with one close match is corrected, several names in one string are taken apart, and a number that is
off by one is moved to the setting beside it; all are safe.
"""

from collections.abc import Iterator

from jitlint.api import BadSite, Context, Report, Rule, Severity, StaticArgument, close_matches

PROBLEMS = {
    "unknown-name": "{option} names `{what}`, which is no parameter of `{name}`: {verb} ValueError",
    "comma": '{option} is one string with a comma, `"{what}"`: {verb} ValueError',
    "varargs": "{option} names `{what}`, which collects further arguments of `{name}`: {verb} ValueError",
    "posonly": "{option} names `{what}`, which is positional-only in `{name}`: {verb} ValueError",
    "out-of-range": "{option} has {what}, but `{name}` has fewer positional parameters: {verb} ValueError",
    "not-int": "{option} must be ints, not {what}: {verb} TypeError",
    "not-str": "{option} must be names, not {what}: {verb} TypeError",
    "option": "jit has no option `{option}`: {verb} TypeError",
    "overlap": "`{option}` of `{name}` is both static and donated: {verb} ValueError",
    "both": "`{name}` has both static_argnums and static_argnames, so neither is inferred from the other: "
    "a parameter passed the other way is traced",
    "not-donated": "`pmap` donates arguments by position, but `{name}` is given them by keyword: nothing is donated",
}


def check(event: BadSite | StaticArgument, ctx: Context) -> Iterator[Report]:
    """Report options that do not fit the function, and calls that do not give a static parameter."""
    if isinstance(event, StaticArgument):
        if event.problem == "missing":
            yield Report(
                event.node,
                f"`{event.entry.name}` is called without its static parameter `{event.param}`: {event.verb} TypeError",
                f"pass `{event.param}`, or give it a default",
            )
        if event.problem == "index-off":
            wrong, right, meant = event.what.split(":")
            yield Report(
                event.node,
                f"static_argnums of `{event.entry.name}` has {wrong}, which is `{event.param}` here, given an array: "
                f"{event.verb} ValueError",
                f"`{meant}` is {right}; count `self` too" if event.entry.params else None,
                fix=ctx.renumber_fix(event, int(wrong), int(right)),
            )
        return
    template = PROBLEMS.get(event.problem)
    if template is None or event.problem == "both" and event.entry.calls and not event.entry.spelt_against():
        return
    option, _, what = event.detail.partition(":")
    close = close_matches(what, event.entry) if event.problem == "unknown-name" else []
    if event.problem == "option":
        close = what.split() if what else []
    help_ = f"did you mean `{close[0]}`?" if close else None
    yield Report(
        event.node,
        template.format(option=option, what=what, name=event.entry.name, verb=event.verb),
        help_,
        severity=Severity.ERROR if event.raises else Severity.WARNING,
        fix=ctx.respell_fix(event, what, close),
    )


RULE = Rule(
    code="JIT202",
    name="unknown-static",
    severity=Severity.ERROR,
    since="0.1.0",
    on=(BadSite, StaticArgument),
    check=check,
    fix="safe",
)
