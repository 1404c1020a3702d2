"""Why a function was traced again: the difference between its signature and the nearest earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .signature import Leaf, Signature, without_addresses

KINDS = (
    "first",
    "new_function_object",
    "structure",
    "spelling",
    "static",
    "dtype",
    "weak_type",
    "shape",
    "sharding",
    "context",
    "evicted",
    "transform",
    "options",
    "unseen",
)
"""Every kind of cause; ``unseen`` is a compile of a function that was jitted before the recorder could see it."""


class Cause(NamedTuple):
    """One reason: its kind, the argument it concerns, and what it was before and is now."""

    kind: str
    argument: str = ""
    old: str = ""
    new: str = ""
    note: str = ""

    def as_json(self) -> dict[str, str]:
        """The cause for the record, without what is not set."""
        return {k: v for k, v in self._asdict().items() if v}

    @property
    def title(self) -> str:
        """The kind and the argument: ``shape of x``, ``static value of n``."""
        name = "static value" if self.kind == "static" else self.kind.replace("_", " ")
        return f"{name} of {self.argument}" if self.argument else name

    def describe(self) -> str:
        """One line for people."""
        text = self.title
        if self.old or self.new:
            text += f": {self.old} → {self.new}"
        return f"{text} ({self.note})" if self.note else text


def differences(old: Signature, new: Signature) -> list[Cause]:
    """What a user would have to change in the call for ``new`` to be served from the cache entry of ``old``."""
    causes: list[Cause] = []
    restructured = _structure(old, new, causes)
    respelled = _spelling(old, new, causes)
    before = {leaf.path: leaf for leaf in old.leaves}
    for leaf in new.leaves:
        earlier = before.get(leaf.path)
        if earlier is not None and earlier != leaf:
            causes.extend(_leaf(earlier, leaf))
        elif earlier is None and not leaf.traced and not _under(leaf.path, restructured | respelled):
            causes.append(Cause("static", leaf.path, "absent", leaf.text))
    _context(old, new, causes)
    return causes


def explain(earlier: Sequence[Signature], new: Signature) -> list[Cause]:
    """Differences to the nearest of the ``earlier`` signatures, the latest of them where several are as near.

    Empty when one of them is the same, and when there are none.
    """
    best: list[Cause] | None = None
    for old in reversed(earlier):
        found = differences(old, new)
        if best is None or len(found) < len(best):
            best = found
        if not best:
            break
    return best or []


def _structure(old: Signature, new: Signature, causes: list[Cause]) -> set[str]:
    before = {name: (text, token) for name, text, token in old.trees}
    changed = set()
    for name, text, token in new.trees:
        if name not in before or before[name] == (text, token):
            continue
        old_text, _ = before[name]
        if "*" in (text, old_text) and {text, old_text} != {"*"} and not _both_shapes_of_none(text, old_text):
            # Static here and traced there, or a container given to a static parameter: told leaf by leaf.
            continue
        changed.add(name)
        if without_addresses(text) == without_addresses(old_text):
            causes.append(
                Cause("static", name, note="a static field of the pytree holds another object, made anew each time")
            )
        else:
            causes.append(Cause("structure", name, _tree(old_text), _tree(text)))
    return changed


def _both_shapes_of_none(text: str, old_text: str) -> bool:
    return "None" in (text, old_text)


def _tree(text: str) -> str:
    return "array" if text == "*" else text if len(text) <= 80 else text[:79] + "…"


def _spelling(old: Signature, new: Signature, causes: list[Cause]) -> set[str]:
    before = dict(old.spelling)
    after = dict(new.spelling)
    changed = {n for n in before.keys() | after.keys() if before.get(n, "omitted") != after.get(n, "omitted")}
    for name in sorted(changed):
        causes.append(Cause("spelling", name, before.get(name, "omitted"), after.get(name, "omitted")))
    return changed


def _leaf(old: Leaf, new: Leaf) -> list[Cause]:
    if old.traced != new.traced:
        return [Cause("static", new.path, old.describe(), new.describe())]
    if not new.traced:
        return _static(old, new)
    causes = []
    if old.shape != new.shape:
        kind = "shape"
        causes.append(Cause(kind, new.path, old.describe(), new.describe()))
    if old.dtype != new.dtype:
        causes.append(Cause("dtype", new.path, old.dtype, new.dtype))
    elif old.weak != new.weak:
        causes.append(Cause("weak_type", new.path, _strength(old), _strength(new)))
    if old.sharding != new.sharding:
        causes.append(Cause("sharding", new.path, old.sharding or "none", new.sharding or "none"))
    return causes


def _strength(leaf: Leaf) -> str:
    return f"weak {leaf.dtype}" if leaf.weak else f"strong {leaf.dtype}"


def _static(old: Leaf, new: Leaf) -> list[Cause]:
    if (old.type, old.token) == (new.type, new.token):
        return []
    note = ""
    if new.by_identity and old.text == new.text:
        note = "another object that equals only itself"
    elif old.text == new.text and old.type == new.type:
        note = "an object that does not equal the earlier one"
    return [Cause("static", new.path, old.text, new.text, note)]


def _under(path: str, names: set[str]) -> bool:
    return any(path == name or path.startswith((name + "[", name + ".")) for name in names)


def _context(old: Signature, new: Signature, causes: list[Cause]) -> None:
    before, after = dict(old.context), dict(new.context)
    named = [name for name in after if before.get(name) != after[name]]
    causes.extend(Cause("context", name, before.get(name, "unset"), after[name]) for name in named)
    if not named and old.context_token != new.context_token:
        causes.append(Cause("context", note="another mesh, mapped axis or option of jax.config"))
