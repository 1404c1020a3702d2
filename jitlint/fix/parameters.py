"""A variable that a jitted function reads, as a parameter of that function, passed at every call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import libcst as cst
from libcst import matchers
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider, ScopeProvider
from libcst.metadata.scope_provider import ClassScope, Scope

from jitlint.findings import Edit, Span

_DECIDED_BY: Mapping[type[cst.CSTNode], str] = {
    cst.If: "test",
    cst.While: "test",
    cst.IfExp: "test",
    cst.Assert: "test",
    cst.For: "iter",
    cst.CompFor: "iter",
    cst.CompIf: "test",
    cst.Subscript: "slice",
    cst.BooleanOperation: "left",
}
"""Where the value decides something while tracing."""
_PYTHON_CALLS = frozenset({"range", "int", "float", "bool", "len", "round", "str", "print", "isinstance", "min", "max"})
_HOST_MODULES = frozenset({"math", "np", "numpy", "itertools"})


def as_parameter(source: str, filename: str, read: Span, function: Span, site: Span) -> tuple[Edit, ...] | None:
    """The edits that give a function a parameter for a variable it reads, and pass the variable at every call.

    ``read`` is where the name is read, ``function`` the name of the function in its ``def``, ``site`` the decorator or
    the call that jits it. None where not every use of the function is a call in this file that sees the same variable,
    where the value decides something while tracing (a traced one could not), or where the signature has no place left.
    """
    try:
        change = _Change(source, filename)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    return change.edits(read, function, site)


class _Change:
    def __init__(self, source: str, filename: str) -> None:
        wrapper = MetadataWrapper(cst.parse_module(source))
        self.filename = filename
        self.rows = source.splitlines()
        self.positions: Mapping[cst.CSTNode, Any] = wrapper.resolve(PositionProvider)
        self.parents: Mapping[cst.CSTNode, cst.CSTNode] = wrapper.resolve(ParentNodeProvider)
        self.scopes: Mapping[cst.CSTNode, Scope | None] = wrapper.resolve(ScopeProvider)

    def edits(self, read: Span, function: Span, site: Span) -> tuple[Edit, ...] | None:
        name = self._at(read, cst.Name)
        target = next((f for f in self._around(name) if isinstance(f, cst.FunctionDef)), None)
        if not isinstance(name, cst.Name) or target is None or self._span(target.name) != function:
            return None
        scope = self.scopes.get(target)
        if len(target.decorators) > 1 or scope is None or isinstance(scope, ClassScope):
            return None
        variable = set(scope[name.value])
        calls = self._calls(scope, target, site)
        parameter = self._parameter(target.params, name.value)
        if not variable or calls is None or parameter is None or self._decides(target, name.value):
            return None
        out = [parameter]
        for call in calls:
            here = self.scopes.get(call)
            argument = self._argument(call, name.value)
            if argument is None or here is None or set(here[name.value]) != variable:
                return None
            out.append(argument)
        return tuple(out)

    def _calls(self, scope: Scope, target: cst.FunctionDef, site: Span) -> list[cst.Call] | None:
        """Every call of the function, and of what jitting it gave; None where it is used in another way, too."""
        uses = self._uses(scope, target.name.value)
        if uses is None:
            return None
        out: list[cst.Call] = []
        for use in uses:
            parent = self.parents.get(use)
            if isinstance(parent, cst.Call) and parent.func is use:
                out.append(parent)
                continue
            jit = self.parents.get(parent) if isinstance(parent, cst.Arg) else None
            if target.decorators or not isinstance(jit, cst.Call) or self._span(jit) != site:
                return None
            jitted = self._calls_of_jitted(jit) if parent is jit.args[0] else None
            if jitted is None:
                return None
            out.extend(jitted)
        return out

    def _calls_of_jitted(self, jit: cst.Call) -> list[cst.Call] | None:
        around = self.parents.get(jit)
        if isinstance(around, cst.Call) and around.func is jit:
            return [around]
        scope = self.scopes.get(jit)
        if scope is None or not isinstance(around, cst.Assign) or len(around.targets) != 1:
            return None
        name = around.targets[0].target
        uses = self._uses(scope, name.value) if isinstance(name, cst.Name) else None
        parents = [(use, self.parents.get(use)) for use in uses or ()]
        calls = [call for use, call in parents if isinstance(call, cst.Call) and call.func is use]
        return calls if uses is not None and len(calls) == len(uses) else None

    def _uses(self, scope: Scope, name: str) -> list[cst.CSTNode] | None:
        """Where a name is read; None where it is bound more than once."""
        bound = list(scope[name])
        return [access.node for access in bound[0].references] if len(bound) == 1 else None

    def _decides(self, target: cst.FunctionDef, name: str) -> bool:
        return any(self._needs_value(use, target) for use in matchers.findall(target.body, matchers.Name(name)))

    def _needs_value(self, use: cst.CSTNode, target: cst.FunctionDef) -> bool:
        below, node = use, self.parents.get(use)
        while node is not None and node is not target:
            part = _DECIDED_BY.get(type(node))
            if part is not None and self._is_in(getattr(node, part), below):
                return True
            negated = isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)
            if negated or isinstance(node, cst.FormattedString):
                return True
            if isinstance(node, cst.Call) and below is not node.func and _is_python(node.func):
                return True
            below, node = node, self.parents.get(node)
        return False

    def _is_in(self, part: Any, node: cst.CSTNode) -> bool:
        return any(each is node for each in part) if isinstance(part, list | tuple) else part is node

    def _parameter(self, params: cst.Parameters, name: str) -> Edit | None:
        everything = [*params.posonly_params, *params.params, *params.kwonly_params]
        if any(p.name.value == name for p in everything):
            return None
        if isinstance(params.star_arg, cst.Param) and not params.kwonly_params:
            return self._insert_after(params.star_arg, f", {name}")
        if not everything:
            start = self.positions[params].start
            return None if params.star_kwarg is not None else self._insert(start.line, start.column, name)
        if not params.params and not params.kwonly_params:
            return None
        marker = ", *" if any(p.default is not None for p in everything) and not params.kwonly_params else ""
        return self._insert_after(everything[-1], f"{marker}, {name}")

    def _insert_after(self, param: cst.Param, text: str) -> Edit | None:
        annotation = param.annotation.annotation if param.annotation is not None else None
        last: cst.BaseExpression = param.default or annotation or param.name
        end = self.positions[last].end
        return None if last.rpar else self._insert(end.line, end.column, text)

    def _argument(self, call: cst.Call, name: str) -> Edit | None:
        if any(a.keyword is not None and a.keyword.value == name for a in call.args):
            return None
        if len(call.args) == 1 and isinstance(call.args[0].value, cst.GeneratorExp):
            return None
        if not call.args:
            end = self.positions[call].end
            return self._insert(end.line, end.column - 1, f"{name}={name}")
        place = self.positions[call.args[-1]]
        before = self.rows[place.start.line - 1][: place.start.column]
        apart = "" if before.strip() else f"\n{before}"  # one argument a line
        return self._insert(place.end.line, place.end.column, f",{apart or ' '}{name}={name}")

    def _insert(self, row: int, column: int, text: str) -> Edit:
        return Edit(self.filename, Span(row, column + 1, row, column + 1), text)

    def _at(self, span: Span, kind: type[cst.CSTNode]) -> cst.CSTNode | None:
        return next((n for n in self.positions if isinstance(n, kind) and self._span(n) == span), None)

    def _span(self, node: cst.CSTNode) -> Span:
        place = self.positions[node]
        return Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)

    def _around(self, node: cst.CSTNode | None) -> Iterator[cst.CSTNode]:
        while node is not None:
            node = self.parents.get(node)
            if node is not None:
                yield node


def _is_python(func: cst.BaseExpression) -> bool:
    """Is it a function of Python's or numpy's, which would want the value?"""
    if isinstance(func, cst.Name):
        return func.value in _PYTHON_CALLS
    return isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name) and func.value.value in _HOST_MODULES
