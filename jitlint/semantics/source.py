"""libcst trees of single top-level statements, made on demand, and positions in them, made where asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ParamSpec, TypeVar, cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from jitlint.findings import Span
from jitlint.project.model import Module, TopStatement
from jitlint.semantics import bare
from jitlint.semantics.places import Places


class Unit:
    """One top-level statement of a module: its text, and its libcst tree once somebody needs it."""

    def __init__(self, module: Module, statement: TopStatement) -> None:
        self.module = module
        self.statement = statement

    def moved(self, module: Module, statement: TopStatement) -> Unit:
        """The unit of a statement of the same text, perhaps on other rows: it shares the tree and what hangs on it."""
        unit = Unit(module, statement)
        vars(unit).update({name: value for name, value in vars(self).items() if name not in vars(unit)})
        return unit

    @cached_property
    def node(self) -> cst.SimpleStatementLine | cst.BaseCompoundStatement | None:
        """The statement, or None where libcst refuses it. It may be :mod:`bare` until :meth:`complete`."""
        return bare.parse(self.statement.text) or (self._parsed.body[0] if self._parsed and self._parsed.body else None)

    @cached_property
    def _parsed(self) -> cst.Module | None:
        try:
            return cst.parse_module(self.statement.text)
        except (cst.ParserSyntaxError, RecursionError, UnicodeDecodeError):
            return None

    def complete(self) -> bool:
        """Give the tree its whitespace, for who writes code; False where libcst cannot."""
        return self._whole is not None

    @cached_property
    def _whole(self) -> cst.Module | None:
        """The statement as a module of its own, which knows how deep it is indented and how its lines end."""
        if self._parsed is None or self.node is None or self._parsed.body[0] is self.node:
            return self._parsed
        try:
            bare.complete(self.node, self._parsed.body[0])
        except bare.Mismatch:
            return None
        return self._parsed.with_changes(body=[self.node])

    @cached_property
    def _places(self) -> Places:
        return Places(self.statement.text, self.node)

    @cached_property
    def _positions(self) -> Mapping[cst.CSTNode, CodeRange]:
        """The places of all nodes, of which libcst writes the whole statement: for those that ``ast`` does not know."""
        if self._whole is None:
            return {}
        return MetadataWrapper(self._whole, unsafe_skip_copy=True).resolve(PositionProvider)

    @cached_property
    def parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        """The node around each node of the statement."""
        found: dict[cst.CSTNode, cst.CSTNode] = {}
        waiting: list[cst.CSTNode] = [] if self.node is None else [self.node]
        while waiting:
            node = waiting.pop()
            below = bare.children(node)
            found.update(dict.fromkeys(below, node))
            waiting += below
        return found

    def around(self, node: cst.CSTNode, root: cst.CSTNode | None = None) -> list[cst.CSTNode]:
        """The nodes that hold ``node``, the outermost one, or ``root``, first; empty when it is not in there."""
        found: list[cst.CSTNode] = []
        above = self.parents.get(node)
        while above is not None:
            found.append(above)
            if above is root:
                break
            above = self.parents.get(above)
        return found[::-1] if root is None or above is root else []

    @cached_property
    def targets(self) -> frozenset[cst.CSTNode]:
        """The names that assignments, loops and ``with`` bind in it."""
        found: set[cst.CSTNode] = set()

        def note(target: cst.BaseExpression) -> None:
            if isinstance(target, cst.Name):
                found.add(target)
            elif isinstance(target, cst.Tuple | cst.List):
                for element in target.elements:
                    note(element.value)

        for node in () if self.node is None else bare.nodes(self.node):
            if isinstance(node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.For | cst.NamedExpr):
                note(node.target)
        return frozenset(found)

    def span(self, node: cst.CSTNode) -> Span:
        """Where ``node`` stands in the module's text; the whole statement for a node that is not in the tree."""
        above = self.statement.first_row - 1
        found = self._places.span(node)
        if found is not None:
            return Span(found.row + above, found.column, found.end_row + above, found.end_column)
        known = self._positions.get(node)
        if known is None:
            return Span(above + 1, 1, self.statement.last_row, 1)
        start, end = known.start, known.end
        return Span(start.line + above, start.column + 1, end.line + above, end.column + 1)

    def code(self, node: cst.CSTNode) -> str:
        """The source text of ``node``, with its parentheses."""
        known = bare.path(node) or self._places.code(node, self.around)
        return known or (self._whole or cst.Module(body=[])).code_for_node(node)


@dataclass(frozen=True, slots=True)
class Scope:
    """What the compiler knows of a function body."""

    locals: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]
    generator: bool


_P = ParamSpec("_P")
_R = TypeVar("_R")
_remembered: list[Callable[[], None]] = []


