"""Runs random programs under JAX and under jitlint, and says where the two disagree.

``python -m tests.judge.property --count 2000 --seed 0`` prints how many agree, and the shortest form it finds of each
program that does not. They agree when jitlint has a finding on the line where JAX raises, and, in a program that runs,
no finding of severity error on a line that was run. (What it says of lines that this run never reached is counted too,
as ``unreached``, and is neither right nor wrong.)
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import functools
import os
import sys
import tempfile
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jitlint.findings import Finding, Severity
from tests.judge.grammar import program
from tests.judge.lint import findings

FILE = "program.py"
UNRELATED = ("ZeroDivisionError", "OverflowError", "NameError", "UnboundLocalError", "KeyError", "UnrelatedError")
UNRELATED_MESSAGES = ("grad requires", "Reverse-mode differentiation does not", "unhashable type: 'jaxlib")
"""Exceptions that a program raises for reasons of its own: such programs are left out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What JAX did: the class of an exception and the line it came from, or nothing."""

    kind: str | None = None
    row: int = 0
    message: str = ""
    reached: frozenset[int] = frozenset()
    """The lines that ran."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A program on which jitlint and JAX do not agree, and how."""

    seed: int
    text: str
    what: str
    kind: str
    """``missed``: JAX raises and jitlint says nothing there; ``false``: jitlint says error and JAX runs."""


@dataclass(slots=True)
class Comparison:
    """The outcome of a run over many programs."""

    agreed: int = 0
    left_out: int = 0
    raised: int = 0
    unreached: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)
    classes: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The share of programs that agree, of those that count."""
        return self.agreed / max(1, self.agreed + len(self.disagreements))


def under_jax(text: str) -> Verdict:
    """Run a program; its last line, the call under test, is only traced where that is enough."""
    names: dict[str, Any] = {"__name__": "__main__"}
    *before, last = ast.parse(text).body
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    call = last.value
    reached: set[int] = set()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(ast.Module(before, []), FILE, "exec"), names)
            names["__call"] = _tracer(eval(compile(ast.Expression(call.func), FILE, "eval"), names))
            call.func = ast.copy_location(ast.Name("__call", ast.Load()), call.func)
            code = compile(ast.Expression(call), FILE, "eval")
            with _noting_lines(reached):
                eval(code, names)
    except Exception as error:
        rows = [row for frame, row in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
        said = str(error).partition("\n")[0]
        kind = "UnrelatedError" if said.startswith(UNRELATED_MESSAGES) else type(error).__name__
        return Verdict(kind, rows[-1] if rows else 0, said, frozenset(reached))
    return Verdict(reached=frozenset(reached))


@contextlib.contextmanager
def _noting_lines(rows: set[int]) -> Iterator[None]:
    """Note each line of the program that is run meanwhile."""

    def local(frame: types.FrameType, event: str, arg: object) -> Any:
        rows.add(frame.f_lineno)
        return local

    def entering(frame: types.FrameType, event: str, arg: object) -> Any:
        return local(frame, event, arg) if frame.f_code.co_filename == FILE else None

    before = sys.gettrace()
    sys.settrace(entering)
    try:
        yield
    finally:
        sys.settrace(before)


def _tracer(function: Any) -> Any:
    """What traces a jitted function without compiling it; other functions as they are."""
    if isinstance(function, types.MethodType) and hasattr(function.__func__, "trace"):
        return functools.partial(function.__func__.trace, function.__self__)
    return getattr(function, "trace", function)


def disagreement(seed: int, text: str, verdict: Verdict, found: Iterable[Finding]) -> Disagreement | None:
    """How jitlint's findings disagree with what JAX did, if they do."""
    if verdict.kind is not None:
        if any(f.span.row <= verdict.row <= f.span.end_row for f in found):
            return None
        what = f"{verdict.row}: {verdict.kind}: {verdict.message}"
        return Disagreement(seed, text, what, "missed")
    for finding in loud(found):
        if finding.span.row in verdict.reached:
            what = f"{finding.span.row}: {finding.code} {finding.certainty}: {finding.message}"
            return Disagreement(seed, text, what, "false")
    return None


def loud(found: Iterable[Finding]) -> list[Finding]:
    """The findings that say that JAX raises."""
    return [finding for finding in found if finding.severity is Severity.ERROR]


def counts(verdict: Verdict) -> bool:
    """Whether the outcome says anything about jit."""
    return verdict.kind not in UNRELATED


