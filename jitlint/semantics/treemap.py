"""``jax.tree.map`` and ``tree_map_with_path``: a function of the program is run at each leaf of a structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import libcst as cst

from jitlint.semantics import calls
from jitlint.semantics.calls import Args
from jitlint.semantics.values import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    DictV,
    Level,
    ListV,
    Obj,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    is_data,
    members,
    traced_leaf,
    union,
)

if TYPE_CHECKING:
    from jitlint.semantics.interp import Interpreter

MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class TreeMap:
    """A call of ``jax.tree.map``. ``with_path``: the function is given the path of each leaf first; ``is_leaf`` is asked
    where it is given, as JAX does."""

    interp: Interpreter
    func: Value
    node: cst.CSTNode
    with_path: bool = False
    is_leaf: Value | None = None

    def over(self, trees: Sequence[Value]) -> Value:
        """The structure of the first tree, with what the function gives for its leaves and those of the others."""
        return self._at(trees[0], trees[1:], 0) if trees else UNKNOWN

    def _at(self, v: Value, others: Sequence[Value], depth: int) -> Value:
        if depth > MAX_DEPTH:
            return UNKNOWN
        if self.is_leaf is not None and self.is_leaf != NONE and not isinstance(v, Union):
            answer = calls.call_value(self.interp, self.is_leaf, Args([v]), self.node)
            if not isinstance(answer, Const):
                return self._leaf(v if not isinstance(v, Tup | ListV | DictV | Obj) else UNKNOWN, others)
            if answer.value:
                return self._leaf(v, others)
        match v:
            case Tup(items=items) if items is not None:
                return Tup(tuple([self._part(i, others, n, depth) for n, i in enumerate(items)]))
            case Tup():
                return Tup(None, self._part(v.any_item(), others, 0, depth) if v.elem is not None else None)
            case ListV():
                content = self._at(v.content, [o.content if isinstance(o, ListV) else o for o in others], depth + 1)
                return ListV(content, self.node) if isinstance(content, Tup) else UNKNOWN
            case DictV():
                entries = {k: self._part(x, others, k, depth) for k, x in v.entries().items()}
                out = DictV(entries, None, self.node)
                if v.rest is not None:
                    out.slots[DictV.REST] = self._at(v.rest, [UNKNOWN] * len(others), depth + 1)
                return out
            case Obj(project_class=cls) if cls is not None and (cls.facts.pytree or cls.facts.namedtuple):
                obj = Obj(v.cls, self.node, v.open)
                for k, x in v.slots.items():
                    obj.slots[k] = x if not is_data(v, k, x) else self._part(x, others, k, depth)
                return obj
            case Const(value=None):
                return v
            case Union(members=ms):
                return union([self._at(m, others, depth + 1) for m in ms])
        return self._leaf(v, others)

    def _part(self, v: Value, others: Sequence[Value], key: Any, depth: int) -> Value:
        """A part of the first tree, with what the others have under the same key."""
        return self._at(v, [_item(o, key) for o in others], depth + 1)

    def _leaf(self, v: Value, others: Sequence[Value]) -> Value:
        arguments = [_leaf_of(v), *(_leaf_of(_beside(o)) for o in others)]
        if self.with_path:
            arguments = [UNKNOWN, *arguments]
        result = calls.call_value(self.interp, self.func, Args(arguments), self.node)
        if isinstance(v, Unknown):
            return UNKNOWN
        if isinstance(v, Tree):
            # the structure is not known: what comes out has it too; what is static at each leaf stays static
            leaf = traced_leaf(result)
            return UNKNOWN if leaf is None else Tree(leaf.roots, leaf.origin, v.maybe or leaf.maybe)
        return result


def _item(v: Value, key: Any) -> Value:
    """What a tree has under a key."""
    if isinstance(v, Union):
        return union([_item(m, key) for m in v.members])
    content = v.content if isinstance(v, ListV) else v
    if isinstance(content, Tup):
        if content.items is None:
            return content.any_item()
        return content.items[key] if isinstance(key, int) and key < len(content.items) else UNKNOWN
    if isinstance(v, DictV | Obj):
        found: Value = v.slots.get(key, UNKNOWN)
        return found
    return v if isinstance(v, Tree) else UNKNOWN


def _beside(v: Value) -> Value:
    """What another tree has where the first has a leaf: a subtree at most, of which nothing is claimed."""
    return UNKNOWN if any(isinstance(m, Tup | ListV | DictV | Obj) for m in members(v)) else v


def _leaf_of(v: Value) -> Value:
    """One leaf of a traced tree: an array."""
    return Array(Level.TRACED, roots=v.roots, origin=v.origin, maybe=v.maybe) if isinstance(v, Tree) else v
