"""The index of a module: its top-level statements, what each binds and mentions, and what the module imports.

Made with one ``ast.parse`` and one walk over its result, because every file of a project pays for it. Where the
running Python does not know a newer syntax, libcst (which does) is asked instead, at ten times the price.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from jitlint.project.model import ModuleIndex, TopStatement
from jitlint.project.names import absolute_name, prefixes, requests_from
from jitlint.syntax import parse

MAX_BYTES = 5 * 1024 * 1024
"""Larger sources are generated data, not programs: they are reported and left alone."""

_MAX_OPERANDS = 5000
"""Of one ``and``/``or`` chain; libcst's parser overflows the C stack somewhere above 10,000."""

_TOO_DEEP = "the code is nested too deeply to be analysed"

# Whoever mentions none of these can hold no traced code by itself, only helpers for modules that do.
_JAX_WORDS = re.compile(r"jax|jit|flax|nnx|equinox|eqx|haiku|optax|chex|numpyro|brax|distrax|vmap|pmap")

# Line ends for ``str.splitlines`` but not for Python.
_ODD_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

# Imports that are calls: ``importlib.import_module("a.b")``, ``pytest.importorskip("a")``.
_IMPORT_CALL = re.compile(r"""\b(?:import_module|importorskip|__import__)\(\s*["']([\w.]+)["']""")


class Unparsable(Exception):  # noqa: N818 - it is named for what the text is
    """A source text that is not Python, or not within the limits of the analysis: where, and what is wrong."""

    def __init__(self, row: int, column: int, message: str) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.message = message


def split_rows(text: str) -> list[str]:
    """The rows of ``text`` as Python counts them (``\\n``, ``\\r\\n`` and ``\\r`` end a row), with their line ends."""
    if _ODD_LINE_ENDS.search(text) is None:
        return text.splitlines(keepends=True)
    return list(io.StringIO(text, newline=""))


