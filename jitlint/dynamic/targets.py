"""The jitted functions of a module, read from its text: where each is reachable, its parameters, what is static."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jitlint.dynamic.signature import Node

if TYPE_CHECKING:
    from jitlint.dynamic.plan import CallSite

JITS = frozenset(
    {"jax.jit", "jax.pjit", "jax.experimental.pjit.pjit", "equinox.filter_jit", "flax.nnx.jit", "jax.pmap"}
)
LOCAL = "it is defined inside a function"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as written; ``kind`` is ``pos``, ``kwonly``, ``args`` or ``kwargs``."""

    name: str
    kind: str
    annotation: ast.expr | None = None
    default: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A jitted function: ``reach`` is the dotted name of the jitted object in its module, "" if there is none."""

    qualname: str
    reach: str
    row: int
    """The row Python gives its code: that of its first decorator."""
    last_row: int
    parameters: tuple[Parameter, ...]
    statics: frozenset[str]
    owner: str = ""
    """The class whose method it is."""
    constructed: bool = False
    """The constructor of that class asks for arguments."""
    made: Node | None = None
    """How the function is made where ``reach`` is "": by a call of the function around it, of an object …"""
    guessed: bool = False
    """That call has arguments which nothing in the program says."""
    jit: Mapping[str, Any] | None = None
    """The options to jit what ``reach`` or ``made`` gives; None if it is jitted."""
    jitter: str = "jax.jit"
    """What jits it then."""
    site: tuple[int, int] | None = None
    """The first and the last row of the jit call."""
    calls: tuple[CallSite, ...] = ()
    """Calls of what the jit call gives, read from the text."""
    known: bool = True
    """Whether ``parameters`` are those of the function."""
    why: str = ""
    """Why nothing can be planned."""


def find_targets(text: str) -> tuple[Target, ...]:
    """The jitted functions of a module text, in order; nothing for a text that does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    return tuple(_Finder(tree).targets())


def alias_table(tree: ast.Module) -> dict[str, str]:
    """What the imports anywhere in a module bind, as dotted names."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def dotted_name(tree: ast.expr, names: dict[str, str]) -> str:
    """The dotted name an expression stands for, imports resolved; "" for anything but names and attributes."""
    if isinstance(tree, ast.Attribute):
        inner = dotted_name(tree.value, names)
        return f"{inner}.{tree.attr}" if inner else ""
    return names.get(tree.id, tree.id) if isinstance(tree, ast.Name) else ""


_Def = ast.FunctionDef | ast.AsyncFunctionDef


class _Finder:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._names = alias_table(tree)
        self._defs = {node.name: node for node in tree.body if isinstance(node, _Def)}

    def targets(self) -> Iterator[Target]:
        yield from self._scan(self._tree.body, "", "", local=False)

    def _scan(self, body: list[ast.stmt], prefix: str, owner: str, *, local: bool) -> Iterator[Target]:
        for node in body:
            if isinstance(node, _Def):
                yield from self._decorated(node, prefix, owner, local=local)
                yield from self._scan(node.body, f"{prefix}{node.name}.", "", local=True)
            elif isinstance(node, ast.ClassDef):
                owner_name = f"{prefix}{node.name}"
                for target in self._scan(node.body, f"{owner_name}.", owner_name, local=local):
                    yield replace(target, constructed=_asks(node)) if target.owner == owner_name else target
            else:
                if isinstance(node, ast.Assign) and not local and not owner:
                    yield from self._assigned(node)
                for inner in ast.iter_child_nodes(node):
                    if isinstance(inner, ast.stmt):
                        yield from self._scan([inner], prefix, owner, local=local)

    def _decorated(self, node: _Def, prefix: str, owner: str, *, local: bool) -> Iterator[Target]:
        for decorator in node.decorator_list:
            statics = self._statics(decorator, node)
            if statics is not None:
                qualname = prefix + node.name
                yield _target(node, qualname, "" if local else qualname, statics, owner)
                return

    def _assigned(self, node: ast.Assign) -> Iterator[Target]:
        """``step = jax.jit(f)`` at module level, of a function of the module."""
        call, target = node.value, node.targets[0]
        if not isinstance(call, ast.Call) or not call.args or not isinstance(target, ast.Name):
            return
        function = call.args[0]
        if isinstance(function, ast.Name) and function.id in self._defs and dotted_name(call.func, self._names) in JITS:
            definition = self._defs[function.id]
            yield _target(definition, definition.name, target.id, static_names(call.keywords, definition), "")

    def _statics(self, decorator: ast.expr, node: _Def) -> frozenset[str] | None:
        """The static parameters if the decorator jits, else None."""
        if dotted_name(decorator, self._names) in JITS:
            return frozenset()
        if not isinstance(decorator, ast.Call):
            return None
        name = dotted_name(decorator.func, self._names)
        partial = name in ("functools.partial", "partial") and decorator.args
        if name in JITS or (partial and dotted_name(decorator.args[0], self._names) in JITS):
            return static_names(decorator.keywords, node)
        return None


def static_names(keywords: list[ast.keyword], node: _Def) -> frozenset[str]:
    """The parameters of a function that the keywords of a jit call make static."""
    found: set[str] = set()
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    for keyword in keywords:
        if keyword.arg not in ("static_argnames", "static_argnums", "static_broadcasted_argnums"):
            continue
        try:
            value = ast.literal_eval(keyword.value)
        except ValueError:
            continue
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, str):
                found.add(item)
            elif isinstance(item, int) and -len(names) <= item < len(names):
                found.add(names[item])
    return frozenset(found)


def _asks(node: ast.ClassDef) -> bool:
    """Whether a constructor written in the class, by hand or as fields without values, asks for arguments."""
    for inner in node.body:
        if isinstance(inner, _Def) and inner.name == "__init__":
            named = parameters_of(inner.args)[1:]
            return any(p.default is None and p.kind not in ("args", "kwargs") for p in named)
    return any(isinstance(inner, ast.AnnAssign) and inner.value is None for inner in node.body)


def _target(node: _Def, qualname: str, reach: str, statics: frozenset[str], owner: str) -> Target:
    row = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return Target(qualname, reach, row, node.end_lineno or row, parameters_of(node.args), statics, owner)


def parameters_of(args: ast.arguments) -> tuple[Parameter, ...]:
    """The parameters of a function, in the order of its signature."""
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    out = [Parameter(a.arg, "pos", a.annotation, d) for a, d in zip(positional, defaults, strict=True)]
    if args.vararg:
        out.append(Parameter(args.vararg.arg, "args", args.vararg.annotation))
    out += [Parameter(a.arg, "kwonly", a.annotation, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        out.append(Parameter(args.kwarg.arg, "kwargs", args.kwarg.annotation))
    return tuple(out)