def compare(seeds: Iterable[int]) -> Comparison:
    """Compare the programs of many seeds; jitlint sees them in one run."""
    texts = {seed: program(seed) for seed in seeds}
    found = lint({str(seed): text for seed, text in texts.items()})
    comparison = Comparison()
    for seed, text in texts.items():
        verdict = under_jax(text)
        if not counts(verdict):
            comparison.left_out += 1
            continue
        comparison.classes[verdict.kind or "runs"] += 1
        comparison.raised += verdict.kind is not None
        wrong = disagreement(seed, text, verdict, found[str(seed)])
        comparison.unreached += verdict.kind is None and wrong is None and bool(loud(found[str(seed)]))
        if wrong is None:
            comparison.agreed += 1
        else:
            comparison.disagreements.append(wrong)
    return comparison


def lint(texts: Mapping[str, str]) -> dict[str, list[Finding]]:
    """jitlint's findings in each of the texts."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, text in texts.items():
            files[name] = Path(folder) / f"p{name}.py"
            files[name].write_text(text, encoding="utf-8")
        by_file: dict[str, list[Finding]] = {name: [] for name in texts}
        for finding in findings(files.values()):
            by_file[Path(finding.filename).stem[1:]].append(finding)
    return by_file


def minimised(wrong: Disagreement, attempts: int = 300) -> Disagreement:
    """A shorter program that disagrees in the same way, by leaving statements out as long as that works."""

    def still(text: str) -> Disagreement | None:
        verdict = under_jax(text)
        if not counts(verdict) or undefined(text):
            return None
        again = disagreement(wrong.seed, text, verdict, lint({"0": text})["0"])
        return again if again is not None and _same(again, wrong) else None

    best = wrong
    progress = True
    while progress:
        progress = False
        for shorter in reductions(best.text):
            attempts -= 1
            if attempts < 0:
                return best
            again = still(shorter)
            if again is not None:
                best, progress = again, True
                break
    return best


def _same(one: Disagreement, other: Disagreement) -> bool:
    """Whether two programs disagree in the same way: the same exception, or the same code."""
    return one.kind == other.kind and one.what.split(": ")[1] == other.what.split(": ")[1]


def undefined(text: str) -> set[str]:
    """Names that are read and nowhere bound."""
    tree = ast.parse(text)
    bound = {name.asname or name.name for node in ast.walk(tree) for name in getattr(node, "names", []) if name != "*"}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | set(dir(builtins))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {name.id for name in names} - {name.id for name in names if isinstance(name.ctx, ast.Store)} - bound


def reductions(text: str) -> Iterator[str]:
    """The program with one statement left out, or a compound statement replaced by its body; the outer ones first."""
    size = len(list(statements(ast.parse(text))))
    for position in range(size):
        for unwrap in (False, True):
            tree = ast.parse(text)
            body, at = list(statements(tree))[position]
            if (body is tree.body and at == len(body) - 1) or isinstance(body[at], ast.AnnAssign):
                continue
            if unwrap and not isinstance(body[at], (ast.If, ast.For, ast.While, ast.Try)):
                continue
            replacement = list(getattr(body[at], "body", [])) if unwrap else []
            body[at : at + 1] = replacement or ([] if len(body) > 1 or body is tree.body else [ast.Pass()])
            shorter = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            if len(shorter) < len(ast.unparse(ast.parse(text))) + 1:
                yield shorter


def statements(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    """Every statement as the list that holds it and its place there."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield from ((body, at) for at in range(len(body)))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; the others follow it")
    parser.add_argument("--show", type=int, default=10, help="how many disagreements to print in full")
    options = parser.parse_args()
    comparison = compare(range(options.seed, options.seed + options.count))
    print(", ".join(f"{kind} {count}" for kind, count in comparison.classes.most_common()))
    by_kind = Counter(wrong.kind for wrong in comparison.disagreements)
    print(
        f"agreement {comparison.share:.4f}: {comparison.agreed} of {comparison.agreed + sum(by_kind.values())}", end=""
    )
    print(f" ({comparison.raised} raise; {by_kind['missed']} missed, {by_kind['false']} false; ", end="")
    print(f"{comparison.unreached} unreached, {comparison.left_out} left out)")
    for wrong in comparison.disagreements[: options.show]:
        short = minimised(wrong)
        print(f"\n# seed {short.seed}, {short.kind}: {short.what}\n{short.text}")


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    main()