def index_source(text: str, *, package: str = "") -> ModuleIndex:
    """Index the source ``text`` of one module; ``package`` is the dotted package that its relative imports start from.

    Raises :class:`Unparsable` for a syntax error, null bytes, and text that is too large or too deeply nested.
    """
    if len(text) > MAX_BYTES:
        raise Unparsable(1, 1, f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB")
    rows = split_rows(text)
    null = text.find("\0")
    if null >= 0:
        before = split_rows(text[: null + 1])
        raise Unparsable(len(before), len(before[-1]), "the source holds a null byte")
    try:
        tree = parse(text)
    except SyntaxError as error:
        return _index_newer_syntax(text, rows, package, error)
    except (RecursionError, MemoryError):
        raise Unparsable(1, 1, _TOO_DEEP) from None
    except ValueError as error:  # lone surrogates
        raise Unparsable(1, 1, str(error)) from None
    return _Indexer(rows, package).index(tree, bool(_JAX_WORDS.search(text)), _import_calls(text))


def _import_calls(text: str) -> list[tuple[str, int]]:
    """What calls that import ask for, as in :attr:`ModuleIndex.requests`."""
    if "import_module" in text or "importorskip" in text or "__import__" in text:
        return [(dotted, 0) for dotted in _IMPORT_CALL.findall(text)]
    return []


# Fields without child nodes, or with such as mention nothing.
_BARE_FIELDS = frozenset(
    ["id", "attr", "name", "asname", "arg", "module", "level", "ctx", "op", "ops", "kind", "simple"]
)


class _ChildFields(dict[type[ast.AST], tuple[str, ...]]):
    """For each node class, the fields that can hold child nodes worth a visit; filled as classes are met."""

    def __missing__(self, node_type: type[ast.AST]) -> tuple[str, ...]:
        fields = self[node_type] = tuple(name for name in node_type._fields if name not in _BARE_FIELDS)
        return fields


_FIELDS = _ChildFields()


class _Indexer:
    """One run over the tree of one module."""

    def __init__(self, rows: list[str], package: str) -> None:
        self.rows = rows
        self.package = package
        self.imports: set[str] = set()
        self.requests: set[tuple[str, int]] = set()

    def index(self, tree: ast.Module, mentions_jax: bool, requests: Iterable[tuple[str, int]]) -> ModuleIndex:
        statements = tuple(self._statement(*group) for group in self._groups(tree.body))
        return ModuleIndex(statements, frozenset(self.imports), mentions_jax, frozenset({*requests, *self.requests}))

    def _groups(self, body: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int]]:
        """The statements, those together that share a row or are joined by a backslash; with their last row."""
        group: list[ast.stmt] = []
        last_row = 0
        for node in body:
            first_row = _first_row(node)
            if group and first_row > last_row:
                yield group, last_row
                group = []
            group.append(node)
            last_row = self._last_row(node)
        if group:
            yield group, last_row

    def _last_row(self, node: ast.stmt) -> int:
        """The row that ``node`` ends on, or where a backslash continues it (``a = 1; \\``), the last of those rows."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        last_row, offset = node.end_lineno, node.end_col_offset
        while last_row < len(self.rows):
            row = self.rows[last_row - 1].rstrip("\r\n")
            if not row.endswith("\\") or row.encode("utf-8")[offset:].strip(b" \t\f;") != b"\\":
                break
            last_row, offset = last_row + 1, 0
        return last_row

    def _statement(self, group: list[ast.stmt], last_row: int) -> TopStatement:
        first_row = _first_row(group[0])
        text = "".join(self.rows[first_row - 1 : last_row])
        if not text.endswith(("\n", "\r")):
            text += "\n"
        mentions: set[str] = set()
        binds: dict[str, None] = {}
        for node in group:
            self._walk(node, mentions)
            _bind_statement(node, binds, ":=" in text)
        kind = _kind(group[0]) if len({_kind(node) for node in group}) == 1 else "other"
        return TopStatement(first_row, last_row, text, kind, tuple(binds), tuple(sorted(mentions)))

    def _walk(self, root: ast.stmt, mentions: set[str]) -> None:
        """Add every name and attribute that ``root`` reads to ``mentions``, every import in it to ``imports``.

        Written for speed: half of all nodes are names, attributes and constants, and are dealt with at once.
        """
        add, fields = mentions.add, _FIELDS
        is_ast, name, attribute, constant, load = ast.AST, ast.Name, ast.Attribute, ast.Constant, ast.Load
        stack: list[ast.AST] = [root]
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            node_type = type(node)
            if node_type is name:
                if type(node.ctx) is load:  # type: ignore[attr-defined]
                    add(node.id)  # type: ignore[attr-defined]
                continue
            if node_type is attribute:
                add(node.attr)  # type: ignore[attr-defined]
                push(node.value)  # type: ignore[attr-defined]
                continue
            if node_type is constant:
                continue
            if node_type in _SPECIAL:
                self._special(node, mentions)
            for field in fields[node_type]:
                value = getattr(node, field)
                if type(value) is list:
                    for item in value:
                        if isinstance(item, is_ast):
                            push(item)
                elif isinstance(value, is_ast):
                    push(value)

    def _special(self, node: ast.AST, mentions: set[str]) -> None:
        match node:
            case ast.AugAssign(target=ast.Name(id=written)):
                mentions.add(written)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                mentions.update(names)
            case ast.alias(name=dotted):
                mentions.update(dotted.split("."))
            case ast.Import(names=aliases):
                self.imports.update(alias.name for alias in aliases)
                self.requests.update((name, 0) for alias in aliases for name in prefixes(alias.name))
            case ast.ImportFrom(module=module, names=aliases, level=level):
                mentions.update((module or "").split("."))
                self.imports.add(absolute_name(self.package, module or "", level))
                self.requests.update(requests_from(module or "", (alias.name for alias in aliases), level))
            case ast.BoolOp(values=values) if len(values) > _MAX_OPERANDS:
                raise Unparsable(node.lineno, node.col_offset + 1, _TOO_DEEP)


_SPECIAL = frozenset({ast.AugAssign, ast.Global, ast.Nonlocal, ast.alias, ast.Import, ast.ImportFrom, ast.BoolOp})


def _first_row(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", None) or []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _kind(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return "def"
        case ast.ClassDef():
            return "class"
        case ast.Import() | ast.ImportFrom():
            return "import"
    return "other"


def _bind_statement(node: ast.stmt, binds: dict[str, None], may_hold_walrus: bool) -> None:
    """Add the names that ``node`` binds in its own scope to ``binds``, in order."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            binds[node.name] = None
            return
        case ast.Import():
            binds.update((alias.asname or alias.name.partition(".")[0], None) for alias in node.names)
            return
        case ast.ImportFrom():
            binds.update((alias.asname or alias.name, None) for alias in node.names)
            return
        case ast.Assign(targets=targets):
            for target in targets:
                _bind_target(target, binds)
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            _bind_target(target, binds)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            _bind_target(target, binds)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    _bind_target(item.optional_vars, binds)
        case ast.Match(cases=cases):
            for case in cases:
                _bind_pattern(case.pattern, binds)
        case _ if type(node).__name__ == "TypeAlias":  # Python 3.12
            _bind_target(node.name, binds)  # type: ignore[attr-defined]
    if may_hold_walrus:
        _bind_walrus(node, binds)
    for child in _nested_statements(node):
        _bind_statement(child, binds, False)


