"""Jitted functions that no name of a module reaches: what ``jax.jit(…)`` is given anywhere, and functions in functions.

``train = jax.jit(make_train(config))`` says how the function is made and, where ``train`` is called, with which
arguments; ``def make_step(rate): @jax.jit def step(x): …; return step`` says that a call of ``make_step`` gives it;
``self.act = jax.jit(self._act)`` that an object of the class has it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jitlint.dynamic.plan import CallSite, PlannedArgument
from jitlint.dynamic.recipes import Function, Reader, Recipes, Scopes, Source, own_statements, place_in_returns
from jitlint.dynamic.signature import Node
from jitlint.dynamic.targets import JITS, Target, alias_table, dotted_name, parameters_of, static_names
from jitlint.project.model import Module

OPTIONS = frozenset({"static_argnums", "static_argnames", "static_broadcasted_argnums"})
COMPUTED = "what is static in it is computed"
UNKNOWN = "how its function is made cannot be followed"


def complete_targets(targets: Sequence[Target], module: Module, text: str, recipes: Recipes) -> tuple[Target, ...]:
    """The targets of a module with what reaches those inside functions, and after them those of its jit calls."""
    try:
        source = Source(module, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return tuple(targets)
    finder = _Finder(source, recipes)
    known = [finder.called(finder.reached(target) if not target.reach else target) for target in targets]
    rows = {target.row for target in known}
    for site in finder.sites():
        if site.row not in rows:
            rows.add(site.row)
            known.append(site)
    return tuple(known)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression stands: in which functions, in a method of which class, in which statement."""

    scopes: Scopes
    owner: str
    statement: ast.stmt
    main: bool


