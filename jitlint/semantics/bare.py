"""libcst trees without their whitespace: what the interpreter needs, at a tenth of the price.

Half of the time that libcst takes goes into whitespace, commas and parentheses, which only repairs look at.
:func:`parse` builds libcst nodes from what ``ast`` says, with the fields that mean something and no others; to read any
other is an AttributeError. :func:`complete` fills these in later, in place, from the tree that libcst makes of the same
text, so that who holds a node need not care.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from jitlint import syntax

FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.AnnAssign: ("target", "annotation", "value"),
    cst.Annotation: ("annotation",),
    cst.Arg: ("keyword", "value"),
    cst.AsName: ("name",),
    cst.Assert: ("test", "msg"),
    cst.Assign: ("targets", "value"),
    cst.AssignTarget: ("target",),
    cst.Attribute: ("value", "attr"),
    cst.AugAssign: ("target", "operator", "value"),
    cst.Await: ("expression",),
    cst.BinaryOperation: ("left", "operator", "right"),
    cst.BooleanOperation: ("left", "operator", "right"),
    cst.Break: (),
    cst.Call: ("func", "args"),
    cst.ClassDef: ("decorators", "name", "bases", "keywords", "body"),
    cst.CompFor: ("target", "iter", "ifs", "inner_for_in"),
    cst.CompIf: ("test",),
    cst.Comparison: ("left", "comparisons"),
    cst.ComparisonTarget: ("operator", "comparator"),
    cst.ConcatenatedString: ("left", "right"),
    cst.Continue: (),
    cst.Decorator: ("decorator",),
    cst.Del: ("target",),
    cst.Dict: ("elements",),
    cst.DictComp: ("key", "value", "for_in"),
    cst.DictElement: ("key", "value"),
    cst.Element: ("value",),
    cst.Ellipsis: (),
    cst.Else: ("body",),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.Expr: ("value",),
    cst.Finally: ("body",),
    cst.Float: (),
    cst.For: ("target", "iter", "body", "orelse"),
    cst.FormattedString: ("parts",),
    cst.FormattedStringExpression: ("expression", "format_spec"),
    cst.FormattedStringText: (),
    cst.From: ("item",),
    cst.FunctionDef: ("decorators", "name", "params", "returns", "body"),
    cst.GeneratorExp: ("elt", "for_in"),
    cst.Global: ("names",),
    cst.If: ("test", "body", "orelse"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.Imaginary: (),
    cst.Import: ("names",),
    cst.ImportAlias: ("name", "asname"),
    cst.ImportFrom: ("module", "names"),
    cst.ImportStar: (),
    cst.IndentedBlock: ("body",),
    cst.Index: ("value",),
    cst.Integer: (),
    cst.Lambda: ("params", "body"),
    cst.List: ("elements",),
    cst.ListComp: ("elt", "for_in"),
    cst.Match: ("subject", "cases"),
    cst.MatchAs: ("pattern", "name"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.MatchClass: ("cls", "patterns", "kwds"),
    cst.MatchKeywordElement: ("key", "pattern"),
    cst.MatchList: ("patterns",),
    cst.MatchMapping: ("elements", "rest"),
    cst.MatchMappingElement: ("key", "pattern"),
    cst.MatchOr: ("patterns",),
    cst.MatchOrElement: ("pattern",),
    cst.MatchSequenceElement: ("value",),
    cst.MatchSingleton: ("value",),
    cst.MatchStar: ("name",),
    cst.MatchTuple: ("patterns",),
    cst.MatchValue: ("value",),
    cst.Name: (),
    cst.NameItem: ("name",),
    cst.NamedExpr: ("target", "value"),
    cst.Nonlocal: ("names",),
    cst.Param: ("name", "annotation", "default"),
    cst.ParamStar: (),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.Pass: (),
    cst.Raise: ("exc", "cause"),
    cst.Return: ("value",),
    cst.Set: ("elements",),
    cst.SetComp: ("elt", "for_in"),
    cst.SimpleStatementLine: ("body",),
    cst.SimpleStatementSuite: ("body",),
    cst.SimpleString: (),
    cst.Slice: ("lower", "upper", "step"),
    cst.StarredDictElement: ("value",),
    cst.StarredElement: ("value",),
    cst.Subscript: ("value", "slice"),
    cst.SubscriptElement: ("slice",),
    cst.Try: ("body", "handlers", "orelse", "finalbody"),
    cst.TryStar: ("body", "handlers", "orelse", "finalbody"),
    cst.Tuple: ("elements",),
    cst.UnaryOperation: ("operator", "expression"),
    cst.While: ("test", "body", "orelse"),
    cst.With: ("items", "body"),
    cst.WithItem: ("item", "asname"),
    cst.Yield: ("value",),
}
"""The fields of a node that hold nodes which mean something, in the order of the text."""

_node_type = cst.CSTNode


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below ``node`` that mean something, in the order of the text."""
    names = FIELDS.get(type(node))
    if names is None:  # patterns and their parts, which are never bare
        return list(node.children)
    found: list[cst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        if value.__class__ in _SEQUENCES:
            found += value
        elif value is not None and value is not _DEFAULT:
            found.append(value)
    return found


def path(node: cst.CSTNode) -> str:
    """The text of a variable and of attributes after it; empty for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        before = path(node.value)
        return before and f"{before}.{node.attr.value}"
    return ""


def last_name(node: cst.CSTNode) -> str:
    """The name of a variable, or of the attribute that is asked for; empty for any other expression."""
    name = node.attr if type(node) is cst.Attribute else node
    return name.value if type(name) is cst.Name else ""


def root_name(node: cst.CSTNode) -> str:
    """The variable that something is a part of, by attributes and items; empty where it is none."""
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


_QUOTES = frozenset({"'", '"'})


def literal(text: str) -> Any:
    """The value of a string literal. (``ast.literal_eval`` leaves functions behind that refer to each other.)

    Raises :class:`ValueError` for any other expression."""
    if text[:1] in _QUOTES and "\\" not in text and text.find(text[0], 1) == len(text) - 1:
        return text[1:-1]
    match syntax.parse(text).body:
        case [ast.Expr(value=ast.Constant(value=value))]:
            return value
    raise ValueError(text)


_visits: dict[tuple[type, type[cst.CSTNode]], Callable[[object, cst.CSTNode], bool | None] | None] = {}
"""The methods of classes of visitors for classes of nodes."""


def walk(node: cst.CSTNode, visitor: object) -> None:
    """Call ``visitor.visit_Name(node)`` and so on for a node and all below it, in the order of the text; what it says
    False of is not entered."""
    kinds = (type(visitor), type(node))
    if kinds not in _visits:
        _visits[kinds] = getattr(kinds[0], f"visit_{kinds[1].__name__}", None)
    visit = _visits[kinds]
    if visit is None or visit(visitor, node) is not False:
        for child in children(node):
            walk(child, visitor)


def same(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Do two nodes mean the same, whatever their whitespace and parentheses?"""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) not in FIELDS:
        return one.deep_equals(other)
    if isinstance(one, _VALUED) and one.value != other.value:  # type: ignore[attr-defined]
        return False
    below, beside = children(one), children(other)
    return len(below) == len(beside) and all(map(same, below, beside))


