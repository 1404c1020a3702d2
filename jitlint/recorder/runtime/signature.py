"""What jax sees of one call of a jitted function: the parts of its cache key that a user can name.

A signature is plain data, so that it can be kept without keeping the user's objects alive, and written as JSON.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from .identity import Serials

MAX_LEAVES_WRITTEN = 200
_MAX_TEXT = 120
_MAX_DEPTH = 3
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

CONTEXT_OPTIONS = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_softmax_custom_jvp",
    "jax_random_seed_offset",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_default_device",
    "jax_disable_jit",
)
"""Options of ``jax.config`` that are part of the cache key and that users do change."""


class Leaf(NamedTuple):
    """One traced array or one static value, and where in the arguments it is.

    Of an array: ``dtype``, ``shape``, ``weak`` and ``sharding`` (where it is part of its type). Of a static value:
    ``text`` (what it is), ``type``, ``token`` (equal for values that jax takes for equal) and ``by_identity``
    (its class compares objects by identity).
    """

    path: str
    traced: bool
    dtype: str = ""
    shape: tuple[int | str, ...] = ()
    weak: bool = False
    sharding: str = ""
    text: str = ""
    type: str = ""
    token: str = ""
    by_identity: bool = False

    def describe(self) -> str:
        """For people: ``float32[3,4]``, ``int32[] weak``, ``static 3``."""
        if not self.traced:
            return f"static {self.text}"
        text = f"{self.dtype}[{','.join(map(str, self.shape))}]"
        if self.sharding:
            text += f"@{self.sharding}"
        return text + (" weak" if self.weak else "")

    def as_json(self) -> dict[str, object]:
        """The leaf for the record, without what is not set."""
        if not self.traced:
            return {"path": self.path, "static": self.text, "type": self.type, "by_identity": self.by_identity}
        data: dict[str, object] = {"path": self.path, "dtype": self.dtype, "shape": list(self.shape)}
        if self.weak:
            data["weak"] = True
        if self.sharding:
            data["sharding"] = self.sharding
        return data


class Signature(NamedTuple):
    """One cache key: the leaves, the tree and the spelling of each argument, and the tracing context."""

    leaves: tuple[Leaf, ...]
    trees: tuple[tuple[str, str, int], ...]
    """Of each argument its name, its structure as text and a hash of the structure."""
    spelling: tuple[tuple[str, str], ...]
    """Of each parameter how the call gave it: ``position``, ``keyword`` or ``omitted``."""
    context: tuple[tuple[str, str], ...]
    context_token: int

    def as_json(self) -> dict[str, object]:
        """The signature for the record; of very large ones only the first leaves are written."""
        data: dict[str, object] = {
            "leaves": [leaf.as_json() for leaf in self.leaves[:MAX_LEAVES_WRITTEN]],
            "trees": {name: text for name, text, _ in self.trees},
            "spelling": dict(self.spelling),
            "context": dict(self.context),
        }
        if len(self.leaves) > MAX_LEAVES_WRITTEN:
            data["leaves_left_out"] = len(self.leaves) - MAX_LEAVES_WRITTEN
        return data


def describe_call(
    jax: Any,
    signature: inspect.Signature | None,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    serials: Serials,
) -> Signature:
    """The signature of a call while it is traced; ``signature`` is that of the function, None where it has none."""
    named, spelling = name_arguments(signature, args, kwargs)
    leaves: list[Leaf] = []
    trees: list[tuple[str, str, int]] = []
    for name, value in named:
        flat, tree = jax.tree_util.tree_flatten_with_path(value)
        if not any(isinstance(leaf, jax.core.Tracer) for _, leaf in flat) and not _holds_no_leaf(flat):
            leaves.append(_static_leaf(name, value, serials))
            trees.append((name, "*", 0))
            continue
        for path, leaf in flat:
            where = name + jax.tree_util.keystr(path)
            if isinstance(leaf, jax.core.Tracer):
                leaves.append(_traced_leaf(where, leaf))
            else:
                leaves.append(_static_leaf(where, leaf, serials))
        trees.append((name, _tree_text(tree), _hash(tree)))
    return Signature(tuple(leaves), tuple(trees), spelling, *_context(jax))


def _holds_no_leaf(flat: list[Any]) -> bool:
    """None and empty containers are structure, whatever parameter they are given to."""
    return not flat


def name_arguments(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[list[tuple[str, Any]], tuple[tuple[str, str], ...]]:
    """The arguments of a call by parameter name, and how each parameter was given."""
    named: list[tuple[str, Any]] = []
    spelling: list[tuple[str, str]] = []
    parameters = list(signature.parameters.values()) if signature is not None else []
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    for index, value in enumerate(args):
        name = positional[index].name if index < len(positional) else f"{rest}[{index - len(positional)}]"
        named.append((name, value))
        spelling.append((name, "position"))
    for name in sorted(kwargs):
        named.append((name, kwargs[name]))
        spelling.append((name, "keyword"))
    given = {name for name, _ in named}
    spelling.extend((p.name, "omitted") for p in parameters if p.name not in given and p.default is not p.empty)
    return named, tuple(sorted(spelling))


def describe_operands(operands: Iterable[Any]) -> Signature:
    """The signature of an operation that jax runs outside of jit on arrays, by their types alone."""
    leaves = []
    for index, operand in enumerate(operands):
        aval = getattr(operand, "aval", operand)
        if hasattr(aval, "shape"):
            leaves.append(_array(f"operand {index}", aval))
    return Signature(tuple(leaves), (), (), (), 0)


def _traced_leaf(path: str, leaf: Any) -> Leaf:
    return _array(path, leaf.aval)


def _array(path: str, aval: Any) -> Leaf:
    return Leaf(
        path,
        True,
        dtype=str(getattr(aval, "dtype", type(aval).__name__)),
        shape=tuple(d if isinstance(d, int) else str(d) for d in getattr(aval, "shape", ())),
        weak=bool(getattr(aval, "weak_type", False)),
        sharding=_sharding_in_type(aval),
    )


def _sharding_in_type(aval: Any) -> str:
    """The sharding where it is part of the array's type, which newer versions of jax have for explicit meshes."""
    sharding = getattr(aval, "sharding", None)
    mesh = getattr(sharding, "mesh", None)
    if mesh is None or getattr(mesh, "empty", True):
        return ""
    sizes = getattr(mesh, "shape_tuple", None)
    spec = ",".join(str(part) for part in getattr(sharding, "spec", ()))
    return f"{spec} on mesh {dict(sizes) if sizes else mesh}"


