"""Python that asks a traced value for its truth, written as array operations."""

from __future__ import annotations

import libcst as cst

from jitlint.findings import NewImport
from jitlint.fix.code import Rewrite, as_operand, call, code_of, walk, without_parentheses
from jitlint.fix.names import Names
from jitlint.fix.updates import is_place

_PAIRWISE = {"max": "jax.numpy.maximum", "min": "jax.numpy.minimum"}
_REDUCING = {
    "max": "jax.numpy.max",
    "min": "jax.numpy.min",
    "any": "jax.numpy.any",
    "all": "jax.numpy.all",
    "sorted": "jax.numpy.sort",
}
_OF_A_SEQUENCE = {
    "jax.numpy.prod": "math.prod",
    "jax.numpy.sum": "sum",
    "jax.numpy.max": "max",
    "jax.numpy.min": "min",
}
_OF_A_NUMBER = {
    "jax.numpy.sqrt": "math.sqrt",
    "jax.numpy.log": "math.log",
    "jax.numpy.log2": "math.log2",
    "jax.numpy.exp": "math.exp",
    "jax.numpy.ceil": "math.ceil",
    "jax.numpy.floor": "math.floor",
    "jax.numpy.abs": "abs",
}
_WRAPPERS = frozenset({"jax.numpy.array", "jax.numpy.asarray"})


class _CannotError(Exception):
    """The expression has no element-wise form."""


