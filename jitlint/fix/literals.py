"""Small changes of literals and of the decorators and options that hold them."""

from __future__ import annotations

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

    None where the name is not written out there.
    """
    try:
        tree = cst.parse_expression(expression)
    except cst.ParserSyntaxError:
        return None
    changed = _respelled_call(tree, wrong, right)
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


def _respelled_call(node: cst.BaseExpression, wrong: str, right: str) -> cst.Call | None:
    """The call with the name respelled in its options, or in those of the ``partial`` that it calls."""
    if not isinstance(node, cst.Call):
        return None
    for position, arg in enumerate(node.args):
        if arg.keyword is not None and arg.keyword.value in ("static_argnames", "donate_argnames"):
            value = _respelled_value(arg.value, wrong, right)
            if value is not None:
                args = [*node.args[:position], arg.with_changes(value=value), *node.args[position + 1 :]]
                return node.with_changes(args=args)
    inner = _respelled_call(node.func, wrong, right)
    return None if inner is None else node.with_changes(func=inner)


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
