"""What a rule can ask beyond its event: the path to a value, the settings behind it, edits, source text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from jitlint.findings import Applicability, Edit, Fix, Span, Step
from jitlint.fix.code import Rewrite
from jitlint.fix.conversions import as_array
from jitlint.fix.debug_print import debug_print
from jitlint.fix.elementwise import host_arithmetic
from jitlint.fix.literals import frozen_dataclass, list_as_tuple, renumbered, respelled, split_names
from jitlint.fix.names import Names
from jitlint.fix.updates import at_update, kept_result, kept_update
from jitlint.project.model import JaxTarget, Limits, Module
from jitlint.semantics import (
    call_fixes,
    choices,
    demands,
    hoist,
    hoist_out,
    scratch,
    settings,
    variants,
    variation,
    words,
)
from jitlint.semantics.entry import Call, Entry, Root
from jitlint.semantics.events import (
    TURNS,
    ArrayWanted,
    BadArgument,
    BadSite,
    ControlFlow,
    DynamicShape,
    Effect,
    EntryCall,
    Event,
    ItemAssignment,
    LostUpdate,
    NeedsConcrete,
    OuterWrite,
    Site,
    StaleRead,
    StaticArgument,
    TracedUse,
    TruthTest,
    Unrolled,
)
from jitlint.semantics.validity import sequence_items, unhashable
from jitlint.semantics.values import Array, Const, Func, Host, Jitted, ListV, Obj, Origin, Tree, Tup, py_type
from jitlint.semantics.variants import Cause, Estimate
from jitlint.semantics.variation import Remade

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter
    from jitlint.semantics.source import Unit


_RUN_EACH_TIME = {"eval_shape", "make_jaxpr", "grad", "linear_transpose", "checkpoint", "vmap"}


class Context:
    """Answers rules' questions."""

    def __init__(self, interp: Interpreter, target: JaxTarget) -> None:
        self.interp = interp
        self.target = target
        self._remade: dict[int, Remade | None] = {}
        self._estimates: dict[int, tuple[Estimate | None]] = {}

    @property
    def limits(self) -> Limits:
        """What the user takes for much."""
        return self.interp.limits

    def events(self) -> Iterator[Event]:
        """One event for each type, node and role, the strongest."""
        for bucket in list(self.interp.events.values()):
            yield bucket.events[0]

    def others(self, event: Event) -> list[Event]:
        """Every event recorded of the same type and role at the same node, this one included."""
        bucket = self.interp.events.get((type(event), id(event.node), event.role))
        return list(bucket.events) if bucket is not None else [event]

    @property
    def entries(self) -> list[Entry]:
        """All jit sites met."""
        return self.interp.entries

    def code(self, event: Event, node: cst.CSTNode | None = None) -> str:
        """Source text of a node, on one line, shortened."""
        text = " ".join(event.unit.code(node if node is not None else event.node).split())
        return text if len(text) <= 60 else text[:57] + "…"

    def span(self, unit: Unit, node: cst.CSTNode) -> Span:
        """The place of a node."""
        return unit.span(node)

    def step(self, what: str, node: cst.CSTNode, unit: Unit) -> Step:
        """A step of a path."""
        span = unit.span(node)
        return Step(unit.module.display, span.row, what, span.column)

    def origin_path(self, origin: Origin | None) -> tuple[Step, ...]:
        """The path of a value as steps."""
        if origin is None:
            return ()
        return tuple(self.step(o.what, o.node, o.unit) for o in origin.chain())

    def path(self, event: Event) -> tuple[Step, ...]:
        """The path of the value in a traced use; where tracing began for other events in traced code."""
        if isinstance(event, TracedUse):
            leaf = event.leaf
            if isinstance(leaf, Array | Tree):
                return self.origin_path(leaf.origin)
        for t in event.trace:
            if t.entry is not None:
                return (self.step(f"`{t.entry.name}` is jitted here", t.entry.node, t.entry.unit),)
            return (self.step(f"traced by `{t.kind}` here", t.node, t.unit),)
        return ()

    def traced_function(self, event: Event) -> str:
        """The innermost jitted function around an event, or the transform that traces, as code for a message."""
        for t in reversed(event.trace):
            if t.entry is not None:
                return f"`{t.entry.name}`"
        return f"the body of `{event.trace[-1].kind}`" if event.trace else "the function"

    def how_often(self, event: Event) -> str | None:
        """How often traced code runs, for a message; None where each call runs it (``eval_shape``, plain grad)."""
        if self.is_compiled(event):
            return "once for each compilation"
        return "once for the whole batch" if any(t.kind == "vmap" for t in event.trace) else None

    def when_written(self, event: OuterWrite) -> str:
        """When a write happens that traced code makes, for a message. Outside of `jit`, the bodies of ``lax.cond`` and
        its kin are often traced in each call; still not as what they compute is."""
        kind = event.trace[-1].kind if event.trace and all(t.entry is None for t in event.trace) else ""
        if kind in ("cond", "switch"):
            return "also where its branch is not taken"
        return "once for all turns" if kind in TURNS else "once for each compilation, not in every call"

    def is_compiled(self, event: Event) -> bool:
        """Is the code around an event compiled, so that it does not run again in later calls?"""
        return any(t.entry is not None or t.kind not in _RUN_EACH_TIME for t in event.trace)

    def is_returned(self, event: OuterWrite) -> bool:
        """Does the traced function return the object that is written to, as far as can be seen?"""
        entries = [t.entry for t in event.trace if t.entry is not None]
        return any(id(event.box) in e.returned or e.returns_unknown for e in entries)

    def is_scratch(self, event: OuterWrite) -> bool:
        """Does the traced function write to an argument for its own use, and no caller looks at it afterwards?"""
        return scratch.is_scratch(event)

    def is_container(self, event: TruthTest) -> bool:
        """Is what is tested unpacked elsewhere, as only a container is?"""
        return demands.is_unpacked(event.leaf, event.node)

    def roots(self, event: TracedUse) -> frozenset[Root]:
        """The parameters of jitted functions that the value comes from."""
        return event.leaf.roots if isinstance(event.leaf, Array | Tree) else frozenset()

    # ---------------------------------------------------------------- recompilation

    def remade(self, event: Site | ControlFlow) -> Remade | None:
        """How often the function that is jitted (or run by ``lax.scan`` and its kin) there is made anew."""
        found = self._remade.get(id(event.node))
        if found is None:
            if isinstance(event, Site):
                found = variation.remade_site(self.interp, event.node)
                if found is not None and (self._is_cached_pmap(event, found) or self._is_traced_by_rule(event)):
                    found = None
            else:
                events = [e for e in self.others(event) if isinstance(e, ControlFlow)]
                found = variation.remade_body(self.interp, events)
            self._remade[id(event.node)] = found
        return found

    def only_refuses(self, event: TracedUse) -> bool:
        """Does the test guard nothing but an error about what is known, so that a tracer rightly passes?"""
        return choices.only_refuses(event.unit, event.node)

    def may_be_a_word(self, event: TracedUse) -> bool:
        """Is what is compared with a string a value that a word may stand for, so that a tracer is rightly none?"""
        return words.may_be_a_word(event.unit, event.node)

    def handed_over(self, event: Site) -> list[tuple[cst.CSTNode, Unit]]:
        """The calls that give a wrapper around ``jax.jit`` functions that are new each time."""
        return variation.handed_over(self.interp, event.node)

    def _is_traced_by_rule(self, event: Site) -> bool:
        """Is it under a method that libraries trace, as a rule, and that nothing here calls? Then an outer ``jit``
        has the program."""
        under = event.entry.made_under
        conventional = (func for func, *_ in self.interp.conventional.values())
        return any(isinstance(func, Func) and func.lazy is under for func in conventional)

    def _is_cached_pmap(self, event: Site, found: Remade) -> bool:
        """``pmap`` of a bound method of one object is made once from JAX 0.8 on."""
        old = self.target.version is not None and self.target.version < (0, 8)
        return event.entry.kind == "pmap" and found.why == "bound method" and not old

    def changing(self, event: EntryCall) -> list[Cause]:
        """The parts of the cache key that change, to be reported at this call of a jitted function."""
        node = event.entry.node
        found = self._estimates.get(id(node))
        if found is None:
            found = self._estimates[id(node)] = (variants.estimate(self.interp, node),)
        estimate = found[0]
        if estimate is None:
            return []
        here = [c for c in estimate.causes if c.calls[0].node is event.node]
        return [c for c in here if not any(call.jitted for call in c.calls)]

    def over(self, cause: Cause) -> str:
        """`` over the loop at line 12``, for messages."""
        if cause.loop is None:
            return " from call to call"
        return f" in the loop at line {cause.loop.unit.span(cause.loop.node).row}"

    def cause_steps(self, event: EntryCall, cause: Cause) -> tuple[Step, ...]:
        """Where the function is jitted, the loop, and the other calls, as steps of a path."""
        out = [self.step(f"`{event.entry.name}` is jitted here", event.entry.node, event.entry.unit)]
        if cause.loop is not None:
            out.append(self.step("called in the loop here", cause.loop.node, cause.loop.unit))
        calls = {id(c.node): c for c in cause.calls if c.node is not event.node}
        out.extend(self.step("also called here", c.node, c.unit) for c in list(calls.values())[:3])
        return tuple(out)

    def made_anew(self, cause: Cause) -> tuple[cst.CSTNode, Unit] | None:
        """Where the objects are made that a cause tells apart, when it is one place that makes them all."""
        nodes = {id(n): n for n in cause.nodes if isinstance(n, cst.CSTNode)}
        if len(nodes) != 1:
            return None
        node = next(iter(nodes.values()))
        unit = next((f.unit for f in self.interp.functions if f.lazy is node), cause.calls[0].unit)
        return node, unit

    def typed_start_fix(self, event: EntryCall) -> Fix | None:
        """The fix that gives the states that start weak, and are passed in this call, their dtype."""
        weak = [c for c in self.changing(event) if c.kind == "weak" and c.loop is not None]
        edits, imports = call_fixes.typed_starts(self.interp, weak, self.names(event))
        message = "give the first value its dtype"
        return Fix(message, edits, Applicability.UNSAFE, imports) if edits else None

    def spelling_fix(self, event: EntryCall, cause: Cause) -> Fix | None:
        """The fix that spells the call as the others are: jax.jit takes arguments alike either way."""
        if cause.part.kind != "spelling":
            return None
        edit = call_fixes.respelled(event.entry, cause, event.node, event.unit)
        return None if edit is None else Fix("spell it as the other calls", (edit,), Applicability.SAFE)

    def python_numbers(self, cause: Cause) -> bool:
        """Are Python numbers passed for the parameter in every call?"""
        values = [c.bound.get(cause.part.param) for c in cause.calls]
        return not cause.part.path and all(isinstance(v, Const | Host) for v in values)

    def spelled_apart(self, cause: Cause) -> bool:
        """Is it the spelling alone that differs: by position or keyword, or a default that is also passed?"""
        if cause.part.kind == "spelling":
            name = cause.part.param
            static = any(name in e.statics for e in self.entries if cause.calls[0] in e.calls)
            given = [c.bound.get(name) for c in cause.calls]
            # other static values are other programs, however they are spelled
            return not static or all(isinstance(v, Const) and v == given[0] for v in given)
        passed = [c.bound[cause.part.param] for c in cause.calls if cause.part.param in c.bound]
        default = next(
            (
                p.default
                for e in self.entries
                for p in e.params or ()
                if e.calls and cause.calls[0] in e.calls and p.name == cause.part.param
            ),
            None,
        )
        return bool(passed) and all(isinstance(v, Const) and v == default for v in passed)

    def recursion(self, event: EntryCall) -> str | None:
        """The static parameter that a jitted function changes when it calls itself."""
        outer = [t.entry for t in event.trace if t.entry is not None and t.entry.node is event.entry.node]
        if not outer:
            return None
        for name in event.entry.statics:
            values = {c.bound[name] for e in outer for c in e.calls if isinstance(c.bound.get(name), Const)}
            if len(values) > 1:
                return name
        return None

    def undecorate_fix(self, event: Site) -> Fix | None:
        """The fix that takes a bare ``@jax.jit`` off."""
        if event.entry.form != "decorator" or isinstance(event.node, cst.Call):
            return None
        row = event.unit.span(event.node).row
        edit = Edit(event.unit.module.display, Span(row, 1, row + 1, 1), "")
        return Fix("take the jit off", (edit,), Applicability.SAFE)

    def calls_of(self, event: Site) -> list[Call]:
        """Every call of what is jitted there."""
        return [c for e in self.interp.entries if e.node is event.node for c in e.calls]

    def loop_head(self, event: Unrolled) -> cst.CSTNode:
        """The part of a loop to mark: what it iterates over, or its condition."""
        node = event.node
        if isinstance(node, cst.For | cst.CompFor):
            return node.iter
        return node.test if isinstance(node, cst.While) else node

    def estimates(self) -> Iterator[Estimate]:
        """For every jit site, the estimated number of programs and where each comes from."""
        sites = {id(e.node): e.node for e in self.interp.entries}
        for node in sites.values():
            found = variants.estimate(self.interp, node)
            if found is not None:
                yield found

    def hoist_fix(self, event: Site, remade: Remade) -> Fix | None:
        """The fix that makes the jitted function once: before the loop, or above the function, around it, where nothing
        in it depends on that."""
        if remade.loop is None:
            edits = None if self._reads_what_changes(event) else hoist_out.out_of_function(event.unit, event.node)
            return None if edits is None else Fix("make it once, above", edits, Applicability.SAFE)
        edits = hoist.hoisted(event.unit, remade.loop, event.node)
        return None if edits is None else Fix("make it before the loop", edits, Applicability.SAFE)

    def _reads_what_changes(self, event: Site) -> bool:
        """Does the traced code read something of the module that is changed while the program runs? Traced once, it
        would keep the first value."""
        writes = self.interp.writes
        reads = {(id(r.box), r.key) for e in self.entries if e.node is event.node for r in e.reads.values()}
        return any(len(found) > 1 or any(w.function for w in found) for key in reads if (found := writes.get(key)))

    def loop_steps(self, remade: Remade) -> tuple[Step, ...]:
        """The loops that make it again, as steps of a path."""
        return tuple(
            self.step("repeated by the loop here", loop.node, loop.unit)
            for loop in (remade.outer, remade.loop)
            if loop is not None
        )

    # ---------------------------------------------------------------- settings and fixes

    @cached_property
    def settings(self) -> Mapping[int, dict[str, Root]]:
        """For each jit site, by the id of its node: the parameters that are Python settings and should be static."""
        return settings.static_names(self)

    def settings_behind(self, event: Event) -> tuple[Root, ...] | None:
        """The parameters that making static would repair the event; None when that is no cure."""
        return settings.roots_to_fix(event)

    def static_fix(self, event: Event) -> Fix | None:
        """The fix that makes those parameters static, where the jit site can be edited."""
        roots = settings.roots_to_fix(event)
        if not roots:
            return None
        fix = settings.static_fix(self, roots)
        return fix if isinstance(fix, Fix) else None

    def static_self_fix(self, event: BadArgument | BadSite) -> Fix | None:
        """The fix that makes ``self`` of a jitted method static: not safe, since it freezes the object."""
        entry = event.entry
        if entry is None or not entry.params or isinstance(event, BadSite) and event.problem != "self":
            return None
        if isinstance(event, BadArgument) and unhashable(event.value) is not None:
            return None
        outcome = settings.edit_site(self, entry, [entry.params[0].name])
        if isinstance(outcome, str):
            return None
        edit, imports = outcome
        message = f"make `{entry.params[0].name}` static in `{entry.name}`"
        return Fix(message, (edit,), Applicability.UNSAFE, imports)

    def bindings(self, module: Module) -> Mapping[str, str]:
        """What the names of a module mean, dotted."""
        value = self.interp.modules.get(module.display)
        return settings.bindings_of(value) if value is not None else {}

    def names(self, event: Event) -> Names:
        """How library functions are spelled where the event is."""
        return Names(event.unit.module.display, self.bindings(event.unit.module))

    def rewrite(
        self,
        event: Event,
        node: cst.CSTNode,
        new: Rewrite | None,
        message: str,
        applicability: Applicability = Applicability.UNSAFE,
    ) -> Fix | None:
        """A fix that replaces one node by other text."""
        if new is None:
            return None
        edit = Edit(event.unit.module.display, event.unit.span(node), new.text)
        return Fix(message, (edit,), applicability, new.imports)

    def elementwise_fix(self, event: TruthTest) -> Fix | None:
        """``jnp.where`` and the like for a truth test, where its arms allow it."""
        event.unit.complete()
        found = choices.array_test(event.unit, event.node, event.construct, self.names(event))
        return self.replacement(event, found, "choose for each element")

    def conversion_fix(self, event: NeedsConcrete) -> Fix | None:
        """``jnp.`` for ``np.``, ``x.astype(int)`` for ``int(x)``."""
        if event.need not in ("numpy", "convert"):
            return None

        def in_jax(name: str) -> bool:
            model = self.interp.knowledge.function(name)
            return model is not None and model.documented

        event.unit.complete()
        found = choices.array_conversion(event.unit, event.node, self.names(event), in_jax)
        return self.replacement(event, found, "keep it an array")

    def array_fix(self, event: ArrayWanted) -> Fix | None:
        """``math.prod(shape)`` for ``jnp.prod(shape)``, ``jnp.asarray(items)`` for a list where an array is wanted."""
        node = event.node
        if not isinstance(node, cst.BaseExpression):
            return None
        event.unit.complete()
        if event.numbers:
            call = choices.call_around(event.unit, node)
            found = host_arithmetic(call, self.names(event), sequence=True) if call is not None else None
            if found is not None and call is not None:
                return self.rewrite(event, call, found, "let Python compute it", Applicability.SAFE)
        if sequence_items(event.value) is None:
            return None
        safety = Applicability.SAFE if event.stacks else Applicability.UNSAFE
        return self.rewrite(event, node, as_array(node, self.names(event)), "make it an array", safety)

    def mask_fix(self, event: DynamicShape) -> Fix | None:
        """``jnp.where`` for a mask that selects."""
        event.unit.complete()
        found = choices.masked(event.unit, event.node, self.names(event))
        return self.replacement(event, found, "choose for each element")

    def replacement(self, event: Event, found: choices.Replacement | None, message: str) -> Fix | None:
        """An unsafe fix that replaces a stretch of text."""
        if found is None:
            return None
        span, new = found
        edit = Edit(event.unit.module.display, span, new.text)
        return Fix(message, (edit,), Applicability.UNSAFE, new.imports)

    def at_fix(self, event: ItemAssignment) -> Fix | None:
        """``x = x.at[i].set(v)`` for an item assignment."""
        if not isinstance(event.statement, cst.Assign | cst.AugAssign):
            return None
        event.unit.complete()
        return self.rewrite(event, event.statement, at_update(event.statement), "use `.at[].set()`", Applicability.SAFE)

    def kept_update_fix(self, event: LostUpdate) -> Fix | None:
        """``x = x.at[i].set(v)`` for an update whose result is thrown away."""
        if not isinstance(event.node, cst.Call):
            return None
        event.unit.complete()
        statement = cst.Expr(event.node)
        new = kept_update(statement) or kept_result(statement)
        return self.rewrite(event, event.node, new, "assign it", Applicability.SAFE)

    def parameter_fix(self, event: StaleRead) -> Fix | None:
        """The fix that passes a stale number or array to the jitted function as an argument, at each of its calls: not
        safe, since who calls the function from elsewhere must pass it, too."""
        # The scopes of libcst take longer to import than the rest of it, and few runs need them.
        from jitlint.fix.parameters import as_parameter

        entry, target, module = event.entry, event.entry.target, event.unit.module
        plain = entry.kind == "jit" and not {"in_shardings", "out_shardings"} & entry.option_nodes.keys()
        if target is None or target is not entry.func or not plain or event.kind == "loop":
            return None
        if not isinstance(target.lazy, cst.FunctionDef):
            return None
        units = {id(unit.module) for unit in (target.unit, entry.unit, *(call.unit for call in entry.calls))}
        counted_from_end = any(n < 0 for n in (*(entry.static_nums or ()), *entry.donate_nums))
        if (
            units != {id(module)}
            or module.notebook is not None
            or counted_from_end
            or self._is_imported(target, module)
        ):
            return None
        number = isinstance(event.value, Const | Host) and py_type(event.value) in ("int", "float", "bool", "complex")
        if not (number or isinstance(event.value, Array)) or not isinstance(event.node, cst.Name):
            return None
        read, function = event.unit.span(event.node), target.unit.span(target.lazy.name)
        edits = as_parameter(module.text, module.display, read, function, entry.unit.span(entry.node))
        message = f"pass `{event.name}` to `{entry.name}`"
        return None if edits is None else Fix(message, edits, Applicability.UNSAFE)

    def _is_imported(self, target: Func, module: Module) -> bool:
        """Does another module of the project have the function, or what jitting it gave?"""
        for other in self.interp.modules.values():
            if other.module is not module:
                for value in other.env.slots.values():
                    if value is target or isinstance(value, Jitted) and value.entry.target is target:
                        return True
        return False

    def debug_print_fix(self, event: Effect) -> Fix | None:
        """``jax.debug.print(…)`` for a ``print`` of traced values."""
        if event.what != "print" or not isinstance(event.node, cst.Call):
            return None
        event.unit.complete()
        new = debug_print(event.node, self.names(event))
        return self.rewrite(event, event.node, new, "use `jax.debug.print`", Applicability.SAFE)

    def hashable_fix(self, event: StaticArgument) -> Fix | None:
        """A tuple for a list; ``frozen=True`` for a dataclass."""
        event.unit.complete()
        if isinstance(event.node, cst.List):
            return self.rewrite(event, event.node, list_as_tuple(event.node), "pass a tuple", Applicability.SAFE)
        if isinstance(event.value, ListV) and isinstance(event.node, cst.Name | cst.Attribute):
            inside = Tup(event.value.content.items, event.value.content.elem)
            wrapped = Rewrite(f"tuple({event.unit.code(event.node)})") if unhashable(inside) is None else None
            return self.rewrite(event, event.node, wrapped, "pass a tuple")
        cls = event.value.project_class if isinstance(event.value, Obj) else None
        if cls is None or not cls.facts.dataclass:
            return None
        module = cls.unit.module
        names = Names(module.display, self.bindings(module))
        cls.unit.complete()
        for decorator in cls.node.decorators:
            new = frozen_dataclass(decorator.decorator, names)
            if new is not None:
                edit = Edit(module.display, cls.unit.span(decorator.decorator), new.text)
                return Fix(f"freeze `{cls.name}`", (edit,), Applicability.UNSAFE, new.imports)
        return None

    def renumber_fix(self, event: StaticArgument, wrong: int, right: int) -> Fix | None:
        """Another number in ``static_argnums``."""
        entry = event.entry
        if not isinstance(entry.node, cst.BaseExpression):
            return None
        new = renumbered(entry.unit.code(entry.node), wrong, right)
        if new is None:
            return None
        edit = Edit(entry.unit.module.display, entry.unit.span(entry.node), new.text)
        return Fix(f"make argument {right} static instead of {wrong}", (edit,), Applicability.SAFE)

    def respell_fix(self, event: BadSite, wrong: str, close: list[str]) -> Fix | None:
        """The one close match for a misspelt name; a tuple for several names in one string."""
        site = event.entry.node
        if not isinstance(site, cst.BaseExpression) or event.entry.unit is not event.unit:
            return None
        if event.problem == "comma":
            known = all(event.entry.param(name.strip()) is not None for name in wrong.split(",") if name.strip())
            split = split_names(event.unit.code(site)) if known else None
            return self.rewrite(event, site, split, "one string each", Applicability.SAFE)
        if len(close) != 1:
            return None
        edit = respelled(event.unit.code(site), wrong, close[0])
        return self.rewrite(event, site, edit, f"correct `{wrong}` to `{close[0]}`", Applicability.SAFE)
