"""Small changes of literals and of the decorators and options that hold them."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from jitlint.fix.code import Rewrite, code_of, string_value
from jitlint.fix.names import Names
from jitlint.fix.sequences import insert

_DATACLASSES = frozenset({"dataclasses.dataclass", "chex.dataclass"})


def list_as_tuple(node: cst.List, indent: str = "") -> Rewrite | None:
    """``[1, 2]`` as ``(1, 2)``, lists in it too; None where a dict, set or comprehension in it is unhashable as well.

    The text replaces the node inside of its parentheses.
    """
    changed = _tuple(node.with_changes(lpar=(), rpar=()))
    return None if changed is None else Rewrite(code_of(changed, indent))


def respelled(expression: str, wrong: str, right: str) -> Rewrite | None:
    """The text of a jit expression with the name ``wrong`` in its ``…_argnames`` replaced by ``right``.

    The expression may also be the value of the option alone. None where the name is not written out there.
    """
    try:
        tree = cst.parse_expression(expression)
    except cst.ParserSyntaxError:
        return None

    def change(value: cst.BaseExpression) -> cst.BaseExpression | None:
        return _respelled_value(value, wrong, right)

    names = ("static_argnames", "donate_argnames")
    changed = _with_option(tree, names, change) if isinstance(tree, cst.Call) else change(tree)
    return None if changed is None else Rewrite(code_of(changed))


def renumbered(expression: str, wrong: int, right: int) -> Rewrite | None:
    """The text of a jit expression with the number ``wrong`` in its ``static_argnums`` replaced by ``right``.

    None where the number is not written out there, or ``right`` is there already.
    """
    try:
        tree = cst.parse_expression(expression)
    except cst.ParserSyntaxError:
        return None
    changed = _with_option(tree, ("static_argnums",), lambda value: _renumbered_value(value, wrong, right))
    return None if changed is None else Rewrite(code_of(changed))


def split_names(expression: str) -> Rewrite | None:
    """The text of a jit expression with ``"a, b"`` in its ``…_argnames`` as ``("a", "b")``; None without one."""
    try:
        tree = cst.parse_expression(expression)
    except cst.ParserSyntaxError:
        return None
    changed = _with_option(tree, ("static_argnames", "donate_argnames"), _split_value)
    return None if changed is None else Rewrite(code_of(changed))


def frozen_dataclass(decorator: cst.BaseExpression, names: Names, indent: str = "") -> Rewrite | None:
    """``@dataclass`` or ``@dataclass(eq=True)`` with ``frozen=True``; the text is that of the decorator without ``@``.

    None where it is no dataclass decorator, is frozen or hashable already, or its options are not written out.
    """
    if not isinstance(decorator, cst.Call):
        if names.meaning(decorator) not in _DATACLASSES:
            return None
        decorator = cst.Call(decorator)
    elif names.meaning(decorator.func) not in _DATACLASSES:
        return None
    args = list(decorator.args)
    if any(arg.star or arg.keyword is None for arg in args):
        return None
    options = {arg.keyword.value: arg.value for arg in args if arg.keyword is not None}
    if _is(options.get("eq"), "False") or "unsafe_hash" in options:
        return None
    if "frozen" in options:
        if not _is(options["frozen"], "False"):
            return None
        args = [
            arg.with_changes(value=cst.Name("True"))
            if arg.keyword is not None and arg.keyword.value == "frozen"
            else arg
            for arg in args
        ]
    else:
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        new = cst.Arg(cst.Name("True"), keyword=cst.Name("frozen"), equal=equal)
        args = insert(args, len(args), new, decorator.whitespace_before_args)
    return Rewrite(code_of(decorator.with_changes(args=args), indent))


def _is(node: cst.BaseExpression | None, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _tuple(node: cst.List) -> cst.Tuple | None:
    elements: list[cst.BaseElement] = []
    for element in node.elements:
        value = element.value
        if isinstance(value, cst.Dict | cst.DictComp | cst.Set | cst.SetComp | cst.ListComp):
            return None
        if isinstance(value, cst.List) and isinstance(element, cst.Element):
            inner = _tuple(value)
            if inner is None:
                return None
            element = element.with_changes(value=inner)
        elements.append(element)
    if len(elements) == 1 and not isinstance(elements[0].comma, cst.Comma):
        elements[0] = elements[0].with_changes(comma=cst.Comma())
    return cst.Tuple(
        elements,
        lpar=[*node.lpar, cst.LeftParen(whitespace_after=node.lbracket.whitespace_after)],
        rpar=[cst.RightParen(whitespace_before=node.rbracket.whitespace_before), *node.rpar],
    )


def _with_option(
    node: cst.BaseExpression,
    options: tuple[str, ...],
    change: Callable[[cst.BaseExpression], cst.BaseExpression | None],
) -> cst.Call | None:
    """The call with the value of an option changed, in its arguments or in those of the ``partial`` that it calls."""
    if not isinstance(node, cst.Call):
        return None
    for position, arg in enumerate(node.args):
        if arg.keyword is not None and arg.keyword.value in options:
            value = change(arg.value)
            if value is not None:
                args = [*node.args[:position], arg.with_changes(value=value), *node.args[position + 1 :]]
                return node.with_changes(args=args)
    inner = _with_option(node.func, options, change)
    return None if inner is None else node.with_changes(func=inner)


def _split_value(node: cst.BaseExpression) -> cst.BaseExpression | None:
    text = string_value(node) if isinstance(node, cst.SimpleString) else None
    if not isinstance(node, cst.SimpleString) or text is None or "," not in text:
        return None
    quoted = [f"{node.quote}{name.strip()}{node.quote}" for name in text.split(",") if name.strip()]
    return cst.Tuple([cst.Element(cst.SimpleString(name)) for name in quoted])


def _renumbered_value(node: cst.BaseExpression, wrong: int, right: int) -> cst.BaseExpression | None:
    if isinstance(node, cst.Integer):
        return node.with_changes(value=str(right)) if node.evaluated_value == wrong else None
    if not isinstance(node, cst.Tuple | cst.List):
        return None
    values = [e.value.evaluated_value if isinstance(e.value, cst.Integer) else None for e in node.elements]
    if values.count(wrong) != 1 or right in values:
        return None
    elements = list(node.elements)
    place = values.index(wrong)
    elements[place] = elements[place].with_changes(value=cst.Integer(str(right)))
    return node.with_changes(elements=elements)


def _respelled_value(node: cst.BaseExpression, wrong: str, right: str) -> cst.BaseExpression | None:
    if isinstance(node, cst.SimpleString) and string_value(node) == wrong:
        return node.with_changes(value=f"{node.prefix}{node.quote}{right}{node.quote}")
    if isinstance(node, cst.Tuple | cst.List | cst.Set):
        for position, element in enumerate(node.elements):
            value = _respelled_value(element.value, wrong, right)
            if value is not None:
                changed = element.with_changes(value=value)
                return node.with_changes(elements=[*node.elements[:position], changed, *node.elements[position + 1 :]])
    return None
