"""The signatures of a record in the notation of the configuration, for ``--dynamic`` to trace with."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jitlint.dynamic.signature import Node, array, format_signature, key, literal
from jitlint.recorder.record import Record, Trace


class _NoNotationError(Exception):
    """Something for which the configuration has no words, such as an object of a class of the user's."""


def configured_signatures(record: Record) -> dict[str, tuple[str, ...]]:
    """For each function of the user's own, the signature that it was traced with first, where it can be written."""
    found: dict[str, tuple[str, ...]] = {}
    for function in record.functions:
        if function.library or not function.label.isidentifier():
            # Methods have an object that the record does not know how to make; gradients and such have no name.
            continue
        name = f"{_module_name(Path(function.file))}.{function.qualname}"
        for trace in function.traces:
            try:
                found.setdefault(name, signature_of(trace))
            except _NoNotationError:
                continue
            break
    return dict(sorted(found.items()))


def as_toml(signatures: Mapping[str, tuple[str, ...]]) -> str:
    """The table for ``jitlint.toml``."""
    lines = ["[dynamic.signatures]"]
    # JSON strings are TOML strings.
    lines += [f"{json.dumps(name)} = {json.dumps(list(arguments))}" for name, arguments in signatures.items()]
    return "\n".join(lines) + "\n"


def signature_of(trace: Trace) -> tuple[str, ...]:
    """The arguments of one trace as the configuration writes them."""
    signature = trace.signature
    if signature.get("leaves_left_out"):
        raise _NoNotationError
    leaves = iter(signature["leaves"])
    args: list[Node] = []
    kwargs: dict[str, Node] = {}
    for name, tree in signature["trees"].items():
        node = _argument(tree, leaves)
        if signature["spelling"].get(name) == "keyword":
            kwargs[name] = node
        else:
            args.append(node)
    return format_signature(args, kwargs)


def _argument(tree: str, leaves: Iterator[Mapping[str, Any]]) -> Node:
    try:
        parsed = ast.parse(tree.replace("*", "_"), mode="eval").body
    except SyntaxError as error:
        raise _NoNotationError from error
    return _node(parsed, leaves)


def _node(tree: ast.expr, leaves: Iterator[Mapping[str, Any]]) -> Node:
    match tree:
        case ast.Name(id="_"):
            return _leaf(next(leaves))
        case ast.Constant(value=None):
            return literal(None)
        case ast.List(elts=items):
            return {"list": [_node(item, leaves) for item in items]}
        case ast.Tuple(elts=items):
            return {"tuple": [_node(item, leaves) for item in items]}
        case ast.Dict(keys=keys, values=values):
            names = [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, (str, int))]
            if len(names) == len(values):
                return {"dict": [[literal(n), _node(v, leaves)] for n, v in zip(names, values, strict=True)]}
    raise _NoNotationError


def _leaf(leaf: Mapping[str, Any]) -> Node:
    if "static" in leaf:
        try:
            value = ast.literal_eval(leaf["static"])
        except (SyntaxError, ValueError) as error:
            raise _NoNotationError from error
        if value is None or type(value) in (bool, int, float, str):
            return literal(value)
        raise _NoNotationError
    if leaf["dtype"].startswith("key<"):
        return key()
    if not all(isinstance(size, int) for size in leaf["shape"]):
        raise _NoNotationError
    return array(leaf["dtype"], leaf["shape"], weak=bool(leaf.get("weak")))


def _module_name(file: Path) -> str:
    parts = [file.stem] if file.stem != "__init__" else []
    folder = file.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