def remembered(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function of nodes that works out each answer once, until :func:`forget_trees`."""
    known = lru_cache(maxsize=None)(function)
    _remembered.append(known.cache_clear)
    return cast("Callable[_P, _R]", known)


def forget_trees() -> None:
    """Let go of what is :func:`remembered`, and of the trees with it: for a process that outlives its programs."""
    for forget in _remembered:
        forget()


_NONE: frozenset[str] = frozenset()


@remembered
def bound_in_loop(node: cst.For | cst.While) -> frozenset[str]:
    """The names that the statements of a loop's body bind."""
    collector = _Binder()
    _bind_block(node.body, collector)
    return frozenset(collector.names)


@remembered
def scope_of(node: cst.FunctionDef | cst.Lambda, text: str) -> Scope:
    """The names that a function binds, and whether it is a generator. ``text`` is source that holds the function."""
    collector = _Binder()
    for p in all_params(node.params):
        collector.names.add(p.name.value)
    if _binds_in_expressions(text):
        bare.walk(node.body, collector)
    elif isinstance(node, cst.FunctionDef):
        _bind_block(node.body, collector)
    return Scope(
        frozenset(collector.names - collector.globals - collector.nonlocals),
        frozenset(collector.globals) if collector.globals else _NONE,
        frozenset(collector.nonlocals) if collector.nonlocals else _NONE,
        collector.generator,
    )


@remembered
def constant_parameters(node: cst.FunctionDef | cst.Lambda, text: str) -> frozenset[str]:
    """The parameters of a function that nothing in it binds again. ``text`` is source that holds the function."""
    collector = _Binder()
    if _binds_in_expressions(text):
        bare.walk(node.body, collector)
    elif isinstance(node, cst.FunctionDef):
        _bind_block(node.body, collector)
    inner = descendants(node.body, cst.Nonlocal) if "nonlocal" in text else ()
    later = {name.name.value for statement in inner for name in statement.names}
    return frozenset(p.name.value for p in all_params(node.params)) - collector.names - later


@lru_cache(maxsize=256)
def _binds_in_expressions(text: str) -> bool:
    """May something other than a simple statement bind a name or make a generator: a walrus, a pattern, a ``yield``?"""
    return any(word in text for word in _BINDING_WORDS) and _BINDING.search(text) is not None


_BINDING_WORDS = (":=", "yield", "match")
_BINDING = re.compile(r":=|\byield\b|^\s*match\b.*:\s*(#.*)?$", re.MULTILINE)


def _bind_block(suite: cst.BaseSuite | cst.Else | cst.Finally, out: _Binder) -> None:
    """Collect names from statements only: enough where no expression binds a name or yields."""
    for s in suite.body:  # type: ignore[union-attr]
        if isinstance(s, cst.SimpleStatementLine | cst.SimpleStatementSuite):
            for small in s.body:
                _bind_small(small, out)
        elif isinstance(s, cst.FunctionDef | cst.ClassDef):
            out.names.add(s.name.value)
        elif isinstance(s, cst.BaseCompoundStatement):
            _bind_compound(s, out)
        else:
            _bind_small(s, out)


def _bind_compound(s: cst.BaseCompoundStatement | cst.If, out: _Binder) -> None:
    if isinstance(s, cst.Match):
        bare.walk(s, out)  # its patterns bind names too
        return
    if isinstance(s, cst.For):
        out._target(s.target)
    if isinstance(s, cst.With):
        for item in s.items:
            if item.asname is not None:
                out._target(item.asname.name)
    _bind_block(s.body, out)
    if isinstance(s, cst.Try | cst.TryStar):
        for handler in s.handlers:
            if handler.name is not None:
                out._target(handler.name.name)
            _bind_block(handler.body, out)
        if s.finalbody is not None:
            _bind_block(s.finalbody.body, out)
    orelse = getattr(s, "orelse", None)
    if isinstance(orelse, cst.If):
        _bind_compound(orelse, out)
    elif orelse is not None:
        _bind_block(orelse.body, out)


def _bind_small(s: cst.CSTNode, out: _Binder) -> None:
    if type(s) in _BIND_NOTHING:
        return
    match s:
        case cst.Assign():
            for t in s.targets:
                out._target(t.target)
        case cst.AnnAssign() | cst.AugAssign():
            out._target(s.target)
        case cst.Import():
            out.visit_Import(s)
        case cst.ImportFrom():
            out.visit_ImportFrom(s)
        case cst.Global():
            out.visit_Global(s)
        case cst.Nonlocal():
            out.visit_Nonlocal(s)
        case cst.Del():
            out.visit_Del(s)


_BIND_NOTHING = frozenset({cst.Expr, cst.Return, cst.Raise, cst.Assert, cst.Pass, cst.Break, cst.Continue})


def all_params(params: cst.Parameters) -> list[cst.Param]:
    """Every parameter, in order, starred ones included."""
    out = [*params.posonly_params, *params.params]
    if isinstance(params.star_arg, cst.Param):
        out.append(params.star_arg)
    out.extend(params.kwonly_params)
    if params.star_kwarg is not None:
        out.append(params.star_kwarg)
    return out


class _Binder:
    """Collects names bound in one function body, not in the functions and classes inside it."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.generator = False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        self.names.add(node.name.value)
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self.names.add(node.name.value)
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> bool:
        return False

    def visit_Global(self, node: cst.Global) -> bool:
        self.globals.update(n.name.value for n in node.names)
        return False

    def visit_Nonlocal(self, node: cst.Nonlocal) -> bool:
        self.nonlocals.update(n.name.value for n in node.names)
        return False

    def visit_Yield(self, node: cst.Yield) -> None:
        self.generator = True

    def _target(self, node: cst.BaseExpression) -> None:
        if isinstance(node, cst.Name):
            self.names.add(node.value)
        elif isinstance(node, cst.Tuple | cst.List):
            for e in node.elements:
                self._target(e.value)
        elif isinstance(node, cst.StarredElement):
            self._target(node.value)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._target(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._target(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._target(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._target(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._target(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._target(node.name)

    def visit_Import(self, node: cst.Import) -> bool:
        for a in node.names:
            if a.asname is None:
                name = a.name
                while isinstance(name, cst.Attribute):
                    name = name.value  # type: ignore[assignment]
                self._target(name)
            else:
                self._target(a.asname.name)
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        if not isinstance(node.names, cst.ImportStar):
            for a in node.names:
                self._target(a.asname.name if a.asname is not None else a.name)
        return False

    def visit_MatchAs(self, node: cst.MatchAs) -> None:
        if node.name is not None:
            self._target(node.name)

    def visit_MatchStar(self, node: cst.MatchStar) -> None:
        if node.name is not None:
            self._target(node.name)

    def visit_MatchMapping(self, node: cst.MatchMapping) -> None:
        if node.rest is not None:
            self._target(node.rest)

    def visit_Del(self, node: cst.Del) -> None:
        self._target(node.target)


_Node = TypeVar("_Node", bound=cst.CSTNode)


@remembered
def descendants(root: cst.CSTNode, kind: type[_Node]) -> tuple[_Node, ...]:
    """The nodes of one class in ``root``, itself included, in the order of the text. (``libcst.matchers`` can do this and
    more, and takes longer to import than all of libcst.)"""
    return tuple([node for node in bare.nodes(root) if type(node) is kind])


def fills_once(unit: Unit, root: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Does ``node`` stand, below ``root``, under a test that something is missing (``x is None``, ``not x``, ``k not in
    d``) that is assigned there?"""
    return bool(filling(unit, root, node))


def filling(unit: Unit, root: cst.CSTNode, node: cst.CSTNode) -> list[cst.If]:
    """The tests around ``node``, below ``root``, that something is missing (``x is None``, ``not x``, ``k not in d``)
    that is assigned under the test."""
    found = []
    for around in unit.around(node, root):
        if isinstance(around, cst.If):
            missing, key = _missing(around.test)
            if missing is not None and any(_is_slot(target, missing, key) for target in _assigned(around.body)):
                found.append(around)
    return found


def _missing(test: cst.BaseExpression) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """``x`` of ``not x`` and ``x is None``; ``d`` and ``k`` of ``k not in d``."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=missing):
            return missing, None
        case cst.Comparison(
            left=missing, comparisons=[cst.ComparisonTarget(operator=cst.Is(), comparator=cst.Name(value="None"))]
        ):
            return missing, None
        case cst.Comparison(left=key, comparisons=[cst.ComparisonTarget(operator=cst.NotIn(), comparator=holder)]):
            return holder, key
    return None, None


def _is_slot(target: cst.BaseExpression, missing: cst.BaseExpression, key: cst.BaseExpression | None) -> bool:
    """Is it what was missing: the variable, or the item under that key?"""
    if key is None:
        return bare.same(target, missing)
    match target:
        case cst.Subscript(value=holder, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return bare.same(holder, missing) and bare.same(index, key)
    return False


def unsets(function: cst.CSTNode, apart: cst.CSTNode) -> bool:
    """Does a function set an attribute to None or False, or delete one, in a statement other than ``apart``?"""
    assigned = (
        target.target
        for assign in descendants(function, cst.Assign)
        if assign is not apart and isinstance(assign.value, cst.Name) and assign.value.value in ("None", "False")
        for target in assign.targets
    )
    deleted = (statement.target for statement in descendants(function, cst.Del))
    return any(isinstance(target, cst.Attribute) for target in (*assigned, *deleted))


def _assigned(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What the assignments in a block bind."""
    if isinstance(node, cst.Assign):
        yield from (target.target for target in node.targets)
    for child in bare.children(node):
        yield from _assigned(child)