class _Writer:
    """Collects the imports of the names it spells."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.imports: dict[NewImport, None] = {}

    def spell(self, dotted: str) -> str:
        if "." not in dotted:
            if self.names.bindings.get(dotted, dotted) != dotted:
                raise _CannotError
            return dotted
        spelling = self.names.spell(dotted)
        if spelling is None:
            raise _CannotError
        self.imports |= dict.fromkeys(spelling.imports)
        return spelling.text

    def done(self, node: cst.BaseExpression | cst.BaseSmallStatement, indent: str) -> Rewrite:
        if isinstance(node, cst.BaseExpression):
            node = without_parentheses(node)
        return Rewrite(code_of(node, indent), tuple(self.imports))

    def truth(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """A test as an array of truths: ``not``, ``and``, ``or`` and chains rewritten, the rest as it is."""
        match node:
            case cst.UnaryOperation(operator=cst.Not()):
                return call(self.spell("jax.numpy.logical_not"), self.truth(node.expression))
            case cst.BooleanOperation():
                if _decides_for_the_other(node.left):
                    raise _CannotError
                name = "logical_and" if isinstance(node.operator, cst.And) else "logical_or"
                return call(self.spell(f"jax.numpy.{name}"), self.truth(node.left), self.truth(node.right))
            case cst.Comparison():
                return self._comparison(node)
            case _:
                return node

    def _comparison(self, node: cst.Comparison) -> cst.BaseExpression:
        if any(isinstance(target.operator, cst.In | cst.NotIn | cst.Is | cst.IsNot) for target in node.comparisons):
            raise _CannotError
        if len(node.comparisons) == 1:
            return node
        left = node.left
        links: list[cst.BaseExpression] = []
        for target in node.comparisons:
            links.append(as_operand(cst.Comparison(left, [target])))
            left = target.comparator
            if target is not node.comparisons[-1] and not _is_cheap(left):
                raise _CannotError
        chained = links[0]
        for link in links[1:]:
            chained = cst.BinaryOperation(chained, cst.BitAnd(), link)
        return chained

    def where(self, test: cst.BaseExpression, yes: cst.BaseExpression, no: cst.BaseExpression) -> cst.BaseExpression:
        if not (self._is_array_arm(yes) and self._is_array_arm(no)):
            raise _CannotError
        return call(self.spell("jax.numpy.where"), self.truth(test), yes, no)

    def _is_array_arm(self, node: cst.BaseExpression) -> bool:
        """Whether the expression is arithmetic on values, so that computing it in vain does no harm."""
        match node:
            case cst.Name():
                return node.value != "None"
            case cst.Integer() | cst.Float() | cst.Attribute():
                return True
            case cst.UnaryOperation(operator=cst.Not()):
                return False
            case cst.UnaryOperation():
                return self._is_array_arm(node.expression)
            case cst.BinaryOperation():
                return self._is_array_arm(node.left) and self._is_array_arm(node.right)
            case cst.Subscript():
                return self._is_array_arm(node.value)
            case cst.Call():
                meaning = self.names.meaning(node.func) or ""
                return meaning.startswith(("jax.numpy.", "jax.lax.", "jax.nn.")) and all(
                    arg.star == "" and (arg.keyword is not None or self._is_array_arm(arg.value)) for arg in node.args
                )
            case _:
                return False


def elementwise(node: cst.BaseExpression, names: Names, indent: str = "") -> Rewrite | None:
    """A test of arrays: ``not x`` as ``jnp.logical_not(x)``, ``a and b`` as ``jnp.logical_and(a, b)``, ``a < b < c`` as
    ``(a < b) & (b < c)``.

    The text replaces the node inside of its parentheses. None where nothing changes, where ``in`` or ``is`` tests have
    no such form, or where the left of an ``and`` guards the right.
    """
    writer = _Writer(names)
    try:
        changed = writer.truth(node)
    except _CannotError:
        return None
    return None if changed is node else writer.done(changed, indent)


def where_of_ternary(node: cst.IfExp, names: Names, indent: str = "") -> Rewrite | None:
    """``a if t else b`` as ``jnp.where(t, a, b)``, which computes both; None where an arm is more than arithmetic."""
    writer = _Writer(names)
    try:
        return writer.done(writer.where(node.test, node.body, node.orelse), indent)
    except _CannotError:
        return None


def where_of_if(
    node: cst.If, names: Names, *, following: cst.BaseStatement | None = None, indent: str = ""
) -> Rewrite | None:
    """``if t: return a`` and ``else: return b`` as ``return jnp.where(t, a, b)``, assignments to one name alike.

    Without an ``else``, ``following`` is the statement behind the ``if``: the text then replaces both, if that is a
    ``return``; ``if t: x = a`` becomes ``x = jnp.where(t, a, x)``. Otherwise the text replaces the ``if``, which must
    not be an ``elif``. None where the branches do more than that, or hold comments.
    """
    if _has_comments(node, following):
        return None
    yes = _only(node.body)
    writer = _Writer(names)
    try:
        if node.orelse is None:
            no = _only_of_line(following)
            if not isinstance(yes, cst.Return):
                return _assigned(writer, node.test, yes, None, indent)
        else:
            no = _only(node.orelse.body) if isinstance(node.orelse, cst.Else) else None
            if not isinstance(yes, cst.Return):
                return _assigned(writer, node.test, yes, no, indent) if no is not None else None
        if not isinstance(no, cst.Return) or yes.value is None or no.value is None:
            return None
        return writer.done(cst.Return(writer.where(node.test, yes.value, no.value)), indent)
    except _CannotError:
        return None


def numpy_of_builtin(node: cst.Call, names: Names, *, array_argument: bool = False, indent: str = "") -> Rewrite | None:
    """``max(a, b)`` as ``jnp.maximum(a, b)``.

    With ``array_argument`` (it is known to be one array) also ``any(x)`` as ``jnp.any(x)`` and the like. None for
    other calls, and for ``key=`` or ``default=``.
    """
    builtin = names.meaning(node.func)
    values = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
    if builtin is None or len(values) != len(node.args) or not values:
        return None
    writer = _Writer(names)
    try:
        if len(values) == 1:
            if not array_argument or builtin not in _REDUCING:
                return None
            return writer.done(call(writer.spell(_REDUCING[builtin]), values[0]), indent)
        if builtin not in _PAIRWISE:
            return None
        function = writer.spell(_PAIRWISE[builtin])
    except _CannotError:
        return None
    nested = values[0]
    for value in values[1:]:
        nested = call(function, nested, value)
    return writer.done(nested, indent)


def host_arithmetic(node: cst.Call, names: Names, *, sequence: bool = False, indent: str = "") -> Rewrite | None:
    """``jnp.prod(x.shape)``, which is traced though ``x.shape`` is static, as ``math.prod(x.shape)``.

    With ``sequence`` (it is known to be several numbers) only functions of such. None for calls that have no plain
    counterpart, or with options such as ``axis=``.
    """
    counterparts = _OF_A_SEQUENCE if sequence else _OF_A_SEQUENCE | _OF_A_NUMBER
    replacement = counterparts.get(names.meaning(node.func) or "")
    if replacement is None or len(node.args) != 1 or node.args[0].keyword is not None or node.args[0].star:
        return None
    value = node.args[0].value
    if isinstance(value, cst.Call) and names.meaning(value.func) in _WRAPPERS and len(value.args) == 1:
        value = value.args[0].value
    writer = _Writer(names)
    try:
        return writer.done(call(writer.spell(replacement), value), indent)
    except _CannotError:
        return None


def _assigned(
    writer: _Writer,
    test: cst.BaseExpression,
    yes: cst.BaseSmallStatement | None,
    no: cst.BaseSmallStatement | None,
    indent: str,
) -> Rewrite | None:
    """``if t: x = a`` (``else: x = b``, or ``x`` as it was) as ``x = jnp.where(t, a, b)``."""
    first = _assignment(yes)
    if first is None:
        return None
    target, value = first
    second = (target, target) if no is None else _assignment(no)
    if second is None or not second[0].deep_equals(target):
        return None
    chosen = writer.where(test, value, second[1])
    return writer.done(cst.Assign([cst.AssignTarget(target)], chosen), indent)


_Place = cst.Name | cst.Attribute | cst.Subscript


def _assignment(statement: cst.BaseSmallStatement | None) -> tuple[_Place, cst.BaseExpression] | None:
    """Target and value of ``x = a``, or of ``x += a`` as ``x = x + a``."""
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target: cst.BaseExpression = statement.targets[0].target
        return (target, statement.value) if is_place(target) else None
    if isinstance(statement, cst.AugAssign):
        target = statement.target
        operator = _AUGMENTED.get(type(statement.operator))
        if operator is not None and is_place(target):
            return target, cst.BinaryOperation(target, operator(), as_operand(statement.value))
    return None


_AUGMENTED: dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
}


def _only(body: cst.BaseSuite) -> cst.BaseSmallStatement | None:
    """The one small statement of a branch."""
    if isinstance(body, cst.SimpleStatementSuite):
        return body.body[0] if len(body.body) == 1 else None
    return _only_of_line(body.body[0]) if len(body.body) == 1 else None


def _only_of_line(statement: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


def _has_comments(node: cst.If, following: cst.BaseStatement | None) -> bool:
    """Whether a comment would be lost with the statements; one above the ``if`` is not."""
    parts: list[cst.CSTNode] = [node.body, *([node.orelse] if node.orelse is not None else [])]
    if isinstance(following, cst.SimpleStatementLine):
        parts += following.leading_lines
    return any(isinstance(inner, cst.Comment) for part in parts for inner in walk(part))


def _is_cheap(node: cst.BaseExpression) -> bool:
    """Whether it may stand in the text twice."""
    return (
        is_place(node)
        or isinstance(node, cst.Integer | cst.Float)
        or (isinstance(node, cst.UnaryOperation) and _is_cheap(node.expression))
    )


def _decides_for_the_other(node: cst.BaseExpression) -> bool:
    """Whether the left side of ``and`` looks like a guard, without which the right side may fail."""
    match node:
        case cst.Comparison():
            return any(
                isinstance(target.operator, cst.Is | cst.IsNot | cst.In | cst.NotIn) for target in node.comparisons
            )
        case cst.Call(func=cst.Name(value=name)):
            return name in ("isinstance", "hasattr", "callable", "len")
        case cst.UnaryOperation(operator=cst.Not()):
            return _decides_for_the_other(node.expression)
        case cst.BooleanOperation():
            return _decides_for_the_other(node.left) or _decides_for_the_other(node.right)
        case _:
            return False
