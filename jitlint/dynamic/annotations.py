"""What an annotation says of an argument: shapes of jaxtyping, Python scalars, containers of these."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jitlint.dynamic.signature import Node, array, key, literal

# Sizes for named dimensions: different ones, so that a mix-up of two dimensions does not trace by luck.
SIZES = (4, 3, 5, 7, 6, 9, 8, 11, 10, 13)
ARRAYS = frozenset({"Array", "ArrayLike", "ndarray", "DeviceArray", "ArrayImpl"})
KEYS = frozenset({"PRNGKeyArray", "PRNGKey", "KeyArray", "KeyArrayLike", "Key"})
DTYPES = {
    "Float": "float32",
    "Float16": "float16",
    "BFloat16": "bfloat16",
    "Float32": "float32",
    "Float64": "float32",
    "Int": "int32",
    "Int8": "int8",
    "Int16": "int16",
    "Int32": "int32",
    "Int64": "int32",
    "Integer": "int32",
    "UInt": "uint32",
    "UInt8": "uint8",
    "UInt16": "uint16",
    "UInt32": "uint32",
    "Bool": "bool",
    "Complex": "complex64",
    "Complex64": "complex64",
    "Inexact": "float32",
    "Num": "float32",
    "Real": "float32",
    "Shaped": "float32",
}
SCALARS: dict[str, bool | int | float] = {"float": 0.5, "int": 2, "bool": True, "complex": 0.5}


@dataclass(slots=True)
class Guess:
    """What stands in where an annotation leaves the rank or dtype open; ``used`` says whether it was asked."""

    rank: int = 0
    dtype: str = "float32"
    used: bool = False

    def array(self) -> Node:
        """An array of the guessed kind; all its dimensions have one size, so that shapes agree where they can."""
        self.used = True
        return array(self.dtype, [SIZES[0]] * self.rank)


@dataclass(slots=True)
class Dimensions:
    """Sizes of named dimensions, the same for all arguments of one function."""

    sizes: dict[str, int] = field(default_factory=dict)

    def shape(self, text: str) -> list[int] | None:
        """The shape of a jaxtyping string; None if it has a part that cannot be sized."""
        out: list[int] = []
        for part in text.split():
            word = part.lstrip("#?").split("=")[-1]
            if word.startswith("*") or word == "...":
                continue
            size = self._size(word)
            if size is None:
                return None
            out.append(size)
        return out

    def _size(self, word: str) -> int | None:
        if word.isdecimal():
            return int(word)
        if word.isidentifier():
            return self._named(word)
        try:
            return self._arithmetic(ast.parse(word, mode="eval").body)
        except (SyntaxError, ValueError):
            return None

    def _named(self, word: str) -> int:
        if word == "_":
            return SIZES[0]
        return self.sizes.setdefault(word, SIZES[len(self.sizes) % len(SIZES)])

    def _arithmetic(self, tree: ast.expr) -> int | None:
        match tree:
            case ast.Constant(value=int() as value):
                return value
            case ast.Name(id=name):
                return self._named(name)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._arithmetic(left), self._arithmetic(right)
                if a is None or b is None:
                    return None
                if isinstance(op, ast.Add):
                    return a + b
                if isinstance(op, ast.Sub):
                    return a - b
                if isinstance(op, ast.Mult):
                    return a * b
                if isinstance(op, ast.FloorDiv) and b:
                    return a // b
        return None


def from_annotation(tree: ast.expr | None, dimensions: Dimensions, guess: Guess) -> Node | None:
    """The argument that an annotation describes; None if it says nothing that can be built.

    Where only the rank or the dtype is open, ``guess`` fills it in.
    """
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        try:
            tree = ast.parse(tree.value, mode="eval").body
        except SyntaxError:
            return None
    match tree:
        case ast.Constant(value=None):
            return literal(None)
        case ast.Name() | ast.Attribute():
            return _named(_tail(tree), guess)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            options = [x for x in (left, right) if not (isinstance(x, ast.Constant) and x.value is None)]
            return from_annotation(options[0], dimensions, guess) if options else literal(None)
        case ast.Subscript(value=head, slice=inner):
            return _subscript(_tail(head), inner, dimensions, guess)
    return None


def _named(name: str, guess: Guess) -> Node | None:
    if name in ARRAYS:
        return guess.array()
    if name in KEYS:
        return key()
    if name in ("Scalar", "ScalarLike"):
        return array(guess.dtype)
    return literal(SCALARS[name]) if name in SCALARS else None


def _subscript(head: str, inner: ast.expr, dimensions: Dimensions, guess: Guess) -> Node | None:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if head in DTYPES and len(parts) == 2:
        text = parts[1]
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            shape = dimensions.shape(text.value)
            return None if shape is None else array(DTYPES[head], shape)
        return None
    if head == "Key":
        return key()
    if head in ("Optional", "Annotated", "Final", "Static"):
        return from_annotation(parts[0], dimensions, guess)
    if head == "Union":
        return from_annotation(parts[0], dimensions, guess)
    if head == "Literal" and isinstance(parts[0], ast.Constant) and isinstance(parts[0].value, (str, int, bool)):
        return literal(parts[0].value)
    if head in ("tuple", "Tuple"):
        return _tuple(parts, dimensions, guess)
    if head in ("list", "List", "Sequence") and len(parts) == 1:
        item = from_annotation(parts[0], dimensions, guess)
        return None if item is None else {"list": [item, item]}
    return None


def _tuple(parts: list[ast.expr], dimensions: Dimensions, guess: Guess) -> Node | None:
    if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
        parts = [parts[0], parts[0]]
    items = [from_annotation(part, dimensions, guess) for part in parts]
    return None if None in items else {"tuple": items}


def _tail(tree: ast.expr) -> str:
    if isinstance(tree, ast.Attribute):
        return tree.attr
    return tree.id if isinstance(tree, ast.Name) else ""
