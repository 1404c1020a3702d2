"""``print`` in a traced function as ``jax.debug.print``, which prints on every call."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import libcst as cst

from jitlint.fix.code import Rewrite, as_argument, code_of, string_literal, string_value
from jitlint.fix.names import Names


def debug_print(node: cst.Call, names: Names, indent: str = "") -> Rewrite | None:
    """``print("loss", x)`` as ``jax.debug.print("loss {}", x)``; f-strings are taken apart.

    The text replaces the call. None where the call has what ``jax.debug.print`` cannot do: another file, another line
    end, a separator that is not written out, unpacked arguments, a width that is computed.
    """
    function = names.spell("jax.debug.print")
    separator = " "
    items: list[cst.BaseExpression] = []
    for arg in node.args:
        if arg.star:
            return None
        match arg.keyword.value if arg.keyword is not None else None:
            case None:
                items.append(arg.value)
            case "sep":
                written = " " if _is_none(arg.value) else string_value(arg.value)
                if written is None:
                    return None
                separator = written
            case "flush":
                pass
            case "end":
                if string_value(arg.value) != "\n":
                    return None
            case _:
                return None
    if function is None or not items:
        return None
    template = _Template()
    for position, item in enumerate(items):
        if position:
            template.add_text(separator)
        if not template.add(item):
            return None
    fmt, arguments = template.result()
    call = cst.Call(cst.parse_expression(function.text), [cst.Arg(as_argument(value)) for value in (fmt, *arguments)])
    return Rewrite(code_of(call, indent), function.imports)


@dataclass(slots=True)
class _Template:
    """A format string in the making: literal texts (a str) and placeholders with their expressions."""

    parts: list[str | tuple[str, cst.BaseExpression]] = field(default_factory=list)

    def add_text(self, text: str) -> None:
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        elif text:
            self.parts.append(text)

    def add(self, node: cst.BaseExpression) -> bool:
        """Add one printed expression; whether that is possible."""
        if isinstance(node, cst.ConcatenatedString):
            return self.add(node.left) and self.add(node.right)
        if isinstance(node, cst.FormattedString):
            return self._add_fstring(node)
        text = string_value(node)
        if text is not None:
            self.add_text(text)
        else:
            self.parts.append(("{}", node))
        return True

    def _add_fstring(self, node: cst.FormattedString) -> bool:
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                text = _text_value(node, part.value)
                if text is None:
                    return False
                self.add_text(text.replace("{{", "{").replace("}}", "}"))
            elif isinstance(part, cst.FormattedStringExpression):
                if part.equal is not None:
                    source = cst.Module(()).code_for_node(part.with_changes(format_spec=None, conversion=None))
                    self.add_text(source[1:-1])
                spec = _spec(node, part)
                if spec is None:
                    return False
                conversion = f"!{part.conversion}" if part.conversion else ""
                self.parts.append((f"{{{conversion}{spec}}}", part.expression))
            else:
                return False
        return True

    def result(self) -> tuple[cst.BaseExpression, list[cst.BaseExpression]]:
        fmt = ""
        arguments: list[cst.BaseExpression] = []
        for part in self.parts:
            if not isinstance(part, str):
                fmt += part[0]
                arguments.append(part[1])
            elif ("{" in part or "}" in part) and not arguments:
                # jax.debug.print does not format at all where an escaped brace comes before the first placeholder.
                fmt += "{}"
                arguments.append(cst.SimpleString(string_literal(part)))
            else:
                fmt += part.replace("{", "{{").replace("}", "}}")
        return cst.SimpleString(string_literal(fmt)), arguments


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _text_value(node: cst.FormattedString, source: str) -> str | None:
    """The value of a piece of an f-string's text, its escapes read."""
    prefix = node.prefix.lower().replace("f", "")
    try:
        value = ast.literal_eval(f"{prefix}{node.quote}{source}{node.quote}")
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


def _spec(node: cst.FormattedString, part: cst.FormattedStringExpression) -> str | None:
    """The format specification with its colon, empty if there is none; None if it is computed."""
    if not part.format_spec:
        return ""
    texts = []
    for piece in part.format_spec:
        text = _text_value(node, piece.value) if isinstance(piece, cst.FormattedStringText) else None
        if text is None or "{" in text or "}" in text:
            return None
        texts.append(text)
    return ":" + "".join(texts)
