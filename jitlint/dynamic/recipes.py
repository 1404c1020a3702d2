"""Objects as the program makes them: calls of its constructors, written out as arguments that a worker can build.

``env = wrap(make("CartPole"), 4)`` in the body of any function says how an object of that class comes about. The names
in such a call are followed back through the assignments before it, to literals, imports and parameters that a call in
the same module gives. Only classes, functions of libraries of numbers, and functions that are named as what makes
things are ever called.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jitlint.dynamic.signature import Node, literal
from jitlint.project.model import Module

MAX_DEPTH = 12
MAX_CALLS = 4
LIBRARIES = frozenset({"jax", "numpy", "flax", "optax", "equinox", "functools", "haiku", "chex"})
MAKERS = re.compile(r"_*(make|create|build|get|init|new|from|default|construct|setup)(_|$)|.*_(factory|from_\w+)$")

Function = ast.FunctionDef | ast.AsyncFunctionDef
_MAIN = "__main__"


@dataclass(frozen=True, slots=True)
class Receivers:
    """How objects of a class are made: by calls that the program has, or as one of the classes derived from it."""

    calls: tuple[Node, ...] = ()
    subclasses: tuple[str, ...] = ()
    why: str = ""
    """Why none is made."""


@dataclass(slots=True)
class Recipes:
    """The classes of a project by dotted name, with what is known of making each."""

    calls: dict[str, list[Node]] = field(default_factory=dict)
    bases: dict[str, list[str]] = field(default_factory=dict)
    constructors: dict[str, Function] = field(default_factory=dict)
    """The ``__init__`` that each class has of its own."""
    given: dict[str, Node] = field(default_factory=dict)
    """What some constructor is given for a parameter of that name."""
    factories: set[str] = field(default_factory=set)
    """Functions of the project that return a function which they define, or what jit makes of one."""
    harmful: dict[str, str] = field(default_factory=dict)
    """Classes and functions of the project that are never called, and what they do."""
    definitions: dict[str, Function] = field(default_factory=dict)
    """The functions at the top of modules, by dotted name."""
    uses: dict[str, list[tuple[Source, ast.Call, Scopes]]] = field(default_factory=dict)
    """Every call of something by a dotted name."""

    def of(self, name: str) -> Receivers:
        """How to make an object of this class: as the program does, else of a derived class as the program does, else
        with what other constructors are given for parameters of the same names."""
        derived = self._derived(name)
        if name in self.harmful:
            return Receivers(why=self.harmful[name])
        derived = [each for each in derived if each not in self.harmful]
        calls = [call for each in (name, *derived) for call in self.calls.get(each, ())[:MAX_CALLS]]
        if not calls and (alike := self._alike(name)) is not None:
            calls = [alike]
        return Receivers(tuple(calls[: 2 * MAX_CALLS]), tuple(derived))

    def note_given(self, owner: str, call: Node) -> None:
        """Remember what a call of a constructor gives, by the names of its parameters."""
        constructor = self._constructor(owner)
        names = [arg.arg for arg in _parameters(constructor)[1:]] if constructor is not None else []
        for name, value in (*zip(names, call["args"], strict=False), *call["kwargs"].items()):
            self.given.setdefault(name, value)

    def _alike(self, name: str) -> Node | None:
        constructor = self._constructor(name)
        if constructor is None:
            return None
        names = [arg.arg for arg in _parameters(constructor)[1:] if arg.arg not in _defaults(constructor)]
        if not names or any(each not in self.given for each in names):
            return None
        return {"call": {"ref": name}, "args": [], "kwargs": {each: self.given[each] for each in names}}

    def _constructor(self, name: str) -> Function | None:
        """The ``__init__`` of a class, its own or inherited."""
        todo, seen = [name], set()
        while todo:
            each = todo.pop(0)
            if each in self.constructors:
                return self.constructors[each]
            seen.add(each)
            todo += [base for base in self.bases.get(each, ()) if base not in seen]
        return None

    def _derived(self, name: str) -> list[str]:
        found: list[str] = []
        todo = [name]
        while todo:
            base = todo.pop(0)
            for each, bases in self.bases.items():
                if base in bases and each not in found:
                    found.append(each)
                    todo.append(each)
        return found


def find_recipes(modules: Sequence[Module]) -> Recipes:
    """The recipes of a project; a text that does not parse has none."""
    sources = [source for module in modules if (source := Source.read(module)) is not None]
    names: dict[str, list[str]] = {}
    for source in sources:
        for name in source.classes:
            names.setdefault(name, []).append(f"{source.module.name}.{name}")
    roots = {source.module.name.partition(".")[0] for source in sources}

    def known(dotted: str) -> str | None:
        """The class of the project that a dotted name means, also where a package hands it on."""
        module, _, name = dotted.rpartition(".")
        found = names.get(name, [])
        if dotted in found:
            return dotted
        return found[0] if len(found) == 1 and module.partition(".")[0] in roots else None

    recipes = Recipes()
    for source in sources:
        for name, node in source.classes.items():
            bases = (known(source.dotted(base)) for base in node.bases)
            recipes.bases[f"{source.module.name}.{name}"] = [base for base in bases if base is not None]
            for inner in node.body:
                if isinstance(inner, Function) and inner.name == "__init__":
                    recipes.constructors[f"{source.module.name}.{name}"] = inner
                if isinstance(inner, Function) and inner.name in CONSTRUCTORS and (what := harm_of(inner)):
                    recipes.harmful[f"{source.module.name}.{name}"] = f"making an object of {name} {what}"
        for made in source.tree.body:
            if isinstance(made, Function):
                recipes.definitions[f"{source.module.name}.{made.name}"] = made
            if isinstance(made, Function) and (what := harm_of(made)):
                recipes.harmful[f"{source.module.name}.{made.name}"] = f"calling {made.name} {what}"
            elif isinstance(made, Function) and gives_function(made):
                recipes.factories.add(f"{source.module.name}.{made.name}")
    for source in sources:
        reader = Reader(source, recipes)
        for call, scopes in source.calls():
            dotted = source.dotted(call.func)
            if dotted:
                recipes.uses.setdefault(dotted, []).append((source, call, scopes))
            owner = dotted if dotted in recipes.factories else known(dotted)
            spelled = None if owner is None or owner in recipes.harmful else reader.call(call, scopes, 0)
            if owner is not None and spelled is not None and spelled not in recipes.calls.setdefault(owner, []):
                recipes.calls[owner].append(spelled)
                if owner not in recipes.factories:
                    recipes.note_given(owner, spelled)
    return recipes


CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "setup"})


def harm_of(function: Function) -> str:
    """What a function does, beyond making something, that is written in it; "" if nothing."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            return f"rebinds the global {node.names[0]}"
    return ""


