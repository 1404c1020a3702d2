"""The structure of an argument, or the spelling of the call, differs between calls.

The structure of a pytree (dict keys, length of a list, list or tuple, None or array) is part of the cache key, and so
is the way the arguments are passed: by position, by keyword, or left at their default.

## Example

```python
members = []
for seed in range(100):
    members.append(sample(seed))
    mean = ensemble_mean(members)  # compiles for each length

loss(w, x); loss(w, x=x)  # compiles for each spelling
```

## Use instead

Stack the members into one array of fixed length; spell the calls alike.

## When it is silent

On structures that differ between functions, and on static arguments.

## Fix safety

A call that passes one argument by keyword where the others pass it by position (or the reverse) is spelled as they are,
which is safe: to the function it is the same. Nothing else is repaired.
"""

from collections.abc import Iterator

from jitlint.api import Context, EntryCall, Report, Rule, Severity


def check(event: EntryCall, ctx: Context) -> Iterator[Report]:
    """Report an argument whose structure or spelling changes."""
    seen: set[str] = set()
    for cause in ctx.changing(event):
        param = cause.part.param
        spelled = cause.kind == "spelling"
        static = param in event.entry.statics and cause.part.kind != "spelling"
        if cause.kind not in ("structure", "spelling") or static or param in seen:
            continue
        meant = cause.loop is None and not cause.count.exact
        if not cause.count.many or meant or spelled and cause.loop is None and not ctx.spelled_apart(cause):
            continue
        seen.add(param)
        values = ", then ".join(cause.values[:3])
        what = f"is passed differently ({values})" if spelled else f"changes its structure{ctx.over(cause)} ({values})"
        advice = "spell all calls alike" if spelled else "keep keys and lengths the same, or stack into one array"
        if cause.part.kind == "passed":
            what = "is passed in some calls and left out in others, which is another key even where the value is the same"
            advice = f"pass `{param}` in all calls, or in none"
        yield Report(
            event.node,
            f"`{param}{cause.part.path}` of `{event.entry.name}` {what}: {cause.count.compilations}",
            advice,
            trace=ctx.cause_steps(event, cause),
            fix=ctx.spelling_fix(event, cause),
            properties={"variants": cause.count.text},
        )


RULE = Rule(
    code="JIT306",
    name="varying-structure",
    severity=Severity.WARNING,
    since="0.1.0",
    on=(EntryCall,),
    check=check,
    fix="safe",
)