_VALUED = (cst.Name, cst.SimpleString, cst.Integer, cst.Float, cst.Imaginary, cst.FormattedStringText)
_SEQUENCES = frozenset({list, tuple})


def parse(text: str) -> cst.SimpleStatementLine | cst.BaseCompoundStatement | None:
    """The bare tree of one top-level statement; None where libcst must be asked: for type parameters, statements
    whose line only a backslash continues, and what the running Python cannot parse."""
    if ("\\\n" in text or "\\\r" in text) and _NEW_ROW.search(text) is not None:
        return None
    try:
        statements = _Builder(text).block(syntax.parse(text).body)
    except (_Unusual, *syntax.UNREADABLE):
        return None
    return statements[0] if len(statements) == 1 else None


class Mismatch(Exception):  # noqa: N818 - it is named for what there is
    """A bare tree and the one of libcst are not of the same text."""


def complete(bare: cst.CSTNode, full: cst.CSTNode) -> None:
    """Give a bare tree everything that ``full``, which libcst made of the same text, has besides; its own nodes stay.

    Raises :class:`Mismatch`.
    """
    waiting = [(bare, full)]
    while waiting:
        mine, other = waiting.pop()
        kind = type(other)
        if type(mine) is not kind:
            raise Mismatch(f"{type(mine).__name__} for {kind.__name__}")
        own = FIELDS.get(kind, ())
        for name, put in _setters(kind):
            theirs = getattr(other, name)
            if name not in own:
                put(mine, theirs)
                continue
            held = getattr(mine, name)
            if isinstance(held, _node_type):
                waiting.append((held, theirs))
            elif held.__class__ in _SEQUENCES:
                if theirs.__class__ not in _SEQUENCES or len(held) != len(theirs):
                    raise Mismatch(f"{kind.__name__}.{name}")
                waiting += zip(held, theirs, strict=True)
            elif held is not theirs and isinstance(theirs, _node_type):
                raise Mismatch(f"{kind.__name__}.{name}")
            else:
                put(mine, theirs)


_Put = Callable[[object, object], None]
_known_setters: dict[type[cst.CSTNode], list[tuple[str, _Put]]] = {}


def _setters(kind: type[cst.CSTNode]) -> list[tuple[str, _Put]]:
    """The fields of a class, each with what sets it: libcst's nodes are frozen, but their slots are not."""
    found = _known_setters.get(kind)
    if found is None:
        names = [name for name in kind.__dataclass_fields__ if name != "__slots__"]
        found = _known_setters[kind] = [(name, getattr(kind, name).__set__) for name in names]
    return found


