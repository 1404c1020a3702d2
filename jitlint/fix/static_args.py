"""Make parameters of a jitted function static: the expression that makes it, rewritten.

The expression is taken and given as source text, so that what is not touched stays as it was. JAX's own rules decide
what is written: names are inferred from ``static_argnums`` and numbers from ``static_argnames``, but only while the
other is absent; a parameter must end up static however a caller passes it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import libcst as cst

from jitlint.findings import NewImport
from jitlint.fix.code import walk
from jitlint.fix.sequences import insert
from jitlint.fix.text import newline_of, with_newlines

_NOT_JIT = frozenset({"filter_jit", "filter_pmap", "jit_partial", "named_jit", "pmap", "shard_map", "vmap", "xmap"})
"""Last names of transforms whose options are not those of ``jax.jit``."""


class Kind(StrEnum):
    """How a parameter can be passed."""

    POSITIONAL_ONLY = "positional-only"
    EITHER = "positional or keyword"
    VARARGS = "*args"
    KEYWORD_ONLY = "keyword-only"
    KWARGS = "**kwargs"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the jitted function."""

    name: str
    kind: Kind = Kind.EITHER


@dataclass(frozen=True, slots=True)
class StaticOptions:
    """The options an alias such as ``jit = partial(jax.jit, static_argnames=…)`` already carries; None: not given."""

    argnames: tuple[str, ...] | None = None
    argnums: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class StaticEdit:
    """The new text of the expression, and the imports it needs."""

    text: str
    imports: tuple[NewImport, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the expression cannot be rewritten, as the end of a sentence."""

    reason: str


def parameters_of(node: cst.Parameters) -> tuple[Parameter, ...]:
    """The parameters of a function or lambda in the order of its signature."""
    groups: list[tuple[Iterable[cst.Param], Kind]] = [
        (node.posonly_params, Kind.POSITIONAL_ONLY),
        (node.params, Kind.EITHER),
        ((node.star_arg,) if isinstance(node.star_arg, cst.Param) else (), Kind.VARARGS),
        (node.kwonly_params, Kind.KEYWORD_ONLY),
        ((node.star_kwarg,) if node.star_kwarg is not None else (), Kind.KWARGS),
    ]
    return tuple(Parameter(param.name.value, kind) for params, kind in groups for param in params)


def make_static(
    expression: str,
    names: Iterable[str],
    parameters: Sequence[Parameter],
    *,
    filename: str,
    decorator: bool,
    bound: bool = False,
    factory: bool = False,
    bindings: Mapping[str, str] | None = None,
    inherited: StaticOptions = StaticOptions(),
    quote: str = '"',
) -> StaticEdit | Refusal:
    """Rewrite the expression of a jit site so that the parameters ``names`` are static.

    ``expression`` is the text of the whole expression: ``jax.jit`` or ``partial(jax.jit, …)`` or ``jax.jit(…)`` of a
    decorator (without the ``@``), or a call that gives a jitted function, ``jax.jit(f, …)`` or
    ``partial(jax.jit, …)(f)``. ``parameters`` are those of the jitted function; ``bound`` says that the first one is
    filled by a bound method. ``factory`` says that ``@jax.jit(…)`` works in every JAX the project supports.
    ``bindings`` maps local names to what they mean, dotted (``{"partial": "functools.partial"}``); ``inherited`` are
    options that the name of the expression already carries. ``quote`` is used where the expression shows no other.

    Gives the text with the names added, the same text if they are static already, or a :class:`Refusal`.
    """
    try:
        tree = cst.parse_expression(expression)
        site = _Site(
            filename=filename,
            parameters=tuple(parameters[1:] if bound else parameters),
            bindings=bindings or {},
            factory=factory,
            inherited=inherited,
            quote=_quote_in(tree) or quote,
        )
        edit = site.rewrite(tree, tuple(dict.fromkeys(names)), decorator=decorator)
        return StaticEdit(with_newlines(edit.text, newline_of(expression)), edit.imports)
    except cst.ParserSyntaxError:
        return Refusal("the expression cannot be parsed")
    except _CannotError as error:
        return Refusal(str(error))


_Brackets = cst.Tuple | cst.List | cst.Set


class _CannotError(Exception):
    """The expression cannot be rewritten; the message says why."""


@dataclass(frozen=True, slots=True)
class _Options:
    """What the expression says: None is an option that is absent (or ``None``)."""

    names: tuple[str, ...] | None
    nums: tuple[int, ...] | None
    donated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Site:
    filename: str
    parameters: tuple[Parameter, ...]
    bindings: Mapping[str, str]
    factory: bool
    inherited: StaticOptions
    quote: str

    def rewrite(self, tree: cst.BaseExpression, names: tuple[str, ...], *, decorator: bool) -> StaticEdit:
        if isinstance(tree, cst.Call):
            holder = self._holder(tree)
            changed = self._with_statics(holder, names)
            if changed is holder:
                return StaticEdit(_code(tree))
            new = changed if holder is tree else tree.with_changes(func=changed)
            return StaticEdit(_code(new))
        if not isinstance(tree, cst.Name | cst.Attribute):
            raise _CannotError("it is not a call of jax.jit")
        if not decorator:
            raise _CannotError("jax.jit is passed on as a value here")
        self._accept(tree)
        if self._wanted(self._present(()), names) is None:
            return StaticEdit(_code(tree))
        if self._is_factory(tree):
            bare = cst.Call(tree)
            return StaticEdit(_code(self._with_statics(bare, names)))
        partial, imports = self._partial()
        bare = cst.Call(cst.parse_expression(partial), args=[cst.Arg(tree.with_changes(lpar=(), rpar=()))])
        return StaticEdit(_code(self._with_statics(bare, names)), imports)

    # Where the options are.

    def _holder(self, call: cst.Call) -> cst.Call:
        """The call whose keywords are the options: the expression itself, or the ``partial`` that it calls."""
        if isinstance(call.func, cst.Call):
            if not self._is_partial(call.func.func):
                raise _CannotError("what is called here is not jax.jit itself")
            call = call.func
        positional = [arg for arg in call.args if arg.keyword is None]
        if self._is_partial(call.func):
            if not positional:
                raise _CannotError("the partial does not name jax.jit")
            self._accept(positional[0].value)
            positional = positional[1:]
        else:
            self._accept(call.func)
        if any(arg.star for arg in call.args):
            raise _CannotError("its options are unpacked from a variable")
        if len(positional) > 1:
            raise _CannotError("its options are passed by position")
        return call

    def _accept(self, callee: cst.BaseExpression) -> None:
        dotted = self._dotted(callee)
        if dotted is None:
            raise _CannotError("what is called here is not a name")
        if dotted.rpartition(".")[2] in _NOT_JIT or dotted.startswith("flax.linen."):
            raise _CannotError(f"{dotted} has no static_argnames")

    def _is_factory(self, callee: cst.BaseExpression) -> bool:
        dotted = self._dotted(callee) or ""
        if self.inherited != StaticOptions():
            return self.factory
        return self.factory or dotted.startswith("flax.nnx.")

    def _is_partial(self, callee: cst.BaseExpression) -> bool:
        dotted = self._dotted(callee)
        return dotted is not None and dotted.rpartition(".")[2] == "partial"

    def _dotted(self, node: cst.BaseExpression) -> str | None:
        if isinstance(node, cst.Name):
            return self.bindings.get(node.value, node.value)
        if isinstance(node, cst.Attribute):
            base = self._dotted(node.value)
            return None if base is None else f"{base}.{node.attr.value}"
        return None

    def _partial(self) -> tuple[str, tuple[NewImport, ...]]:
        for name, meaning in self.bindings.items():
            if meaning == "functools.partial":
                return name, ()
        for name, meaning in self.bindings.items():
            if meaning == "functools":
                return f"{name}.partial", ()
        if self.bindings.get("functools", "functools") != "functools":
            raise _CannotError("the name functools means something else in this file")
        return "functools.partial", (NewImport(self.filename, "functools"),)

    # What is static now and what is to be.

    def _present(self, args: Sequence[cst.Arg]) -> _Options:
        options = _Options(self.inherited.argnames, self.inherited.argnums)
        for arg in args:
            keyword = arg.keyword.value if arg.keyword is not None else None
            match keyword:
                case "static_argnames":
                    options = replace(options, names=_names(arg.value, keyword))
                case "static_argnums":
                    options = replace(options, nums=_numbers(arg.value, keyword))
                case "donate_argnames":
                    options = replace(options, donated=options.donated | set(_names(arg.value, keyword) or ()))
                case "donate_argnums":
                    indices = [self._index(number) for number in _numbers(arg.value, keyword) or ()]
                    taken = {self.parameters[i].name for i in indices if i is not None}
                    options = replace(options, donated=options.donated | taken)
                case "in_shardings" | "in_axis_resources" | "abstracted_axes":
                    if not _is_none(arg.value):
                        raise _CannotError(f"{keyword} counts the arguments that are not static")
                case _:
                    pass
        return options

    def _wanted(self, now: _Options, names: tuple[str, ...]) -> _Options | None:
        """The options to write, None if the names are static already."""
        by_name = {parameter.name: position for position, parameter in enumerate(self.parameters)}
        missing = [name for name in names if not self._is_static(name, by_name.get(name), now)]
        if not missing:
            return None
        taken = [name for name in missing if name in now.donated]
        if taken:
            raise _CannotError(f"{taken[0]} is donated, and a donated argument cannot be static")
        places = [(name, by_name.get(name)) for name in missing]
        new_names = [name for name, place in places if self._by_keyword(name, place)]
        new_nums = [place for _, place in places if place is not None and self._by_position(place)]
        if now.nums is None and len(new_names) == len(missing):
            return replace(now, names=self._merge_names(now.names, new_names))
        if now.names is None and len(new_nums) == len(missing):
            return replace(now, nums=self._merge_numbers(now.nums or (), new_nums))
        if now.names is None and now.nums is not None and self.inherited.argnums is None:
            converted = self._as_names(now.nums)
            if converted is not None and len(new_names) == len(missing):
                return replace(now, names=self._merge_names(converted, new_names), nums=None)
        # Both must be given, and then JAX infers neither from the other: write out what it inferred so far.
        old_names = now.names if now.names is not None else self._inferred_names(now.nums or ())
        old_nums = now.nums if now.nums is not None else self._inferred_numbers(now.names or ())
        return replace(
            now,
            names=self._merge_names(old_names, new_names),
            nums=self._merge_numbers(old_nums, new_nums),
        )

    def _is_static(self, name: str, place: int | None, now: _Options) -> bool:
        """Whether JAX treats the parameter as static, by position and by keyword."""
        named = name in (now.names or ())
        # A negative number counts back from the arguments of each call, and no name is inferred from it.
        numbered = place is not None and self._by_position(place) and place in (now.nums or ())
        if now.nums is None:
            return named and (place is None or self.parameters[place].kind is not Kind.POSITIONAL_ONLY)
        if now.names is None:
            return numbered
        return (numbered or place is None or not self._by_position(place)) and (
            named or not self._by_keyword(name, place)
        )

    def _by_position(self, place: int) -> bool:
        return self.parameters[place].kind in (Kind.POSITIONAL_ONLY, Kind.EITHER)

    def _by_keyword(self, name: str, place: int | None) -> bool:
        if place is None:
            if not any(parameter.kind is Kind.KWARGS for parameter in self.parameters):
                raise _CannotError(f"the jitted function has no parameter {name}")
            return True
        kind = self.parameters[place].kind
        if kind in (Kind.VARARGS, Kind.KWARGS):
            raise _CannotError(f"{kind.value} cannot be static as a whole")
        return kind is not Kind.POSITIONAL_ONLY

    def _index(self, number: int) -> int | None:
        """The position in the signature that an argument number means; None if there is none."""
        positional = [p for p in self.parameters if p.kind in (Kind.POSITIONAL_ONLY, Kind.EITHER)]
        place = number + len(positional) if number < 0 else number
        return place if 0 <= place < len(positional) else None

    def _inferred_names(self, numbers: Iterable[int]) -> tuple[str, ...]:
        places = [place for number in numbers if (place := self._index(number)) is not None]
        return tuple(self.parameters[i].name for i in places if self.parameters[i].kind is Kind.EITHER)

    def _inferred_numbers(self, names: Iterable[str]) -> tuple[int, ...]:
        wanted = set(names)
        return tuple(i for i, p in enumerate(self.parameters) if p.kind is Kind.EITHER and p.name in wanted)

    def _as_names(self, numbers: tuple[int, ...]) -> tuple[str, ...] | None:
        """The same statics by name, None if a number has no name of its own."""
        names = self._inferred_names(numbers)
        return names if len(names) == len(numbers) else None

    def _merge_names(self, old: tuple[str, ...] | None, new: Iterable[str]) -> tuple[str, ...]:
        order = {parameter.name: position for position, parameter in enumerate(self.parameters)}
        return _merge(old or (), new, lambda name: order.get(name, len(order)))

    def _merge_numbers(self, old: tuple[int, ...], new: Sequence[int]) -> tuple[int, ...]:
        # A negative number counts back from what each call passes; say which parameter it is meant to be.
        places = [self._index(number) if number < 0 else None for number in old]
        known = [number if place is None else place for number, place in zip(old, places, strict=True)]
        return _merge(tuple(dict.fromkeys(known)), new, lambda number: number)

    # Writing.

    def _with_statics(self, call: cst.Call, names: tuple[str, ...]) -> cst.Call:
        """The call with the options to write; the same object if there is nothing to do."""
        now = self._present(call.args)
        wanted = self._wanted(now, names)
        if wanted is None:
            return call
        if wanted.nums is None and now.nums is not None:
            call = _without(call, "static_argnums", replacement="static_argnames")
            now = replace(now, nums=None)
        if wanted.nums is not None and wanted.nums != now.nums:
            call = _with_option(call, "static_argnums", now.nums or (), [str(number) for number in wanted.nums])
        if wanted.names is not None and wanted.names != now.names:
            quoted = [f"{self.quote}{name}{self.quote}" for name in wanted.names]
            call = _with_option(call, "static_argnames", now.names or (), quoted)
        return call


def _code(node: cst.CSTNode) -> str:
    return cst.Module(()).code_for_node(node)


def _quote_in(tree: cst.BaseExpression) -> str | None:
    """The quotation mark of the first plain string in the expression."""
    for node in walk(tree):
        if isinstance(node, cst.SimpleString) and node.quote in ("'", '"'):
            return node.quote
    return None


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _items(node: cst.BaseExpression, option: str) -> list[object] | None:
    """The values that an option spells out, alone or in brackets; None for ``None``."""
    if _is_none(node):
        return None
    values = [node]
    if isinstance(node, cst.Tuple | cst.List | cst.Set):
        if any(isinstance(element, cst.StarredElement) for element in node.elements):
            raise _CannotError(f"{option} is not written out here")
        values = [element.value for element in node.elements]
    try:
        return [ast.literal_eval(_code(value).strip()) for value in values]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise _CannotError(f"{option} is not written out here") from None


def _names(node: cst.BaseExpression, option: str) -> tuple[str, ...] | None:
    items = _items(node, option)
    if items is None:
        return None
    names = tuple(item for item in items if isinstance(item, str) and item.isidentifier())
    if len(names) != len(items):
        raise _CannotError(f"{option} is not valid as it is")
    return names


def _numbers(node: cst.BaseExpression, option: str) -> tuple[int, ...] | None:
    items = _items(node, option)
    if items is None:
        return None
    numbers = tuple(item for item in items if type(item) is int)
    if len(numbers) != len(items):
        raise _CannotError(f"{option} is not valid as it is")
    return numbers


_Item = TypeVar("_Item", str, int)


def _merge(old: tuple[_Item, ...], new: Iterable[_Item], rank: Callable[[_Item], int]) -> tuple[_Item, ...]:
    """``old`` with ``new`` added: in order of rank if ``old`` is in that order, else behind it; none twice."""
    merged = list(old)
    ordered = sorted(merged, key=rank) == merged
    for item in new:
        if item not in merged:
            place = next((i for i, other in enumerate(merged) if rank(other) > rank(item)), len(merged))
            merged.insert(place if ordered else len(merged), item)
    return tuple(merged)


def _with_option(call: cst.Call, option: str, old: Sequence[object], values: Sequence[str]) -> cst.Call:
    """The call with ``option=`` set to a sequence of ``values`` (source text), keeping what is written of ``old``."""
    args = list(call.args)
    for position, arg in enumerate(args):
        if arg.keyword is not None and arg.keyword.value == option:
            args[position] = arg.with_changes(value=_extended(arg.value, len(old), values))
            return call.with_changes(args=args)
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(_tuple(values), keyword=cst.Name(option), equal=equal)
    return call.with_changes(args=insert(args, len(args), new, call.whitespace_before_args))


def _without(call: cst.Call, option: str, *, replacement: str) -> cst.Call:
    """The call with ``option`` turned into an empty ``replacement`` (filled in next), or dropped if that is there."""
    taken = any(arg.keyword is not None and arg.keyword.value == replacement for arg in call.args)
    args: list[cst.Arg] = []
    for arg in call.args:
        if arg.keyword is None or arg.keyword.value != option:
            args.append(arg)
        elif not taken:
            args.append(arg.with_changes(keyword=cst.Name(replacement), value=cst.Tuple(())))
        elif args and arg is call.args[-1]:
            args[-1] = args[-1].with_changes(comma=arg.comma, whitespace_after_arg=arg.whitespace_after_arg)
    return call.with_changes(args=args)


def _tuple(values: Sequence[str]) -> cst.Tuple:
    return cst.Tuple([cst.Element(cst.parse_expression(value)) for value in values])


def _extended(node: cst.BaseExpression, old: int, values: Sequence[str]) -> cst.BaseExpression:
    """The literal ``node``, which spells ``old`` values, with those of ``values`` that it lacks put in their places."""
    if not isinstance(node, cst.Tuple | cst.List | cst.Set) or old == 0:
        return _tuple(values)
    present = [ast.literal_eval(_code(element.value).strip()) for element in node.elements]
    wanted = [ast.literal_eval(value) for value in values]
    if [value for value in wanted if value in present] != present:
        return _tuple(values)
    node, opening = _with_closing_in_comma(node)
    elements = list(node.elements)
    for position, value in enumerate(values):
        if wanted[position] not in present:
            new = cst.Element(cst.parse_expression(value))
            elements = insert(elements, position, new, opening)
    if isinstance(node, cst.Tuple) and len(present) == 1:
        elements[-1] = _without_idle_comma(elements[-1])
    return node.with_changes(elements=elements)


def _with_closing_in_comma(node: _Brackets) -> tuple[_Brackets, cst.BaseParenthesizableWhitespace]:
    """The literal with the line break before its closing bracket kept in the trailing comma, if it has one.

    (libcst keeps it in either place.) Also gives the whitespace after the opening bracket.
    """
    last = node.elements[-1]
    empty = cst.SimpleWhitespace("")
    opening: cst.BaseParenthesizableWhitespace = empty
    closing: cst.BaseParenthesizableWhitespace = empty
    cleared: dict[str, object] = {}
    if isinstance(node, cst.List):
        opening, closing = node.lbracket.whitespace_after, node.rbracket.whitespace_before
        cleared["rbracket"] = node.rbracket.with_changes(whitespace_before=empty)
    elif isinstance(node, cst.Set):
        opening, closing = node.lbrace.whitespace_after, node.rbrace.whitespace_before
        cleared["rbrace"] = node.rbrace.with_changes(whitespace_before=empty)
    elif node.lpar:
        opening, closing = node.lpar[-1].whitespace_after, node.rpar[0].whitespace_before
        cleared["rpar"] = [node.rpar[0].with_changes(whitespace_before=empty), *node.rpar[1:]]
    broken = isinstance(closing, cst.ParenthesizedWhitespace)
    if broken and isinstance(last.comma, cst.Comma) and last.comma.whitespace_after.empty:
        last = last.with_changes(comma=last.comma.with_changes(whitespace_after=closing))
        node = node.with_changes(elements=[*node.elements[:-1], last], **cleared)
    return node, opening


def _without_idle_comma(element: cst.BaseElement) -> cst.BaseElement:
    """Drop the comma that only said that a tuple of one is a tuple."""
    comma = element.comma
    if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.SimpleWhitespace):
        return element.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return element