def gives_function(function: Function) -> bool:
    """Whether a function returns a function that it defines, alone or among others, or a call with one."""
    inner = {
        node.name for statement in function.body for node in own_statements(statement) if isinstance(node, Function)
    }

    def gives(value: ast.expr) -> bool:
        if isinstance(value, ast.Call):
            return any(map(gives, value.args))
        return isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in inner)

    return place_in_returns(function, gives) is not None or any(
        isinstance(value, ast.Name) and value.id == name and isinstance(given, ast.Call) and any(map(gives, given.args))
        for value in _returns(function)
        for _, name, given in _locals(function)
    )


def place_in_returns(function: Function, wanted: Callable[[ast.expr], bool]) -> tuple[int | str, ...] | None:
    """Where in what a function returns an expression is: () if it is all of it, else an index, a key, or a field
    written with a dot before it; None if nowhere."""
    for value in _returns(function):
        if wanted(value):
            return ()
        if isinstance(value, ast.Tuple | ast.List):
            for index, item in enumerate(value.elts):
                if wanted(item):
                    return (index,)
        elif isinstance(value, ast.Dict):
            for key, item in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and wanted(item):
                    return (key.value,)
        elif isinstance(value, ast.Call):
            field = "" if isinstance(value.func, ast.Name) and value.func.id == "dict" else "."
            for word in value.keywords:
                if word.arg and wanted(word.value):
                    return (field + word.arg,)
    return None


def _returns(function: Function) -> Iterator[ast.expr]:
    for statement in function.body:
        for node in own_statements(statement):
            if isinstance(node, ast.Return) and node.value is not None:
                yield node.value


Scopes = tuple[Function, ...]
"""The functions around a place, outermost first."""