class _Unusual(Exception):  # noqa: N818
    """Something that is not worth to be read here."""


_Make = Callable[..., Any]


def _maker(kind: type[cst.CSTNode], *names: str) -> _Make:
    """What makes a node of a class from the values of some of its fields."""
    setters = dict(_setters(kind))
    parameters = ", ".join(names)
    lines = [f"def make({parameters}):", "    node = new(kind)"]
    lines += [f"    set_{name}(node, {name})" for name in names]
    lines.append("    return node")
    space: dict[str, Any] = {"new": object.__new__, "kind": kind, **{f"set_{name}": setters[name] for name in names}}
    exec("\n".join(lines), space)  # as dataclasses are made; a loop over the fields takes three times as long
    made: _Make = space["make"]
    return made


_name = _maker(cst.Name, "value")
_attribute = _maker(cst.Attribute, "value", "attr")
_call = _maker(cst.Call, "func", "args")
_arg = _maker(cst.Arg, "value", "keyword", "star")
_integer = _maker(cst.Integer, "value")
_float = _maker(cst.Float, "value")
_imaginary = _maker(cst.Imaginary, "value")
_string = _maker(cst.SimpleString, "value")
_tuple = _maker(cst.Tuple, "elements")
_list = _maker(cst.List, "elements")
_set = _maker(cst.Set, "elements")
_dict = _maker(cst.Dict, "elements")
_element = _maker(cst.Element, "value")
_starred_element = _maker(cst.StarredElement, "value")
_dict_element = _maker(cst.DictElement, "key", "value")
_starred_dict_element = _maker(cst.StarredDictElement, "value")
_unary = _maker(cst.UnaryOperation, "operator", "expression")
_binary = _maker(cst.BinaryOperation, "left", "operator", "right")
_boolean = _maker(cst.BooleanOperation, "left", "operator", "right")
_comparison = _maker(cst.Comparison, "left", "comparisons")
_comparison_target = _maker(cst.ComparisonTarget, "operator", "comparator")
_if_exp = _maker(cst.IfExp, "test", "body", "orelse")
_lambda = _maker(cst.Lambda, "params", "body")
_parameters = _maker(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params")
_param = _maker(cst.Param, "name", "annotation", "default")
_annotation = _maker(cst.Annotation, "annotation")
_subscript = _maker(cst.Subscript, "value", "slice")
_subscript_element = _maker(cst.SubscriptElement, "slice", "comma")
_index = _maker(cst.Index, "value", "star")
_slice = _maker(cst.Slice, "lower", "upper", "step")
_await = _maker(cst.Await, "expression")
_yield = _maker(cst.Yield, "value")
_from = _maker(cst.From, "item")
_named = _maker(cst.NamedExpr, "target", "value")
_comp_for = _maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
_comp_if = _maker(cst.CompIf, "test")
_dict_comp = _maker(cst.DictComp, "key", "value", "for_in")
_line = _maker(cst.SimpleStatementLine, "body")
_suite = _maker(cst.SimpleStatementSuite, "body")
_block = _maker(cst.IndentedBlock, "body")
_expr = _maker(cst.Expr, "value")
_assign = _maker(cst.Assign, "targets", "value")
_assign_target = _maker(cst.AssignTarget, "target")
_ann_assign = _maker(cst.AnnAssign, "target", "annotation", "value")
_aug_assign = _maker(cst.AugAssign, "target", "operator", "value")
_return = _maker(cst.Return, "value")
_raise = _maker(cst.Raise, "exc", "cause")
_assert = _maker(cst.Assert, "test", "msg")
_del = _maker(cst.Del, "target")
_global = _maker(cst.Global, "names")
_nonlocal = _maker(cst.Nonlocal, "names")
_name_item = _maker(cst.NameItem, "name")
_import = _maker(cst.Import, "names")
_import_from = _maker(cst.ImportFrom, "module", "names", "relative")
_import_alias = _maker(cst.ImportAlias, "name", "asname")
_as_name = _maker(cst.AsName, "name")
_if = _maker(cst.If, "test", "body", "orelse")
_else = _maker(cst.Else, "body")
_finally = _maker(cst.Finally, "body")
_for = _maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
_while = _maker(cst.While, "test", "body", "orelse")
_with = _maker(cst.With, "items", "body", "asynchronous")
_with_item = _maker(cst.WithItem, "item", "asname")
_decorator = _maker(cst.Decorator, "decorator")
_function = _maker(
    cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous", "type_parameters"
)
_class = _maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators", "type_parameters")

_match = _maker(cst.Match, "subject", "cases")
_match_case = _maker(cst.MatchCase, "pattern", "body", "guard")
_match_as = _maker(cst.MatchAs, "pattern", "name")
_match_class = _maker(cst.MatchClass, "cls", "patterns", "kwds")
_match_keyword = _maker(cst.MatchKeywordElement, "key", "pattern")
_match_list = _maker(cst.MatchList, "patterns")
_match_mapping = _maker(cst.MatchMapping, "elements", "rest")
_match_item = _maker(cst.MatchMappingElement, "key", "pattern")
_match_or = _maker(cst.MatchOr, "patterns")
_match_alternative = _maker(cst.MatchOrElement, "pattern")
_match_element = _maker(cst.MatchSequenceElement, "value")
_match_singleton = _maker(cst.MatchSingleton, "value")
_match_star = _maker(cst.MatchStar, "name")
_match_tuple = _maker(cst.MatchTuple, "patterns")
_match_value = _maker(cst.MatchValue, "value")

_CLASSES_OF_OPERATORS: dict[type[ast.AST], type[cst.CSTNode]] = {
    ast.Add: cst.Add,
    ast.Sub: cst.Subtract,
    ast.Mult: cst.Multiply,
    ast.MatMult: cst.MatrixMultiply,
    ast.Div: cst.Divide,
    ast.FloorDiv: cst.FloorDivide,
    ast.Mod: cst.Modulo,
    ast.Pow: cst.Power,
    ast.LShift: cst.LeftShift,
    ast.RShift: cst.RightShift,
    ast.BitOr: cst.BitOr,
    ast.BitXor: cst.BitXor,
    ast.BitAnd: cst.BitAnd,
    ast.Not: cst.Not,
    ast.USub: cst.Minus,
    ast.UAdd: cst.Plus,
    ast.Invert: cst.BitInvert,
    ast.And: cst.And,
    ast.Or: cst.Or,
    ast.Eq: cst.Equal,
    ast.NotEq: cst.NotEqual,
    ast.Lt: cst.LessThan,
    ast.LtE: cst.LessThanEqual,
    ast.Gt: cst.GreaterThan,
    ast.GtE: cst.GreaterThanEqual,
    ast.Is: cst.Is,
    ast.IsNot: cst.IsNot,
    ast.In: cst.In,
    ast.NotIn: cst.NotIn,
}
_AUGMENTED: dict[type[ast.AST], type[cst.CSTNode]] = {
    ast.Add: cst.AddAssign,
    ast.Sub: cst.SubtractAssign,
    ast.Mult: cst.MultiplyAssign,
    ast.MatMult: cst.MatrixMultiplyAssign,
    ast.Div: cst.DivideAssign,
    ast.FloorDiv: cst.FloorDivideAssign,
    ast.Mod: cst.ModuloAssign,
    ast.Pow: cst.PowerAssign,
    ast.LShift: cst.LeftShiftAssign,
    ast.RShift: cst.RightShiftAssign,
    ast.BitOr: cst.BitOrAssign,
    ast.BitXor: cst.BitXorAssign,
    ast.BitAnd: cst.BitAndAssign,
}

FIELDS |= dict.fromkeys((*_CLASSES_OF_OPERATORS.values(), *_AUGMENTED.values()), ())

_NEW_ROW = re.compile(r"[;:][ \t\f]*\\[\r\n]|\\(?:\r\n|\r|\n)[ \t\f]*;")
"""A statement that may begin on another row than the line it is of: which ones share a line is read off their rows."""
_new = object.__new__
_DEFAULT = cst.MaybeSentinel.DEFAULT
_LITERAL = re.compile(
    r"""[rRbBuU]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""",
    re.DOTALL,
)


class _Builder:
    """Builds the statements of one text."""

    def __init__(self, text: str) -> None:
        self._rows = text.split("\n") if "\r" not in text else re.split("\r\n|\r|\n", text)
        self._bytes = None if text.isascii() else [row.encode() for row in self._rows]

    def block(self, statements: Sequence[ast.stmt]) -> list[Any]:
        """The statements of a block, those together that share a row."""
        out: list[Any] = []
        last_row = 0
        for node in statements:
            make = _STATEMENTS.get(type(node))
            if make is None:
                raise _Unusual
            made = make(self, node)
            if type(made) in _COMPOUND:
                out.append(made)
            elif last_row == node.lineno and out:
                out[-1] = _line((*out[-1].body, made))
            else:
                out.append(_line((made,)))
            last_row = node.end_lineno or 0
        return out

    def _suite(self, statements: Sequence[ast.stmt]) -> Any:
        first = statements[0]
        if type(first) not in _COMPOUND_AST and self._before(first).strip():
            return _suite([_STATEMENTS[type(each)](self, each) for each in statements])
        return _block(tuple(self.block(statements)))

    def _before(self, node: ast.stmt) -> str:
        """What stands before a statement on its row."""
        if self._bytes is not None:
            return self._bytes[node.lineno - 1][: node.col_offset].decode()
        return self._rows[node.lineno - 1][: node.col_offset]

    def _segment(self, node: ast.expr | ast.stmt | ast.pattern) -> str:
        """The source of a node."""
        first, last, start, end = node.lineno - 1, (node.end_lineno or 0) - 1, node.col_offset, node.end_col_offset
        if self._bytes is not None:
            if first == last:
                return self._bytes[first][start:end].decode()
            rows = [self._bytes[first][start:], *self._bytes[first + 1 : last], self._bytes[last][:end]]
            return b"\n".join(rows).decode()
        if first == last:
            return self._rows[first][start:end]
        return "\n".join([self._rows[first][start:], *self._rows[first + 1 : last], self._rows[last][:end]])

    # -- statements

    def _expression_statement(self, node: ast.Expr) -> Any:
        return _expr(self.value(node.value))

    def _assignment(self, node: ast.Assign) -> Any:
        return _assign(tuple([_assign_target(self.value(target)) for target in node.targets]), self.value(node.value))

    def _annotated(self, node: ast.AnnAssign) -> Any:
        value = None if node.value is None else self.value(node.value)
        return _ann_assign(self.value(node.target), _annotation(self.value(node.annotation)), value)

    def _augmented(self, node: ast.AugAssign) -> Any:
        return _aug_assign(self.value(node.target), _new(_AUGMENTED[type(node.op)]), self.value(node.value))

    def _returned(self, node: ast.Return) -> Any:
        return _return(None if node.value is None else self.value(node.value))

    def _raised(self, node: ast.Raise) -> Any:
        exc = None if node.exc is None else self.value(node.exc)
        return _raise(exc, None if node.cause is None else _from(self.value(node.cause)))

    def _asserted(self, node: ast.Assert) -> Any:
        return _assert(self.value(node.test), None if node.msg is None else self.value(node.msg))

    def _deleted(self, node: ast.Delete) -> Any:
        if len(node.targets) > 1:
            return _del(_tuple([_element(self.value(target)) for target in node.targets]))
        if self._segment(node).rstrip(" )").endswith(","):
            raise _Unusual
        return _del(self.value(node.targets[0]))

    def _globals(self, node: ast.Global) -> Any:
        return _global([_name_item(_name(name)) for name in node.names])

    def _nonlocals(self, node: ast.Nonlocal) -> Any:
        return _nonlocal([_name_item(_name(name)) for name in node.names])

    def _pass(self, node: ast.Pass) -> Any:
        return _new(cst.Pass)

    def _break(self, node: ast.Break) -> Any:
        return _new(cst.Break)

    def _continue(self, node: ast.Continue) -> Any:
        return _new(cst.Continue)

    def _imported(self, node: ast.Import) -> Any:
        return _import([self._alias(alias) for alias in node.names])

    def _imported_from(self, node: ast.ImportFrom) -> Any:
        starred = [alias.name for alias in node.names] == ["*"]
        names = _new(cst.ImportStar) if starred else [self._alias(alias) for alias in node.names]
        module = None if node.module is None else _dotted(node.module)
        return _import_from(module, names, [_new(cst.Dot) for _ in range(node.level)])

    def _alias(self, alias: ast.alias) -> Any:
        return _import_alias(_dotted(alias.name), None if alias.asname is None else _as_name(_name(alias.asname)))

    def _conditional(self, node: ast.If) -> Any:
        return _if(self.value(node.test), self._suite(node.body), self._otherwise(node, node.orelse))

    def _otherwise(self, node: ast.If, statements: list[ast.stmt]) -> Any:
        if len(statements) == 1 and isinstance(statements[0], ast.If):
            inner = statements[0]
            # ``elif`` is an ``If`` that begins at that word
            if inner.col_offset == node.col_offset and self._segment_begins(inner, "elif"):
                return self._conditional(inner)
        return self._else(statements)

    def _segment_begins(self, node: ast.stmt, word: str) -> bool:
        if self._bytes is not None:
            return self._bytes[node.lineno - 1].startswith(word.encode(), node.col_offset)
        return self._rows[node.lineno - 1].startswith(word, node.col_offset)

    def _else(self, statements: list[ast.stmt]) -> Any:
        return _else(self._suite(statements)) if statements else None

    def _loop(self, node: ast.For | ast.AsyncFor) -> Any:
        asynchronous = _new(cst.Asynchronous) if isinstance(node, ast.AsyncFor) else None
        body, orelse = self._suite(node.body), self._else(node.orelse)
        return _for(self.value(node.target), self.value(node.iter), body, orelse, asynchronous)

    def _while(self, node: ast.While) -> Any:
        return _while(self.value(node.test), self._suite(node.body), self._else(node.orelse))

    def _with(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [
            _with_item(
                self.value(item.context_expr),
                None if item.optional_vars is None else _as_name(self.value(item.optional_vars)),
            )
            for item in node.items
        ]
        asynchronous = _new(cst.Asynchronous) if isinstance(node, ast.AsyncWith) else None
        return _with(items, self._suite(node.body), asynchronous)

    def _tried(self, node: ast.Try) -> Any:
        final = _finally(self._suite(node.finalbody)) if node.finalbody else None
        grouped = type(node) is not ast.Try
        handler = _EXCEPT_STAR if grouped else _EXCEPT
        handlers = [
            handler(
                self._suite(each.body),
                None if each.type is None else self.value(each.type),
                None if each.name is None else _as_name(_name(each.name)),
            )
            for each in node.handlers
        ]
        return (_TRY_STAR if grouped else _TRY)(self._suite(node.body), handlers, self._else(node.orelse), final)

    def _matched(self, node: ast.Match) -> Any:
        cases = [
            _match_case(
                self._pattern(case.pattern),
                self._suite(case.body),
                None if case.guard is None else self.value(case.guard),
            )
            for case in node.cases
        ]
        return _match(self.value(node.subject), cases)

    def _pattern(self, node: ast.pattern) -> Any:
        match node:
            case ast.MatchValue(value=value):
                return _match_value(self.value(value))
            case ast.MatchSingleton(value=value):
                return _match_singleton(_name(str(value)))
            case ast.MatchAs(pattern=inner, name=name):
                return _match_as(None if inner is None else self._pattern(inner), _name(name) if name else None)
            case ast.MatchOr(patterns=patterns):
                return _match_or([_match_alternative(self._pattern(each)) for each in patterns])
            case ast.MatchSequence(patterns=patterns):
                make = _match_tuple if self._is_parenthesised(node) else _match_list
                return make([self._element_pattern(each) for each in patterns])
            case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
                items = [
                    _match_item(self.value(key), self._pattern(each))
                    for key, each in zip(keys, patterns, strict=True)
                ]
                return _match_mapping(items, _name(rest) if rest else None)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=others):
                keywords = [
                    _match_keyword(_name(name), self._pattern(each)) for name, each in zip(names, others, strict=True)
                ]
                return _match_class(
                    self.value(cls), [_match_element(self._pattern(each)) for each in patterns], keywords
                )
        raise _Unusual

    def _element_pattern(self, node: ast.pattern) -> Any:
        if isinstance(node, ast.MatchStar):
            return _match_star(_name(node.name) if node.name else None)
        return _match_element(self._pattern(node))

    def _is_parenthesised(self, node: ast.MatchSequence) -> bool:
        """Is the sequence in parentheses of its own, and not only its first pattern?"""
        text = self._segment(node)
        if not text.startswith("("):
            return False
        if "'" in text or '"' in text or "#" in text:
            raise _Unusual  # they may hold parentheses, too
        depth = 0
        for place, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0:
                return place == len(text) - 1
        return False

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        if getattr(node, "type_params", None):
            raise _Unusual
        return _function(
            _name(node.name),
            self._signature(node.args),
            self._suite(node.body),
            tuple([_decorator(self.value(each)) for each in node.decorator_list]),
            None if node.returns is None else _annotation(self.value(node.returns)),
            _new(cst.Asynchronous) if isinstance(node, ast.AsyncFunctionDef) else None,
            None,
        )

    def _class(self, node: ast.ClassDef) -> Any:
        if getattr(node, "type_params", None):
            raise _Unusual
        bases: list[Any] = []
        keywords: list[Any] = []
        for arg in self._arguments(node.bases, node.keywords):
            (keywords if keywords or arg.keyword is not None or arg.star == "**" else bases).append(arg)
        decorators = tuple([_decorator(self.value(each)) for each in node.decorator_list])
        return _class(_name(node.name), self._suite(node.body), tuple(bases), tuple(keywords), decorators, None)

    def _signature(self, args: ast.arguments) -> Any:
        given = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(given) - len(args.defaults)) + args.defaults
        params = [self._parameter(arg, default) for arg, default in zip(given, defaults, strict=True)]
        only = [self._parameter(arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
        star: Any = _DEFAULT
        if args.vararg is not None:
            star = self._parameter(args.vararg, None)
        elif only:
            star = _new(cst.ParamStar)
        many = len(args.posonlyargs)
        positional, named = tuple(params), tuple(only)
        more = None if args.kwarg is None else self._parameter(args.kwarg, None)
        return _parameters(positional[many:], star, named, more, positional[:many])

    def _parameter(self, arg: ast.arg, default: ast.expr | None) -> Any:
        annotation = None if arg.annotation is None else _annotation(self.value(arg.annotation))
        return _param(_name(arg.arg), annotation, None if default is None else self.value(default))

    # -- expressions

    def value(self, node: ast.expr) -> Any:
        """The node of an expression."""
        kind = type(node)
        if kind is ast.Name:
            return _name(node.id)  # type: ignore[attr-defined]
        if kind is ast.Attribute:
            return _attribute(self.value(node.value), _name(node.attr))  # type: ignore[attr-defined]
        make = _EXPRESSIONS.get(kind)
        if make is None:
            raise _Unusual
        return make(self, node)

    def _called(self, node: ast.Call) -> Any:
        return _call(self.value(node.func), self._arguments(node.args, node.keywords))

    def _arguments(self, args: list[ast.expr], keywords: list[ast.keyword]) -> tuple[Any, ...]:
        out = [
            _arg(self.value(arg.value), None, "*") if type(arg) is ast.Starred else _arg(self.value(arg), None, "")
            for arg in args
        ]
        if not keywords:
            return tuple(out)
        named = [
            _arg(self.value(k.value), None if k.arg is None else _name(k.arg), "**" if k.arg is None else "")
            for k in keywords
        ]
        if args and type(args[-1]) is ast.Starred:
            last, first = args[-1], keywords[0]
            if (first.lineno, first.col_offset) < (last.lineno, last.col_offset):  # f(a=1, *rest)
                nodes: list[ast.expr | ast.keyword] = [*args, *keywords]
                places = [(n.lineno, n.col_offset) for n in nodes]
                ordered = sorted(zip(places, [*out, *named], strict=True), key=lambda pair: pair[0])
                return tuple([arg for _, arg in ordered])
        return (*out, *named)

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        if value is None or value is True or value is False:
            return _name(str(value))
        if value is ...:
            return _new(cst.Ellipsis)
        text = self._segment(node)
        match value:
            case int():
                return _integer(text)
            case float():
                return _float(text)
            case complex():
                return _imaginary(text)
        return _string(text) if _is_one_literal(text) else _by_libcst(text)

    def _formatted(self, node: ast.JoinedStr) -> Any:
        return _by_libcst(self._segment(node))

    def _tuple(self, node: ast.Tuple) -> Any:
        return _tuple(self._elements(node.elts))

    def _list(self, node: ast.List) -> Any:
        return _list(self._elements(node.elts))

    def _set(self, node: ast.Set) -> Any:
        return _set(self._elements(node.elts))

    def _elements(self, nodes: list[ast.expr]) -> tuple[Any, ...]:
        elements = [
            _starred_element(self.value(node.value)) if type(node) is ast.Starred else _element(self.value(node))
            for node in nodes
        ]
        return tuple(elements)

    def _starred(self, node: ast.Starred) -> Any:
        return _starred_element(self.value(node.value))

    def _dict(self, node: ast.Dict) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return _dict(
            [
                _starred_dict_element(self.value(value))
                if key is None
                else _dict_element(self.value(key), self.value(value))
                for key, value in pairs
            ]
        )

    def _unary(self, node: ast.UnaryOp) -> Any:
        return _unary(_new(_CLASSES_OF_OPERATORS[type(node.op)]), self.value(node.operand))

    def _binary(self, node: ast.BinOp) -> Any:
        return _binary(self.value(node.left), _new(_CLASSES_OF_OPERATORS[type(node.op)]), self.value(node.right))

    def _boolean(self, node: ast.BoolOp) -> Any:
        kind = _CLASSES_OF_OPERATORS[type(node.op)]
        left = self.value(node.values[0])
        for right in node.values[1:]:
            left = _boolean(left, _new(kind), self.value(right))
        return left

    def _compared(self, node: ast.Compare) -> Any:
        targets = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            operator = _new(_CLASSES_OF_OPERATORS[type(op)])
            targets.append(_comparison_target(operator, self.value(right)))
        return _comparison(self.value(node.left), tuple(targets))

    def _either(self, node: ast.IfExp) -> Any:
        return _if_exp(self.value(node.test), self.value(node.body), self.value(node.orelse))

    def _lambda(self, node: ast.Lambda) -> Any:
        return _lambda(self._signature(node.args), self.value(node.body))

    def _subscripted(self, node: ast.Subscript) -> Any:
        value, index = self.value(node.value), node.slice
        if type(index) is not ast.Tuple:
            return _subscript(value, (_subscript_element(self._index(index), _DEFAULT),))
        text = self._segment(index)
        if not index.elts or text.startswith("(") and text.endswith(")"):
            return _by_libcst(self._segment(node))  # ``x[(a, b)]`` is one index, ``x[(a), (b)]`` are two
        comma = _new(cst.Comma) if len(index.elts) == 1 else _DEFAULT
        return _subscript(value, tuple([_subscript_element(self._index(each), comma) for each in index.elts]))

    def _index(self, node: ast.expr) -> Any:
        if type(node) is ast.Slice:
            lower = None if node.lower is None else self.value(node.lower)
            upper = None if node.upper is None else self.value(node.upper)
            return _slice(lower, upper, None if node.step is None else self.value(node.step))
        if type(node) is ast.Starred:
            return _index(self.value(node.value), "*")
        return _index(self.value(node), None)

    def _awaited(self, node: ast.Await) -> Any:
        return _await(self.value(node.value))

    def _yielded(self, node: ast.Yield) -> Any:
        return _yield(None if node.value is None else self.value(node.value))

    def _yielded_from(self, node: ast.YieldFrom) -> Any:
        return _yield(_from(self.value(node.value)))

    def _walrus(self, node: ast.NamedExpr) -> Any:
        return _named(self.value(node.target), self.value(node.value))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Any:
        return _COMPREHENSIONS[type(node)](self.value(node.elt), self._for_in(node.generators))

    def _dict_comprehension(self, node: ast.DictComp) -> Any:
        return _dict_comp(self.value(node.key), self.value(node.value), self._for_in(node.generators))

    def _for_in(self, generators: list[ast.comprehension]) -> Any:
        inner = None
        for each in reversed(generators):
            ifs = tuple([_comp_if(self.value(test)) for test in each.ifs])
            asynchronous = _new(cst.Asynchronous) if each.is_async else None
            inner = _comp_for(self.value(each.target), self.value(each.iter), ifs, inner, asynchronous)
        return inner


_EXCEPT = _maker(cst.ExceptHandler, "body", "type", "name")
_EXCEPT_STAR = _maker(cst.ExceptStarHandler, "body", "type", "name")
_TRY = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_TRY_STAR = _maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
_COMPREHENSIONS: dict[type[ast.AST], _Make] = {
    ast.ListComp: _maker(cst.ListComp, "elt", "for_in"),
    ast.SetComp: _maker(cst.SetComp, "elt", "for_in"),
    ast.GeneratorExp: _maker(cst.GeneratorExp, "elt", "for_in"),
}

_COMPOUND: frozenset[type[cst.CSTNode]] = frozenset(
    {cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.FunctionDef, cst.ClassDef, cst.Match}
)
_STATEMENTS: dict[type[ast.AST], Callable[[_Builder, Any], Any]] = {
    ast.Expr: _Builder._expression_statement,
    ast.Assign: _Builder._assignment,
    ast.AnnAssign: _Builder._annotated,
    ast.AugAssign: _Builder._augmented,
    ast.Return: _Builder._returned,
    ast.Raise: _Builder._raised,
    ast.Assert: _Builder._asserted,
    ast.Delete: _Builder._deleted,
    ast.Global: _Builder._globals,
    ast.Nonlocal: _Builder._nonlocals,
    ast.Pass: _Builder._pass,
    ast.Break: _Builder._break,
    ast.Continue: _Builder._continue,
    ast.Import: _Builder._imported,
    ast.ImportFrom: _Builder._imported_from,
    ast.If: _Builder._conditional,
    ast.For: _Builder._loop,
    ast.AsyncFor: _Builder._loop,
    ast.While: _Builder._while,
    ast.With: _Builder._with,
    ast.AsyncWith: _Builder._with,
    ast.Try: _Builder._tried,
    ast.TryStar: _Builder._tried,
    ast.Match: _Builder._matched,
    ast.FunctionDef: _Builder._defined,
    ast.AsyncFunctionDef: _Builder._defined,
    ast.ClassDef: _Builder._class,
}
_COMPOUND_AST = frozenset(
    {ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar}
    | {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match}
)
_EXPRESSIONS: dict[type[ast.AST], Callable[[_Builder, Any], Any]] = {
    ast.Call: _Builder._called,
    ast.Constant: _Builder._constant,
    ast.JoinedStr: _Builder._formatted,
    ast.Tuple: _Builder._tuple,
    ast.List: _Builder._list,
    ast.Set: _Builder._set,
    ast.Dict: _Builder._dict,
    ast.Starred: _Builder._starred,
    ast.UnaryOp: _Builder._unary,
    ast.BinOp: _Builder._binary,
    ast.BoolOp: _Builder._boolean,
    ast.Compare: _Builder._compared,
    ast.IfExp: _Builder._either,
    ast.Lambda: _Builder._lambda,
    ast.Subscript: _Builder._subscripted,
    ast.Await: _Builder._awaited,
    ast.Yield: _Builder._yielded,
    ast.YieldFrom: _Builder._yielded_from,
    ast.NamedExpr: _Builder._walrus,
    ast.ListComp: _Builder._comprehension,
    ast.SetComp: _Builder._comprehension,
    ast.GeneratorExp: _Builder._comprehension,
    ast.DictComp: _Builder._dict_comprehension,
}


def _dotted(name: str) -> Any:
    first, *rest = name.split(".")
    node = _name(first)
    for part in rest:
        node = _attribute(node, _name(part))
    return node


def _is_one_literal(text: str) -> bool:
    """Is it one string literal, and not several side by side?"""
    if text.startswith('"""'):
        if text.find('"""', 3) == len(text) - 3:
            return True
    elif text[0] in "\"'" and text.find(text[0], 1) == len(text) - 1:
        return True
    found = _LITERAL.match(text)
    return found is not None and found.end() == len(text)


def _by_libcst(text: str) -> Any:
    """An expression as libcst reads it, which holds f-strings and literals side by side apart."""
    try:
        return cst.parse_expression(f"({text})")
    except cst.ParserSyntaxError:
        raise _Unusual from None


def nodes(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all below it that mean something, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(children(node))