class _Finder:
    def __init__(self, source: Source, recipes: Recipes) -> None:
        self._source = source
        self._recipes = recipes
        self._reader = Reader(source, recipes, objects=True)
        self._names = alias_table(source.tree)
        self._defs = {node.name: node for node in source.tree.body if isinstance(node, Function)}

    # -- functions inside functions

    def reached(self, target: Target) -> Target:
        """A function defined in another, with the call of that one that gives it."""
        for name, scopes, owner in _functions(self._source.tree):
            if name == target.qualname and scopes:
                return self._given(target, scopes, owner, _named(target.qualname.rpartition(".")[2]))
        return target

    def _given(self, target: Target, scopes: Scopes, owner: str, wanted: Callable[[ast.expr], bool]) -> Target:
        """``target`` as what a call of the function around it returns."""
        around = scopes[-1]
        place = place_in_returns(around, wanted)
        if place is None or len(scopes) != 1:
            return target
        made = self._call_of(around, owner)
        if made is None:
            return target
        node, guessed = made
        for step in place:
            node = {"attr": node, "name": step[1:]} if isinstance(step, str) and step[0] == "." else _item(node, step)
        return replace(target, made=node, guessed=guessed)

    def _call_of(self, function: Function, owner: str) -> tuple[Node, bool] | None:
        """A call of a function of the module, and whether its arguments are guesses."""
        module = self._source.module.name
        if owner:
            return {"filled": {"attr": self._object(owner), "name": function.name}}, True
        if self._recipes.harmful.get(f"{module}.{function.name}"):
            return None
        calls = self._recipes.calls.get(f"{module}.{function.name}", [])
        if calls:
            return calls[0], False
        asks = any(p.default is None and p.kind in ("pos", "kwonly") for p in parameters_of(function.args))
        return {"filled": {"ref": function.name}}, asks

    def _object(self, owner: str) -> Node:
        receivers = self._recipes.of(f"{self._source.module.name}.{owner}")
        return {"made": owner, "calls": list(receivers.calls), "subclasses": list(receivers.subclasses)}

    def called(self, target: Target) -> Target:
        """A function with its calls by name, anywhere in the project."""
        if not target.reach or target.owner:
            return target
        uses = self._recipes.uses.get(f"{self._source.module.name}.{target.reach}", [])
        calls = [
            _call_site(Reader(source, self._recipes, objects=True), source, call, scopes)
            for source, call, scopes in uses
        ]
        return replace(target, calls=tuple(call for call in calls if call is not None))

    # -- calls of jit

    def sites(self) -> Iterator[Target]:
        for call, place in _calls(self._source.tree):
            if dotted_name(call.func, self._names) in JITS and call.args and not isinstance(call.args[0], ast.Starred):
                target = self._site(call, place)
                if target is not None:
                    yield target

    def _site(self, call: ast.Call, place: _Place) -> Target | None:
        function, name = call.args[0], _bound_to(call, place)
        around = ".".join(([place.owner] if place.owner else []) + [scope.name for scope in place.scopes])
        prefix = f"{around}." if around else ""
        rows = (call.lineno, call.end_lineno or call.lineno)
        target = Target(f"{prefix}{name or f'jit@{call.lineno}'}", "", *rows, (), frozenset(), site=rows, known=False)
        options = _options(call)
        if options is None:
            return replace(target, why=COMPUTED)
        jitter = dotted_name(call.func, self._names)
        target = replace(target, jitter=jitter, calls=tuple(self._calls_of(call, name, place)))
        value = function
        if isinstance(function, ast.Name):
            local = next((d for scope in reversed(place.scopes) for d in _inner(scope) if d.name == function.id), None)
            if local is not None:
                target = _defined(target, local, f"{prefix}{local.name}", call.keywords)
                return self._given(target, place.scopes, place.owner, _named(name, call))
            definition = self._defs.get(function.id)
            if definition is not None:
                target = _defined(target, definition, definition.name, call.keywords)
                return replace(target, reach=definition.name, jit=options)
            value = self._value(function, place) or function
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
            return self._method(target, function.attr, place, call, options)
        if not place.scopes and not place.main and name and isinstance(place.statement, ast.Assign):
            target = replace(target, reach=name)
        elif isinstance(value, ast.Lambda):
            return self._given(target, place.scopes, place.owner, _named(name, call)) if place.scopes else target
        else:
            made = self._reader.read(function, place.scopes, 0)
            target = replace(target, made=made, jit=options, why="" if made is not None else UNKNOWN)
        if isinstance(value, ast.Lambda):
            return replace(target, row=value.lineno, parameters=parameters_of(value.args), known=True)
        inner = self._returned(value)
        elsewhere = self._recipes.definitions.get(self._source.dotted(value)) if inner is None else None
        if elsewhere is not None:
            statics = static_names(call.keywords, elsewhere)
            return replace(target, parameters=parameters_of(elsewhere.args), statics=statics, known=True)
        return target if inner is None else _defined(target, inner[1], f"{inner[0]}.{inner[1].name}", call.keywords)

    def _value(self, name: ast.Name, place: _Place) -> ast.expr | None:
        """What a name was given last before it is used, in the same function or at the top of the module."""
        return self._source.value_of(name, place.scopes)

    def _method(
        self, target: Target, name: str, place: _Place, call: ast.Call, options: Mapping[str, Any]
    ) -> Target | None:
        """``jax.jit(self.method)``: of an object of that class."""
        owner = self._source.classes.get(place.owner)
        method = next((n for n in getattr(owner, "body", ()) if isinstance(n, Function) and n.name == name), None)
        if method is None:
            return replace(target, why=UNKNOWN)
        target = _defined(target, method, f"{place.owner}.{name}", call.keywords)
        made = {"attr": self._object(place.owner), "name": name}
        parameters = target.parameters[0 if _is_static(method) else 1 :]
        return replace(target, parameters=parameters, made=made, jit=options, guessed=True, owner=place.owner)

    def _returned(self, value: ast.expr) -> tuple[str, Function] | None:
        """The function that a call of a function of this module gives, where it returns one that it defines."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            return None
        maker = self._defs.get(value.func.id)
        if maker is None:
            return None
        for inner in _inner(maker):
            if place_in_returns(maker, _named(inner.name)) == ():
                return maker.name, inner
        return None

    def _calls_of(self, jit: ast.Call, name: str, place: _Place) -> Iterator[CallSite]:
        """The calls of what a jit call gives, in the same function or at the top of the module."""
        for call, where in _calls(self._source.tree):
            by_name = isinstance(call.func, ast.Name) and call.func.id == name and call.lineno > jit.lineno
            if not (call.func is jit or (name and by_name and where.scopes == place.scopes)):
                continue
            made = _call_site(self._reader, self._source, call, where.scopes)
            if made is not None:
                yield made


def _call_site(reader: Reader, source: Source, call: ast.Call, scopes: Scopes) -> CallSite | None:
    """What a call passes, as far as the text says; None where stars hide it."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    args = tuple(PlannedArgument(reader.read(arg, scopes, 0)) for arg in call.args)
    kwargs = {word.arg: PlannedArgument(reader.read(word.value, scopes, 0)) for word in call.keywords if word.arg}
    return CallSite(str(source.module.path), call.lineno, args, kwargs)


