"""Compares what JAX did with the marks of a fixture. An empty list of complaints says that they agree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.judge.execute import Outcome, Statement
from tests.judge.fixtures import Fixture
from tests.judge.marks import Marks, read_marks
from tests.judge.pool import Pool

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_ARRAY = re.compile(r"(?:[Aa]rray|np\.\w+)\(([^()]*?)(?:,dtype=\w+)?\)")


def modes(fixture: Fixture) -> tuple[str, ...]:
    """The modes in which the fixture has to be run: ``nojit`` only if it prints anything to compare."""
    prints = any("print(" in path.read_text(encoding="utf-8") for path in fixture.files)
    leaks = any(marks.leaks for marks in marks_of(fixture).values())
    return ("jit", *(["nojit"] if prints else []), *(["leaks"] if leaks else []))


def marks_of(fixture: Fixture) -> dict[str, Marks]:
    """The marks of each of its files, by path relative to its folder."""
    folder = fixture.main.parent
    return {
        path.relative_to(folder).as_posix(): read_marks(path.read_text(encoding="utf-8"), path.name)
        for path in fixture.files
    }


def complaints(fixture: Fixture, pool: Pool) -> list[str]:
    """Everything in which JAX disagrees with the marks, a line each."""
    marks = marks_of(fixture)
    of_main = marks[fixture.main.name]
    jit = pool.outcome(fixture.main)
    plain = pool.outcome(fixture.main, "nojit") if "nojit" in modes(fixture) else jit
    found = [
        *_raises(marks, jit, fixture.is_good),
        *_traces(marks, jit, fixture),
        *_wrong(of_main, jit, plain),
        *_reveals(marks, jit),
    ]
    if "leaks" in modes(fixture):
        found += _leaks(of_main, pool.outcome(fixture.main, "leaks"))
    return found


def _raises(marks: dict[str, Marks], outcome: Outcome, good: bool) -> Iterator[str]:
    wanted = {(file, row): name for file, each in marks.items() for row, name in each.raises.items()}
    seen = set()
    for statement in outcome["statements"]:
        raised = statement["raised"]
        if raised is None:
            continue
        place = (raised["file"] or "", raised["row"])
        seen.add(place)
        said = f"{place[0]}:{place[1]}: {raised['kind']}: {raised['message'].splitlines()[:1]}"
        if place not in wanted:
            yield f"{said} is raised, and no `raises` mark says so"
        elif wanted[place] != raised["kind"]:
            yield f"{said} is of another class than marked"
        elif good:
            yield f"{said} in a good twin"
    for file, row in sorted(set(wanted) - seen):
        yield f"{file}:{row}: {wanted[file, row]} is marked and not raised there"


def _traces(marks: dict[str, Marks], outcome: Outcome, fixture: Fixture) -> Iterator[str]:
    places = {}
    for path in fixture.files:
        name = path.relative_to(fixture.main.parent).as_posix()
        places.update({f"{name}:{first}": (name, row) for first, row in _definitions(path)})
    counts: dict[tuple[str, int], int] = {}
    for place, count in outcome["traces"].items():
        if place in places:
            counts[places[place]] = counts.get(places[place], 0) + count
    for file, each in marks.items():
        for row, wanted in each.traces.items():
            if (file, row) not in places.values():
                yield f"{file}:{row}: a `traces` mark, and no function is defined here"
            elif counts.get((file, row), 0) != wanted:
                yield f"{file}:{row}: traced {counts.get((file, row), 0)} times, marked {wanted}"
    if any(each.reveal for each in marks.values()):
        return  # fixtures of the engine call functions in many ways, and say nothing of compilations
    for place in outcome["jitted"]:
        if place in places:
            file, row = places[place]
            if counts.get((file, row), 0) > 1 and row not in marks[file].traces:
                yield f"{file}:{row}: jitted and traced {counts[file, row]} times, and no `traces` mark says so"


def _definitions(path: Path) -> Iterator[tuple[int, int]]:
    """For each function: the row its code object names (that of its first decorator), and the row of its def."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.lineno
        elif isinstance(node, ast.Lambda):
            yield node.lineno, node.lineno


def _wrong(marks: Marks, jit: Outcome, plain: Outcome) -> Iterator[str]:
    for one, other in zip(jit["statements"], plain["statements"], strict=True):
        if one["raised"]:
            continue
        marked = _rows(one) & marks.wrong
        if other["raised"]:
            text = f"{other['raised']['kind']}: {other['raised']['message'][:80]}"
            if not marked:
                yield f"{one['row']}: raises only without jit ({text}), and no `wrong` mark says so"
        elif same_output(one["output"], other["output"]):
            if marked:
                yield f"{one['row']}: marked `wrong`, and prints the same with and without jit: {one['output']!r}"
        elif not marked:
            yield f"{one['row']}: prints {one['output']!r}, without jit {other['output']!r}; no `wrong` mark says so"


