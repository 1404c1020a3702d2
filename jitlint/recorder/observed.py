"""The record as the engine asks it: what was passed to each jitted function, read back from the text of its trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jitlint.recorder.record import Function, Record, Trace
from jitlint.semantics.observed import (
    ArrayLeaf,
    Branch,
    FunctionKey,
    Observations,
    Observed,
    ObservedArgument,
    ObservedCall,
    ObservedFunction,
    StaticLeaf,
)

_STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_CONTAINERS = {"OrderedDict": "dict", "defaultdict": "dict", "deque": "list"}
_QUOTED = re.compile(_STRING)
_KEY = re.compile(rf"({_STRING}|-?\d+(?:\.\d+)?|True|False): ")
_STEP = re.compile(rf"\.(\w+)|\[({_STRING}|-?\d+)\]|\[[^\]]*\]")
_OBJECT = re.compile(r"CustomNode\((?:(namedtuple)\[([\w.]+)|([\w.]+)\[)")


class IllegibleError(Exception):
    """A tree whose text cannot be read back, such as one with odd keys."""


def observations(record: Record) -> Observations:
    """What the record shows of each jitted function, the traces of several processes together."""
    found: dict[FunctionKey, ObservedFunction] = {}
    for function in record.functions:
        if function.traces and function.file:
            found[_key(function)] = ObservedFunction(function.traces_per_process, _calls(function))
    return found


def _key(function: Function) -> FunctionKey:
    wrappers = tuple(part for part in function.label.split("(")[:-1])
    return str(Path(function.file).resolve()), function.row, wrappers


def _calls(function: Function) -> tuple[ObservedCall, ...]:
    """The calls that led to traces, one for each place and arguments."""
    return tuple(dict.fromkeys(_call(trace) for trace in function.traces))


def _call(trace: Trace) -> ObservedCall:
    spelling = trace.signature.get("spelling", {})
    arguments = tuple(
        ObservedArgument(name, spelling.get(name) == "keyword", value)
        for name, value in arguments_of(trace.signature).items()
    )
    if trace.call is None:
        return ObservedCall("", 0, arguments)
    return ObservedCall(str(Path(trace.call.file).resolve()), trace.call.row, arguments)


def arguments_of(signature: Mapping[str, Any]) -> dict[str, Observed | None]:
    """The arguments of a recorded signature by name, in the order of the call; None for those that are illegible."""
    leaves = signature.get("leaves", ())
    out: dict[str, Observed | None] = {}
    for name, text in signature.get("trees", {}).items():
        own = [
            leaf for leaf in leaves if leaf["path"].startswith(name) and leaf["path"][len(name) :][:1] in ("", ".", "[")
        ]
        try:
            out[name] = _Reader(text, iter(own), name).read()
        except (IllegibleError, StopIteration):
            out[name] = None
    return out


class _Reader:
    """Reads the text of one tree, taking its leaves as they come."""

    def __init__(self, text: str, leaves: Iterator[Mapping[str, Any]], name: str) -> None:
        self._text = text
        self._leaves = leaves
        self._name = name
        self._at = 0
        self._taken = 0
        self._steps: list[Hashable | None] = []
        """The path of the latest leaf, a step for each node above it."""

    def read(self) -> Observed:
        """The whole tree. Raises IllegibleError, or StopIteration where leaves are missing."""
        found = self._node(0)
        if self._at != len(self._text):
            raise IllegibleError
        return found

    def _node(self, depth: int) -> Observed:
        if self._take("*"):
            leaf = next(self._leaves)
            self._taken += 1
            self._steps = [_step(found) for found in _STEP.finditer(leaf["path"], len(self._name))]
            return _leaf(leaf)
        if self._take("None"):
            return Branch("none")
        if self._take("["):
            return Branch("list", self._items("]", depth))
        if self._take("("):
            return Branch("tuple", self._items(")", depth))
        if self._take("{"):
            return Branch("dict", self._entries(depth))
        found = _OBJECT.match(self._text, self._at)
        if found is None:
            raise IllegibleError
        self._at = found.end()
        if found[1] is None:
            self._skip_to("]")
            self._expect(", [")
        else:
            self._expect("], [")
        children = self._fields(depth)
        self._expect(")")
        name = found[2] or found[3]
        return Branch(_CONTAINERS.get(name, "object"), children, name)

    def _items(self, end: str, depth: int) -> tuple[tuple[Hashable, Observed], ...]:
        out: list[tuple[Hashable, Observed]] = []
        while not self._take(end):
            out.append((len(out), self._node(depth + 1)))
            self._separator()
        return tuple(out)

    def _entries(self, depth: int) -> tuple[tuple[Hashable, Observed], ...]:
        out: list[tuple[Hashable, Observed]] = []
        while not self._take("}"):
            found = _KEY.match(self._text, self._at)
            if found is None:
                raise IllegibleError
            self._at = found.end()
            out.append((ast.literal_eval(found[1]), self._node(depth + 1)))
            self._separator()
        return tuple(out)

    def _fields(self, depth: int) -> tuple[tuple[Hashable | None, Observed], ...]:
        """The children of an object: the paths of their leaves say which attributes they are."""
        out: list[tuple[Hashable | None, Observed]] = []
        while not self._take("]"):
            taken = self._taken
            child = self._node(depth + 1)
            known = self._taken > taken and depth < len(self._steps)
            out.append((self._steps[depth] if known else None, child))
            self._separator()
        return tuple(out)

    def _separator(self) -> None:
        if not self._take(", "):
            self._take(",")

    def _take(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise IllegibleError

    def _skip_to(self, end: str) -> None:
        """Past the matching ``end``, over what a class says of itself in its own words."""
        depth = 0
        while self._at < len(self._text):
            quoted = _QUOTED.match(self._text, self._at)
            if quoted is not None:
                self._at = quoted.end()
                continue
            char = self._text[self._at]
            self._at += 1
            if depth == 0 and char == end:
                return
            depth += (char in "([{") - (char in ")]}")
        raise IllegibleError


def _step(found: re.Match[str]) -> Hashable | None:
    if found[1] is not None:
        return found[1]
    return None if found[2] is None else ast.literal_eval(found[2])


def _leaf(leaf: Mapping[str, Any]) -> Observed:
    if "static" in leaf:
        return StaticLeaf(leaf["static"], leaf.get("type", ""))
    dtype = "key" if leaf["dtype"].startswith("key<") else leaf["dtype"]
    shape = tuple(size if isinstance(size, int) else None for size in leaf["shape"])
    return ArrayLeaf(dtype, shape, bool(leaf.get("weak")))