class Source:
    """One module as it is read for recipes."""

    def __init__(self, module: Module, tree: ast.Module) -> None:
        self.module = module
        self.tree = tree
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.imports = dict(_imports(tree, module))
        self.assigned: dict[str, list[tuple[int, ast.expr, bool]]] = {}
        for node in tree.body:
            main = isinstance(node, ast.If) and _MAIN in ast.unparse(node.test)
            for inner in own_statements(node):
                for name, value in _bound(inner):
                    self.assigned.setdefault(name, []).append((inner.lineno, value, main))
        self.methods = {
            id(method): owner.name
            for owner in self.classes.values()
            for method in owner.body
            if isinstance(method, Function)
        }
        """The class of each method, by the identity of its definition."""
        self.functions = {node.name for node in tree.body if isinstance(node, Function)}
        self.importable = module.notebook is None and all(part.isidentifier() for part in module.name.split("."))
        """Not so for notebooks, and for files with names that no import statement can have."""

    @classmethod
    def read(cls, module: Module) -> Source | None:
        try:
            return cls(module, ast.parse(module.text))
        except (SyntaxError, ValueError, RecursionError):
            return None

    def dotted(self, tree: ast.expr) -> str:
        """The dotted name of a class or function that an expression names; "" for any other expression."""
        if isinstance(tree, ast.Attribute):
            inner = self.dotted(tree.value)
            return f"{inner}.{tree.attr}" if inner else ""
        if not isinstance(tree, ast.Name):
            return self.dotted(tree.value) if isinstance(tree, ast.Subscript) else ""
        defined = self.importable and (tree.id in self.classes or tree.id in self.functions)
        return self.imports.get(tree.id, f"{self.module.name}.{tree.id}" if defined else "")

    def value_of(self, name: ast.Name, scopes: Scopes) -> ast.expr | None:
        """What a name was given last before it is used, in the innermost function or at the top of the module."""
        if scopes:
            given = [(row, value) for row, each, value in _locals(scopes[-1]) if each == name.id]
        else:
            given = [(row, value) for row, value, _ in self.assigned.get(name.id, [])]
        before = [value for row, value in given if row < name.lineno]
        return before[-1] if before else None

    def calls(self) -> Iterator[tuple[ast.Call, Scopes]]:
        """Every call, with the functions around it."""
        todo: list[tuple[ast.AST, Scopes]] = [(self.tree, ())]
        while todo:
            node, scopes = todo.pop()
            if isinstance(node, ast.Call):
                yield node, scopes
            inside = (*scopes, node) if isinstance(node, Function) else scopes
            todo.extend((child, inside) for child in reversed(list(ast.iter_child_nodes(node))))


