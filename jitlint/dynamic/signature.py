"""Arguments to trace with: how they are written in the configuration, and how they travel to the worker.

``"f32[32,784]"`` is an array of that dtype and shape (``f32[]~`` a weakly typed one, as a Python float is),
``"key"`` a PRNG key, ``"{w: f32[3], b: f32[]}"``, ``"[f32[3]]"`` and ``"(f32[3], i32[])"`` containers,
``"models.Params(w=f32[3])"`` what that class or function makes of its arguments, ``"models.DEFAULT"`` an object of the
program, ``"3"`` and ``"'mean'"`` literals, and ``"flag=True"`` any of these passed by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

Node = Mapping[str, Any]
"""One argument as JSON: exactly one of the keys ``aval`` (dtype, shape, weak), ``key``, ``value``, ``list``,
``tuple``, ``dict`` (pairs), ``ref`` (a dotted name), ``call`` (with ``args``, ``kwargs``), ``attr``, ``item``, ``hint``
(what the annotation of a parameter says, once the program is imported)."""

_SHORT = {"f": "float", "bf": "bfloat", "i": "int", "s": "int", "u": "uint", "c": "complex"}
_DTYPE = re.compile(r"(?:(?:bf|[fisuc])(?:4|8|16|32|64|128)|bfloat16|(?:float|u?int|complex)\d+|bool|pred|key)")
_EMPTY = re.compile(rf"\b({_DTYPE.pattern})\[\s*\]")
_WEAK = re.compile(r"\]\s*~")


class SignatureError(ValueError):
    """A signature that cannot be read; the message says what and why."""


def array(dtype: str, shape: Sequence[int] = (), *, weak: bool = False) -> Node:
    """An abstract array."""
    return {"aval": [dtype, list(shape), weak]}


def key(*, typed: bool = True) -> Node:
    """A PRNG key, of the new typed kind or as two uint32 numbers."""
    return {"key": "typed"} if typed else {"key": "raw"}


def literal(value: bool | int | float | str | None) -> Node:
    """A Python value as it is."""
    return {"value": value}


def parse_signature(arguments: Sequence[str]) -> tuple[tuple[Node, ...], dict[str, Node]]:
    """The positional and the keyword arguments of a signature; raises :class:`SignatureError`."""
    args: list[Node] = []
    kwargs: dict[str, Node] = {}
    for text in arguments:
        call = _parse(text)
        if len(call.args) + len(call.keywords) != 1:
            raise SignatureError(f"{text!r} must be one argument, such as 'f32[32,784]' or 'flag=True'")
        if call.keywords and call.keywords[0].arg:
            kwargs[call.keywords[0].arg] = _node(call.keywords[0].value, text)
        elif call.args and kwargs:
            raise SignatureError(f"{text!r} comes after an argument passed by name")
        elif call.args:
            args.append(_node(call.args[0], text))
        else:
            raise SignatureError(f"{text!r}: ** is not an argument")
    return tuple(args), kwargs


def format_signature(args: Sequence[Node], kwargs: Mapping[str, Node]) -> tuple[str, ...]:
    """As the configuration has it: :func:`parse_signature` gives back the same."""
    return (*(format_argument(node) for node in args), *(f"{k}={format_argument(v)}" for k, v in kwargs.items()))


def format_argument(node: Node) -> str:
    """One argument in the notation of the configuration."""
    match node:
        case {"aval": [dtype, shape, weak]}:
            return f"{_short(dtype)}[{','.join(map(str, shape))}]{'~' if weak else ''}"
        case {"key": kind}:
            return "key" if kind == "typed" else "u32[2]"
        case {"value": value}:
            return repr(value)
        case {"list": items}:
            return f"[{', '.join(map(format_argument, items))}]"
        case {"tuple": items}:
            inner = ", ".join(map(format_argument, items))
            return f"({inner},)" if len(items) == 1 else f"({inner})"
        case {"dict": pairs}:
            return f"{{{', '.join(f'{format_argument(k)}: {format_argument(v)}' for k, v in pairs)}}}"
        case {"ref": name}:
            return str(name)
        case {"call": function, **rest}:
            inner = ", ".join(format_signature(rest.get("args", ()), rest.get("kwargs", {})))
            return f"{format_argument(function)}({inner})"
        case {"attr": value, "name": name}:
            return f"{format_argument(value)}.{name}"
        case {"item": value, "index": index}:
            return f"{format_argument(value)}[{index!r}]"
    raise SignatureError(f"not an argument: {node!r}")


def _parse(text: str) -> ast.Call:
    python = _WEAK.sub("]._weak", _EMPTY.sub(r"\1[()]", text))
    try:
        tree = ast.parse(f"_({python}\n)", mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise SignatureError(f"{text!r} is not an argument such as 'f32[32,784]' or 'flag=True'") from error
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise SignatureError(f"{text!r} is not an argument such as 'f32[32,784]' or 'flag=True'")
    return tree


def _node(tree: ast.expr, text: str) -> Node:
    match tree:
        case ast.Attribute(value=ast.Subscript() as inner, attr="_weak"):
            dtype, shape, _ = _node(inner, text)["aval"]
            return array(dtype, shape, weak=True)
        case ast.Subscript(value=ast.Name(id=name)) if _DTYPE.fullmatch(name) and name != "key":
            return array(_long(name), _shape(tree.slice, text))
        case ast.Name(id="key"):
            return key()
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return literal(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return literal(-value)
        case ast.List(elts=items):
            return {"list": [_node(item, text) for item in items]}
        case ast.Tuple(elts=items):
            return {"tuple": [_node(item, text) for item in items]}
        case ast.Dict(keys=keys, values=values) if all(keys):
            return {"dict": [[_dict_key(k, text), _node(v, text)] for k, v in zip(keys, values, strict=True)]}
        case ast.Name(id=name):
            return {"ref": name}
        case ast.Attribute(value=inner, attr=name):
            base = _node(inner, text)
            return {"ref": f"{base['ref']}.{name}"} if "ref" in base else {"attr": base, "name": name}
        case ast.Subscript(value=inner, slice=ast.Constant(value=int() | str() as index)):
            return {"item": _node(inner, text), "index": index}
        case ast.Call(func=function, args=args, keywords=keywords):
            named = {k.arg: _node(k.value, text) for k in keywords if k.arg is not None}
            return {"call": _node(function, text), "args": [_node(a, text) for a in args], "kwargs": named}
    raise SignatureError(f"{text!r}: cannot read {ast.unparse(tree)!r}")


def _dict_key(tree: ast.expr | None, text: str) -> Node:
    return literal(tree.id) if isinstance(tree, ast.Name) else _node(tree or ast.Constant(None), text)


def _shape(tree: ast.expr, text: str) -> list[int]:
    sizes = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    out = []
    for size in sizes:
        if not isinstance(size, ast.Constant) or type(size.value) is not int:
            raise SignatureError(f"{text!r}: a shape is made of numbers, not {ast.unparse(size)!r}")
        out.append(size.value)
    return out


def _long(name: str) -> str:
    found = re.fullmatch(r"(bf|[fisuc])(\d+)", name)
    if found:
        return _SHORT[found[1]] + found[2]
    return "bool" if name == "pred" else name


def _short(dtype: str) -> str:
    found = re.fullmatch(r"(bfloat|float|int|uint|complex)(\d+)", dtype)
    if not found:
        return dtype
    return {long: short for short, long in _SHORT.items() if short != "s"}[found[1]] + found[2]