def _leaks(marks: Marks, outcome: Outcome) -> Iterator[str]:
    for statement in outcome["statements"]:
        raised = statement["raised"]
        leaked = raised is not None and "Leaked" in raised["message"]
        if leaked != bool(_rows(statement) & marks.leaks):
            yield f"{statement['row']}: {'leaks, not marked' if leaked else f'marked `leaks`, and does not: {raised}'}"


def _reveals(marks: dict[str, Marks], outcome: Outcome) -> Iterator[str]:
    for file, each in marks.items():
        for row, wanted in each.reveal.items():
            kinds = outcome["revealed"].get(f"{file}:{row}")
            if kinds is None:
                yield f"{file}:{row}: never runs, so that JAX cannot say what is revealed"
                continue
            yield from (f"{file}:{row}: {text}" for text in contradictions(wanted, kinds))


def _rows(statement: Statement) -> set[int]:
    return set(range(statement["row"], statement["end_row"] + 1))


def same_output(one: str, other: str) -> bool:
    """Whether two outputs are the same but for spaces, rounding, and what is an array and what a Python number."""
    first, second = (_ARRAY.sub(r"\1", re.sub(r", weak_type=True|\s+", "", text)) for text in (one, other))
    if _NUMBER.sub("0", first) != _NUMBER.sub("0", second):
        return False
    numbers = zip(map(float, _NUMBER.findall(first)), map(float, _NUMBER.findall(second)), strict=True)
    return all(abs(a - b) <= 1e-3 * max(abs(a), abs(b), 1e-2) for a, b in numbers)


def contradictions(wanted: str, kinds: list[list[object]]) -> Iterator[str]:
    """What of a ``reveal`` mark the values that JAX had there contradict."""
    words = {str(kind[0]) for kind in kinds}
    if wanted == "unknown":
        return
    if wanted == "maybe traced":
        if words <= {"traced"} or not words & {"traced"}:
            yield f"marked `maybe traced`, and JAX has only {sorted(words)}"
        return
    for kind in kinds:
        if not _agrees(wanted, kind):
            yield f"marked `{wanted}`, and JAX has {kind}"


def _agrees(wanted: str, kind: list[object]) -> bool:
    word, _, name = wanted.partition(" ")
    if word == "static":
        return _is_static(kind) and (not name or _repr(kind) == name)
    head, _, body = wanted.partition("(")
    if body:
        return head == kind[0] and _items_agree(split_items(body.removesuffix(")")), kind)
    match word:
        case "traced" | "concrete":
            return kind[0] == word
        case "unknown" | "maybe":
            return True
        case "function":
            return kind[0] == "static" and kind[2] == name
        case "instance":
            return kind[0] == name or (kind[0] == "static" and kind[3] == name)
    raise ValueError(f"not a `reveal` value: {wanted!r}")


def _items_agree(items: list[str], kind: list[object]) -> bool:
    inner = _inner(kind)
    if len(items) != len(inner):
        return False
    if kind[0] == "dict":
        named = [item.partition(": ") for item in items]
        return all(key == own and _agrees(want, each) for (key, _, want), (own, each) in zip(named, inner, strict=True))
    return all(_agrees(item, each) for item, each in zip(items, inner, strict=True))


def _inner(kind: list[object]) -> list[list[Any]]:
    return [item for item in kind[1:] if isinstance(item, list)]


def _is_static(kind: list[object]) -> bool:
    if kind[0] == "dict":
        return all(_is_static(each) for _, each in _inner(kind))
    return kind[0] not in ("traced", "concrete") and all(map(_is_static, _inner(kind)))


def _repr(kind: list[object]) -> object:
    """The text of a static value, put together again for containers of static values."""
    if kind[0] == "static":
        return kind[1]
    inner = list(map(_repr, _inner(kind)))
    if kind[0] == "list":
        return f"[{', '.join(map(str, inner))}]"
    return f"({', '.join(map(str, inner))}{',' if len(inner) == 1 else ''})"


def same_value(wanted: str, said: str) -> bool:
    """Whether a ``reveal`` mark and what the engine says mean the same: ``static`` alone is any static value."""
    if wanted == "static":
        return said.startswith(("static", "tuple(", "list(", "dict(")) and not re.search(
            r"traced|concrete|unknown", said
        )
    return wanted == said


def split_items(text: str) -> list[str]:
    """Split ``a, b(c, d)`` at its outer commas."""
    items, depth, item = [], 0, ""
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            items.append(item.strip())
            item = ""
        else:
            item += char
    return [*items, item.strip()] if item.strip() else items