def _static_leaf(path: str, value: Any, serials: Serials) -> Leaf:
    by_identity = _compares_by_identity(value)
    text = static_text(value)
    # jax hashes static values itself, so hashing them once more does nothing new.
    token = f"#{serials.of(value)}" if by_identity else f"{_hash(value)}:{text}"
    return Leaf(
        path, False, text=text, type=_type_name(type(value)), token=token, by_identity=by_identity and _made_anew(value)
    )


def _compares_by_identity(value: object) -> bool:
    return type(value).__hash__ is object.__hash__ or isinstance(value, type) or inspect.isroutine(value)


def _made_anew(value: object) -> bool:
    """A class or a module's function is one and the same object however often it is passed."""
    return not isinstance(value, type)


def static_text(value: object, depth: int = 0) -> str:
    """What a static value is, without running any ``__repr__`` of the user's own: it may print, or change things."""
    if value is None or isinstance(value, enum.Enum):
        return str(value)
    if type(value) in (bool, int, float, complex, str, bytes):
        return _short(repr(value))
    if isinstance(value, type):
        return value.__qualname__
    if inspect.ismethod(value):
        return f"<method {value.__qualname__} of a {type(value.__self__).__qualname__}>"
    if inspect.isroutine(value):
        return f"<function {getattr(value, '__qualname__', type(value).__name__)}>"
    if depth < _MAX_DEPTH:
        inner = _inner_text(value, depth + 1)
        if inner is not None:
            return _short(inner)
    return f"<{type(value).__qualname__} object>"


def _inner_text(value: Any, depth: int) -> str | None:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = zip(value._fields, value, strict=True)
        return f"{type(value).__name__}({', '.join(f'{k}={static_text(v, depth)}' for k, v in fields)})"
    if type(value) in (tuple, list, frozenset, set):
        inside = ", ".join(static_text(v, depth) for v in value)
        opening, closing = "()" if type(value) is tuple else "[]" if type(value) is list else "{}"
        return f"{opening}{inside}{closing}"
    if type(value) is dict:
        inside = ", ".join(f"{static_text(k, depth)}: {static_text(v, depth)}" for k, v in value.items())
        return f"{{{inside}}}"
    if dataclasses.is_dataclass(value):
        fields_of = ((f.name, vars(value).get(f.name)) for f in dataclasses.fields(value) if hasattr(value, "__dict__"))
        return f"{type(value).__name__}({', '.join(f'{k}={static_text(v, depth)}' for k, v in fields_of)})"
    if hasattr(value, "func") and hasattr(value, "args") and type(value).__name__ == "partial":
        return f"partial({static_text(value.func, depth)}, …)"
    return None


def _type_name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"


def _tree_text(tree: Any) -> str:
    text = str(tree)
    return text.removeprefix("PyTreeDef(").removesuffix(")") if text.startswith("PyTreeDef(") else text


def without_addresses(text: str) -> str:
    """``text`` without memory addresses, to compare what two objects are rather than which they are."""
    return _ADDRESS.sub("", text)


def _hash(value: Any) -> int:
    try:
        return hash(value)
    except Exception:
        return 0


def _context(jax: Any) -> tuple[tuple[tuple[str, str], ...], int]:
    options = []
    for name in CONTEXT_OPTIONS:
        value = getattr(jax.config, name, None)
        if value is not None:
            options.append((name, _short(str(value))))
    return tuple(options), _context_token(jax)


def _context_token(jax: Any) -> int:
    """A number for the whole tracing context, public options or not (meshes and mapped axes are part of it)."""
    find: Callable[[], Any] | None = getattr(getattr(getattr(jax, "_src", None), "config", None), "trace_context", None)
    return 0 if find is None else _hash(find())