def _nested_statements(node: ast.stmt) -> Iterator[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(node, field, ())
    for branch in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from branch.body


def _bind_target(target: ast.expr, binds: dict[str, None]) -> None:
    match target:
        case ast.Name(id=name):
            binds[name] = None
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                _bind_target(item, binds)
        case ast.Starred(value=value):
            _bind_target(value, binds)


def _bind_pattern(pattern: ast.pattern, binds: dict[str, None]) -> None:
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            binds[node.name] = None
        elif isinstance(node, ast.MatchMapping) and node.rest:
            binds[node.rest] = None


def _bind_walrus(node: ast.AST, binds: dict[str, None]) -> None:
    if isinstance(node, ast.NamedExpr):
        _bind_target(node.target, binds)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            _bind_walrus(child, binds)


# --- syntax that is newer than the running Python -------------------------------------------------------------------

# ``ast`` says these of code that libcst would follow until the C stack ends.
_DEPTH_ERRORS = ("too many nested parentheses", "too many levels of indentation", "too many statically nested blocks")
_OPERATOR_RUN = re.compile(r"(?:[-+~]\s*|\b(?:not|await)\s+|\blambda\b[^:\n]*:\s*|\*\*\s*\w+\s*){150,}")
_MAX_DEPTH = 100


def _index_newer_syntax(text: str, rows: list[str], package: str, error: SyntaxError) -> ModuleIndex:
    """The index by way of libcst, or :class:`Unparsable` with what ``ast`` said when libcst cannot parse it either."""
    unparsable = Unparsable(max(1, error.lineno or 1), max(1, error.offset or 1), error.msg or "invalid syntax")
    if error.msg and error.msg.startswith(_DEPTH_ERRORS):
        unparsable.message = _TOO_DEEP
        raise unparsable from None
    if _is_deep(rows):
        raise unparsable from None

    import libcst as cst

    try:
        module = cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError, MemoryError, ValueError):
        raise unparsable from None
    from jitlint.project.newer_syntax import index_module

    index = index_module(module, rows, package, bool(_JAX_WORDS.search(text)))
    return replace(index, requests=index.requests.union(_import_calls(text)))


def _is_deep(rows: Iterable[str]) -> bool:
    """Whether brackets, blocks or operators may nest too deeply for a recursive parser (brackets in strings count)."""
    depth = deepest = 0
    for row in rows:
        indent = len(row) - len(row.lstrip())
        if indent > 8 * _MAX_DEPTH or _OPERATOR_RUN.search(row):
            return True
        for character in row:
            if character in "([{":
                depth += 1
                deepest = max(deepest, depth)
            elif character in ")]}":
                depth = max(0, depth - 1)
    return deepest > 2 * _MAX_DEPTH
