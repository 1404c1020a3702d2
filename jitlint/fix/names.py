"""How a library function is spelled in a file: through the names it has, or with an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst

from jitlint.findings import NewImport


@dataclass(frozen=True, slots=True)
class Spelling:
    """A dotted name as source text, and the imports it needs."""

    text: str
    imports: tuple[NewImport, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of a file mean where a fix is written.

    ``bindings`` maps local names to what they mean, dotted: ``{"jnp": "jax.numpy", "partial": "functools.partial"}``;
    a name that means something else (a variable) maps to any other text, so that it is not taken for a module.
    """

    filename: str
    bindings: Mapping[str, str]

    def spell(self, dotted: str) -> Spelling | None:
        """The text for ``dotted``: by the longest part of it that has a name, else with an import of its first part.

        None where the first part means something else here.
        """
        known = [
            (len(meaning), name, meaning)
            for name, meaning in self.bindings.items()
            if meaning == dotted or dotted.startswith(f"{meaning}.")
        ]
        if known:
            length, name, _ = min(known, key=lambda entry: (-entry[0], len(entry[1]), entry[1]))
            return Spelling(name + dotted[length:])
        root = dotted.partition(".")[0]
        if self.bindings.get(root, root) != root:
            return None
        return Spelling(dotted, (NewImport(self.filename, root),))

    def meaning(self, node: cst.BaseExpression) -> str | None:
        """What a name or attribute means, dotted; None for any other expression."""
        if isinstance(node, cst.Name):
            return self.bindings.get(node.value, node.value)
        if isinstance(node, cst.Attribute):
            base = self.meaning(node.value)
            return None if base is None else f"{base}.{node.attr.value}"
        return None