class Reader:
    """Writes expressions of a module out as arguments; None for what cannot be followed."""

    def __init__(self, source: Source, recipes: Recipes, *, objects: bool = False) -> None:
        """With ``objects``, ``self`` is an object of the class, once the recipes are complete."""
        self._source = source
        self._recipes = recipes
        self._objects = objects

    def call(self, tree: ast.Call, scopes: Scopes, depth: int) -> Node | None:
        function = self._function(tree.func, scopes, depth)
        if function is None:
            return None
        args = [self.read(arg, scopes, depth + 1) for arg in tree.args]
        kwargs = {word.arg: self.read(word.value, scopes, depth + 1) for word in tree.keywords}
        if None in args or None in kwargs or None in kwargs.values():
            return None
        return {"call": function, "args": args, "kwargs": kwargs}

    def _function(self, tree: ast.expr, scopes: Scopes, depth: int) -> Node | None:
        """What is called, if it is something that makes things."""
        dotted = self._source.dotted(tree)
        name = dotted.rpartition(".")[2] or (tree.attr if isinstance(tree, ast.Attribute) else "")
        library = dotted.partition(".")[0] in LIBRARIES
        makes = library or name.lstrip("_")[:1].isupper() or MAKERS.match(name) or dotted in self._recipes.factories
        if not makes or dotted in self._recipes.harmful:
            return None
        if dotted:
            return {"ref": dotted}
        inner = self.read(tree.value, scopes, depth + 1) if isinstance(tree, ast.Attribute) else None
        return None if inner is None else {"attr": inner, "name": name}

    def read(self, tree: ast.expr, scopes: Scopes, depth: int) -> Node | None:
        if depth > MAX_DEPTH:
            return None
        match tree:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return literal(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return literal(-value)
            case ast.List() | ast.Tuple():
                items = [self.read(item, scopes, depth + 1) for item in tree.elts]
                return None if None in items else {"list" if isinstance(tree, ast.List) else "tuple": items}
            case ast.Dict(keys=keys, values=values):
                pairs = [
                    [None if k is None else self.read(k, scopes, depth + 1), self.read(v, scopes, depth + 1)]
                    for k, v in zip(keys, values, strict=True)
                ]
                return None if any(None in pair for pair in pairs) else {"dict": pairs}
            case ast.Call():
                return self.call(tree, scopes, depth)
            case ast.Subscript(value=value, slice=ast.Constant(value=int() | str() as index)):
                inner = self.read(value, scopes, depth + 1)
                return None if inner is None else {"item": inner, "index": index}
            case ast.Attribute(value=value, attr=name):
                dotted = self._source.dotted(tree)
                if dotted:
                    return {"ref": dotted}
                inner = self.read(value, scopes, depth + 1)
                return None if inner is None else {"attr": inner, "name": name}
            case ast.Name():
                return self._name(tree, scopes, depth)
        return None

    def _name(self, tree: ast.Name, scopes: Scopes, depth: int) -> Node | None:
        for level in range(len(scopes), 0, -1):
            function, around = scopes[level - 1], scopes[: level - 1]
            values = [(row, value) for row, name, value in _locals(function) if name == tree.id and row < tree.lineno]
            if values:
                return self.read(max(values, key=lambda found: found[0])[1], scopes[:level], depth + 1)
            if any(arg.arg == tree.id for arg in _parameters(function)):
                return self._parameter(function, tree.id, around, depth)
        if dotted := self._source.dotted(tree):
            return {"ref": dotted}
        found = self._source.assigned.get(tree.id, [])
        before = found if scopes else [each for each in found if each[0] < tree.lineno]
        value = self.read(before[-1][1], (), depth + 1) if before else None
        if value is None and found and self._source.importable and not any(main for _, _, main in found):
            return {"ref": f"{self._source.module.name}.{tree.id}"}
        return value

    def _parameter(self, function: Function, name: str, around: Scopes, depth: int) -> Node | None:
        """What calls of a function in its own module pass for a parameter, else its default."""
        parameters = _parameters(function)
        place = next(i for i, arg in enumerate(parameters) if arg.arg == name)
        owner = self._source.methods.get(id(function))
        if owner is not None:
            return self._object(owner) if place == 0 and self._objects else None
        for call, scopes in self._source.calls():
            if not isinstance(call.func, ast.Name) or call.func.id != function.name or function in scopes:
                continue
            given = next((word.value for word in call.keywords if word.arg == name), None)
            if given is None and place < len(call.args):
                given = call.args[place]
            value = None if given is None else self.read(given, scopes, depth + 1)
            if value is not None:
                return value
        default = _defaults(function).get(name)
        return None if default is None else self.read(default, around, depth + 1)

    def _object(self, owner: str) -> Node | None:
        name = f"{self._source.module.name}.{owner}"
        receivers = self._recipes.of(name)
        if receivers.why or not self._source.importable:
            return None
        return {"made": name, "calls": list(receivers.calls), "subclasses": list(receivers.subclasses)}


def _imports(tree: ast.Module, module: Module) -> Iterator[tuple[str, str]]:
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield alias.asname or first, alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield alias.asname or alias.name, f"{origin}.{alias.name}"


def own_statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a statement, those of functions and classes inside it left out."""
    if isinstance(node, ast.stmt):
        yield node
    if isinstance(node, Function | ast.ClassDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from own_statements(child)


def _bound(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement binds, each with the expression for its value."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple):
            for index, inner in enumerate(target.elts):
                if isinstance(inner, ast.Name):
                    yield inner.id, _item(node.value, index)


def _item(value: ast.expr, index: int) -> ast.expr:
    if isinstance(value, ast.Tuple) and index < len(value.elts):
        return value.elts[index]
    return ast.copy_location(ast.Subscript(value, ast.Constant(index), ast.Load()), value)


def _locals(function: Function) -> list[tuple[int, str, ast.expr]]:
    return [
        (inner.lineno, name, value)
        for statement in function.body
        for inner in own_statements(statement)
        for name, value in _bound(inner)
    ]


def _parameters(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _defaults(function: Function) -> Mapping[str, ast.expr]:
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    found = {arg.arg: value for arg, value in zip(reversed(positional), reversed(args.defaults), strict=False)}
    found |= {arg.arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None}
    return found
