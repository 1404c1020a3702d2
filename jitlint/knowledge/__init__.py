"""What the callables of jax, numpy and the libraries around them take and give, as data.

One TOML file a library lies in ``data/``, named after its import path. A row describes one callable::

    [functions.arange]
    params = ["start", "stop=", "step=", "dtype=", "*", "device=", "out_sharding="]
    result = "array"
    concrete = { start = "ConcretizationTypeError", stop = "ConcretizationTypeError" }

:mod:`jitlint.knowledge.model` says what each field means. Users add files of the same form, which go before the
built-in ones::

    knowledge = load([Path("mylib.toml")])
    knowledge.function("jax.numpy.arange").must_be_concrete("stop", given=())  # "ConcretizationTypeError"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from jitlint.knowledge.model import (
    AttributeModel,
    ClassModel,
    Dynamic,
    FunctionModel,
    MethodModel,
    Parameter,
    Term,
)
from jitlint.knowledge.read import KnowledgeError, LibraryFile

__all__ = [
    "AttributeModel",
    "ClassModel",
    "Dynamic",
    "FunctionModel",
    "Knowledge",
    "KnowledgeError",
    "LibraryFile",
    "MethodModel",
    "Parameter",
    "Term",
    "load",
]

DATA = Path(__file__).parent / "data"
_MOST_ALIASES = 8
_KINDS = {"array": "jax.Array", "at": "jax.Array.at", "host_array": "numpy.ndarray"}


class Knowledge:
    """Answers questions about dotted library names. Files are read when a name of their library is first asked for."""

    def __init__(self, data: Path, extra: Sequence[LibraryFile] = ()) -> None:
        """``data`` is the folder of the built-in files; ``extra`` come before them, the first one first."""
        self._paths = {path.stem: path for path in sorted(data.glob("*.toml"))}
        self._extra = tuple(extra)
        self._files: dict[str, LibraryFile] = {}
        self._functions: dict[str, FunctionModel | None] = {}
        self._classes: dict[str, ClassModel | None] = {}
        self._constants: dict[str, str | None] = {}
        self._canonical: dict[str, str] = {}
        self._members: dict[tuple[str, str], AttributeModel | MethodModel | None] = {}

    def libraries(self) -> list[str]:
        """The import paths that a file describes."""
        return sorted({*self._paths, *(file.name for file in self._extra)})

    def covers(self, dotted: str) -> bool:
        """Does ``dotted`` lie in a library that a file describes?"""
        return next(self._candidates(dotted), None) is not None

    def canonical(self, dotted: str) -> str:
        """``dotted`` with re-exports followed: ``jax.tree_map`` is ``jax.tree.map``."""
        if dotted not in self._canonical:
            name = dotted
            for _ in range(_MOST_ALIASES):
                step = self._alias(name)
                if step is None:
                    break
                name = step
            self._canonical[dotted] = name
        return self._canonical[dotted]

    def function(self, dotted: str) -> FunctionModel | None:
        """What is known of the callable ``dotted``: its row, else the default of its library; None outside of all.

        Names that begin with an underscore, submodules and constants have no default.
        """
        if dotted not in self._functions:
            self._functions[dotted] = self._find_function(self.canonical(dotted))
        return self._functions[dotted]

    def class_(self, dotted: str) -> ClassModel | None:
        """What is known of the class ``dotted`` as a base, annotation or constructor; None without a row."""
        if dotted not in self._classes:
            name = self.canonical(dotted)
            rows = (file.class_(rest) for file, rest in self._candidates(name) if file.has("classes", rest))
            self._classes[dotted] = next(rows, None)
        return self._classes[dotted]

    def constant(self, dotted: str) -> str | None:
        """The kind of a library constant (``float``, ``none``, ``false``, ``dtype``, ``module``, …); None without one."""
        if dotted not in self._constants:
            files = self._candidates(self.canonical(dotted))
            self._constants[dotted] = next(
                (file.constants[rest] for file, rest in files if rest in file.constants), None
            )
        return self._constants[dotted]

    def attribute(self, kind: str, name: str) -> AttributeModel | MethodModel | None:
        """The attribute or method ``name`` of a value of ``kind``; None when nothing is known of it.

        ``kind`` is the dotted name of a class (``logging.Logger``), or ``array`` (a jax array or tracer), ``at``
        (``x.at[i]``), ``host_array`` (numpy).
        """
        if (kind, name) not in self._members:
            self._members[kind, name] = self._find_member(f"{_KINDS.get(kind, kind)}.{name}")
        return self._members[kind, name]

    def file(self, library: str) -> LibraryFile:
        """The built-in file of ``library``. Raises :class:`KeyError` when there is none."""
        if library not in self._files:
            self._files[library] = LibraryFile(self._paths[library])
        return self._files[library]

    def _candidates(self, dotted: str) -> Iterator[tuple[LibraryFile, str]]:
        """The files that ``dotted`` may be described in, with the rest of the name: longest library name first."""
        for file in self._extra:
            if dotted.startswith(f"{file.name}."):
                yield file, dotted[len(file.name) + 1 :]
        prefix = dotted
        while "." in prefix:
            prefix = prefix[: prefix.rindex(".")]
            if prefix in self._paths:
                yield self.file(prefix), dotted[len(prefix) + 1 :]

    def _alias(self, dotted: str) -> str | None:
        for file, rest in self._candidates(dotted):
            prefix, tail = rest, ""
            while True:
                target = file.aliases.get(prefix)
                if target is not None:
                    return target + tail
                if "." not in prefix:
                    break
                prefix, _, last = prefix.rpartition(".")
                tail = f".{last}{tail}"
        return None

    def _find_function(self, dotted: str) -> FunctionModel | None:
        for file, rest in self._candidates(dotted):
            if file.has("functions", rest):
                return file.function(rest)
        for file, rest in self._candidates(dotted):
            if file in self._extra and file.name in self._paths:
                continue
            name = rest.rpartition(".")[2]
            if name.startswith("_") or rest in file.constants or rest in file.modules or file.has("classes", rest):
                return None
            return replace(file.default, name=dotted, documented=False)
        return None

    def _find_member(self, dotted: str) -> AttributeModel | MethodModel | None:
        for file, rest in self._candidates(dotted):
            if file.has("attributes", rest):
                return file.attribute(rest)
            if file.has("methods", rest):
                return file.method(rest)
        return None


def load(extra: Sequence[Path] = ()) -> Knowledge:
    """The built-in knowledge, with the files ``extra`` of the user before it.

    Raises :class:`KnowledgeError` when one of ``extra`` cannot be read or is not of the schema; the message says which
    file, table and key. Built-in files are checked by the tests and not again here.
    """
    files = []
    for path in extra:
        try:
            file = LibraryFile(path)
        except OSError as error:
            raise KnowledgeError(f"{path}: cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise KnowledgeError(f"{path}: is not UTF-8 text") from None
        file.validate()
        files.append(file)
    return Knowledge(DATA, files)