def _named(name: str, call: ast.Call | None = None) -> Callable[[ast.expr], bool]:
    """Whether an expression is that name, or that call itself."""
    return lambda tree: tree is call or (isinstance(tree, ast.Name) and tree.id == name)


def _item(node: Node, step: int | str) -> Node:
    return {"item": node, "index": step}


def _bound_to(call: ast.Call, place: _Place) -> str:
    """The name that a statement gives to the value of a call, "" if none."""
    statement = place.statement
    if isinstance(statement, ast.Assign) and statement.value is call and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def _options(call: ast.Call) -> dict[str, Any] | None:
    """What a jit call says is static, None if that is no literal."""
    try:
        return {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg in OPTIONS}
    except (ValueError, TypeError):
        return None


def _defined(target: Target, definition: Function, qualname: str, keywords: list[ast.keyword]) -> Target:
    row = min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])
    return replace(
        target,
        qualname=qualname,
        row=row,
        last_row=definition.end_lineno or row,
        parameters=parameters_of(definition.args),
        statics=static_names(keywords, definition),
        known=True,
        why="",
    )


def _is_static(method: Function) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in method.decorator_list)


def _inner(function: Function) -> list[Function]:
    """The functions that a function defines."""
    return [node for statement in function.body for node in own_statements(statement) if isinstance(node, Function)]


def _functions(tree: ast.Module) -> Iterator[tuple[str, Scopes, str]]:
    """Every function: its qualified name, the functions around it, the class around those."""
    todo: list[tuple[ast.AST, str, Scopes, str]] = [(tree, "", (), "")]
    while todo:
        node, prefix, scopes, owner = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield f"{prefix}{child.name}", scopes, owner
                todo.append((child, f"{prefix}{child.name}.", (*scopes, child), owner))
            elif isinstance(child, ast.ClassDef):
                todo.append((child, f"{prefix}{child.name}.", scopes, owner if scopes else f"{prefix}{child.name}"))
            else:
                todo.append((child, prefix, scopes, owner))


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, _Place]]:
    """Every call with its place, in the order of the text as far as statements go."""
    todo: list[tuple[ast.AST, _Place]] = [
        (node, _Place((), "", node, isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)))
        for node in reversed(tree.body)
    ]
    while todo:
        node, place = todo.pop()
        if isinstance(node, ast.Call):
            yield node, place
        inside = place
        if isinstance(node, Function):
            inside = replace(place, scopes=(*place.scopes, node))
        elif isinstance(node, ast.ClassDef) and not place.scopes:
            inside = replace(place, owner=node.name)
        for child in reversed(list(ast.iter_child_nodes(node))):
            todo.append((child, replace(inside, statement=child) if isinstance(child, ast.stmt) else inside))
