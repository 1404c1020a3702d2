"""Jupyter notebooks: the code cells in order as one module, and the way back into the file.

The module text holds, for each code cell, one separator row (``# %% cell 3``) and then the rows of the cell.
IPython's own syntax (``%magic``, ``!command``, ``name?``) is replaced row by row by Python that does as little, so
that rows and, where code follows a ``%time``, columns are those of the cell. The way back edits the JSON text in
place: only the source of changed cells is written, every other byte stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from jitlint.project.index import Unparsable, index_source, split_rows
from jitlint.syntax import UNREADABLE, parse


class OtherLanguage(Unparsable):
    """A notebook that is fine, but not in Python: to be left alone."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number in the notebook (all cells count, from 1) and where its rows are."""

    number: int
    separator_row: int
    """The row of the separator in the module text; the first row of the cell follows it."""
    source: str
    """As it is in the file."""
    text: str
    """As Python: what the module text holds."""
    span: tuple[int, int]
    """Offsets of the JSON value of ``source`` in the file."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook read by :func:`parse_notebook`."""

    document: str
    """The JSON text of the file."""
    cells: tuple[Cell, ...]
    separator: str
    """What separator rows begin with, and no row of a cell; the number of the cell follows."""

    @property
    def text(self) -> str:
        """The module text."""
        return "".join(f"{self.separator} {cell.number}\n{_with_newline(cell.text)}" for cell in self.cells)

    def locate(self, row: int) -> tuple[int, int]:
        """The cell number and the row within that cell for ``row`` of the module text (the first cell before any)."""
        found = next((cell for cell in reversed(self.cells) if cell.separator_row <= row), None)
        if found is None:
            return (self.cells[0].number if self.cells else 1), 1
        return found.number, max(1, row - found.separator_row)

    def without_faulty_cells(self) -> tuple[Notebook, list[tuple[int, Unparsable]]]:
        """The notebook with every row of the cells that do not parse commented out, and what is wrong with each."""
        cells: list[Cell] = []
        faults: list[tuple[int, Unparsable]] = []
        for cell in self.cells:
            try:
                index_source(cell.text)
            except Unparsable as fault:
                faults.append((cell.number, fault))
                cell = replace(cell, text=_commented(cell.source))
            cells.append(cell)
        return replace(self, cells=tuple(cells)), faults

    def rewritten(self, text: str) -> str:
        """The file for a module text that was edited; the same text gives the same file, byte for byte.

        Rows before the first separator go into the first code cell. Raises ``ValueError`` when a separator is gone.
        """
        sources = self._split(text)
        if list(sources) != [cell.number for cell in self.cells]:
            raise ValueError("the edited text does not have the cells of the notebook")
        document = self.document
        for cell in reversed(self.cells):
            edited = sources[cell.number]
            if edited == _with_newline(cell.text):
                continue
            source = _restore_magics(cell, edited)
            start, end = cell.span
            document = document[:start] + _encode_source(document, cell, source) + document[end:]
        return document

    def with_cells(self, texts: Mapping[int, str]) -> str:
        """The module text with other texts for some cells, by number."""
        cells = tuple(replace(cell, text=texts.get(cell.number, cell.text)) for cell in self.cells)
        return replace(self, cells=cells).text

    def _split(self, text: str) -> dict[int, str]:
        """The rows of each cell by cell number, in order."""
        cells: dict[int, str] = {}
        rows = ""
        number = 0
        for row in split_rows(text):
            if row.startswith(self.separator):
                cells[number] = rows
                number, rows = int(row.removeprefix(self.separator)), ""
            else:
                rows += row
        cells[number] = rows
        before = cells.pop(0, "")
        if cells:
            first = next(iter(cells))
            cells[first] = before + cells[first]
        return cells


def parse_notebook(document: str) -> Notebook:
    """Read the JSON text of an ``.ipynb`` file.

    Raises :class:`Unparsable` when it is no JSON or no notebook of format 4, :class:`OtherLanguage` when it is not in
    Python.
    """
    try:
        content = json.loads(document)
    except json.JSONDecodeError as error:
        raise Unparsable(error.lineno, error.colno, f"not a notebook: {error.msg}") from None
    except RecursionError:
        raise Unparsable(1, 1, "not a notebook: the JSON is nested too deeply") from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        hint = "; convert it with `jupyter nbconvert --to notebook`" if _is_format_3(content) else ""
        raise Unparsable(1, 1, f"not a notebook of format 4{hint}")
    if (language := notebook_language(content)) != "python":
        raise OtherLanguage(1, 1, f"a notebook in {language}")
    cells: list[Cell] = []
    row = 1
    for number, (cell, span) in enumerate(zip(content["cells"], _source_spans(document), strict=True), start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code" or span is None:
            continue
        source = _joined(cell.get("source"))
        if source is None:
            raise Unparsable(1, 1, f"the source of cell {number} is neither text nor a list of lines")
        text = _as_python(source)
        cells.append(Cell(number, row, source, text, span))
        row += 1 + len(split_rows(_with_newline(text)))
    separator = "# %% cell"
    while any(separator in cell.source for cell in cells):
        separator = separator.replace("%%", "%% %%", 1)
    return Notebook(document, tuple(cells), separator)


def notebook_language(content: dict[str, object]) -> str:
    """The language of a notebook, in lower case; Python where it does not say."""
    metadata = content.get("metadata")
    if isinstance(metadata, dict):
        for table, key in (("language_info", "name"), ("kernelspec", "language")):
            entry = metadata.get(table)
            if isinstance(entry, dict) and isinstance(entry.get(key), str):
                return str(entry[key]).lower().removeprefix("i")
    return "python"


def _is_format_3(content: object) -> bool:
    return isinstance(content, dict) and "worksheets" in content


def _joined(source: object) -> str | None:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return None


def _with_newline(text: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else text + "\n"


# --- IPython syntax -------------------------------------------------------------------------------------------------

# What follows these cell magics is Python; what follows any other may be anything.
_PYTHON_CELL_MAGICS = frozenset({"capture", "debug", "ipytest", "prun", "pypy", "python", "python3", "time", "timeit"})

_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_LINE_MAGIC = re.compile(r"[ \t]*(?:%|!|\?|[\w.\[\]]+[ \t]*\?{1,2}[ \t]*(?:#.*)?$)")
_ASSIGNED_MAGIC = re.compile(r"(?P<left>[ \t]*[\w.,\[\]\"' \t]+=[ \t]*)(?P<magic>[%!]\S.*)$")
_TIMED = re.compile(
    r"(?P<indent>[ \t]*)(?P<magic>%time(?:it)?(?:[ \t]+-[a-zA-Z]+(?:[ \t]?\d+)?)*[ \t]+)(?P<code>\S.*)$"
)
_LEXEME = re.compile(
    r"""\#[^\r\n]*                      # a comment
    |(?P<triple>\"{3}|'{3})             # where a long string begins
    |"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'
    |(?P<open>[(\[{])|(?P<close>[)\]}])""",
    re.DOTALL | re.VERBOSE,
)


def _as_python(source: str) -> str:
    """The cell's source with IPython syntax replaced, row by row."""
    if "%" not in source and "!" not in source and "?" not in source:
        return source
    magic = _CELL_MAGIC.match(source)
    if magic is not None and magic[1] not in _PYTHON_CELL_MAGICS:
        return _commented(source)
    if magic is None and _parses(source):
        return source
    rows = split_rows(source)
    return "".join(text for _, text in _python_rows(rows))


def _python_rows(rows: list[str]) -> Iterator[tuple[str, str]]:
    """Each row of a cell with the Python that stands for it."""
    lexer = _RowLexer()
    continues_magic = False
    for row in rows:
        text = row
        if continues_magic:
            text = _commented(row)
        elif lexer.at_statement:
            text = _python_row(row)
        is_magic = text != row
        continues_magic = is_magic and row.rstrip("\r\n").endswith("\\")
        if not is_magic:
            lexer.feed(row)
        yield row, text


def _python_row(row: str) -> str:
    """The Python for a row that begins a statement; the row itself where there is nothing of IPython in it."""
    body = row.rstrip("\r\n")
    end = row[len(body) :]
    if (timed := _TIMED.match(body)) is not None and _parses(timed["code"]):
        return f"{timed['indent']}{'0'.ljust(len(timed['magic']) - 1)};{timed['code']}{end}"
    if _LINE_MAGIC.match(body) is not None:
        indent = body[: len(body) - len(body.lstrip())]
        return f"{indent}pass  # {body.lstrip()}".removesuffix("\\") + end
    if (assigned := _ASSIGNED_MAGIC.match(body)) is not None:
        return f"{assigned['left']}None  # {assigned['magic']}".removesuffix("\\") + end
    return row


def _commented(text: str) -> str:
    return "".join("#" + row if row.strip() else row for row in split_rows(text))


def _parses(code: str) -> bool:
    try:
        parse(code)
    except UNREADABLE:
        return False
    return True


class _RowLexer:
    """Knows, row by row, whether the next row begins a statement or goes on inside brackets or a string."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._continued = False

    @property
    def at_statement(self) -> bool:
        return self._depth == 0 and not self._quote and not self._continued

    def feed(self, row: str) -> None:
        place = 0
        while place < len(row):
            if self._quote:
                end = row.find(self._quote, place)
                if end < 0:
                    return
                place = end + 3
                self._quote = ""
                continue
            match = _LEXEME.search(row, place)
            if match is None:
                break
            place = match.end()
            if match["triple"]:
                self._quote = match["triple"]
            elif match["open"]:
                self._depth += 1
            elif match["close"]:
                self._depth = max(0, self._depth - 1)
        self._continued = not self._quote and row.rstrip("\r\n").endswith("\\")


def _restore_magics(cell: Cell, edited: str) -> str:
    """The edited rows of ``cell`` with its IPython syntax put back, and its last line end as it was."""
    replaced = [
        (python, original)
        for python, original in zip(split_rows(cell.text), split_rows(cell.source), strict=True)
        if python != original
    ]
    rows: list[str] = []
    for row in split_rows(edited):
        body = row.rstrip("\r\n")
        for place, (python, original) in enumerate(replaced):
            prefix, stands_for = _changed_prefix(python.rstrip("\r\n"), original.rstrip("\r\n"))
            if body.startswith(prefix):
                row = stands_for + row[len(prefix) :]
                del replaced[: place + 1]
                break
        rows.append(row)
    source = "".join(rows)
    return source if cell.source.endswith(("\n", "\r")) else source.rstrip("\r\n")


def _changed_prefix(python: str, original: str) -> tuple[str, str]:
    """Up to where the two differ: all of a row that was a magic, the ``%time`` of a row that goes on with code."""
    common = 0
    while common < min(len(python), len(original)) and python[-1 - common] == original[-1 - common]:
        common += 1
    if len(python) != len(original):  # a whole row: what the ends have in common is part of the magic
        return python, original
    return python[: len(python) - common], original[: len(original) - common]


# --- the JSON text --------------------------------------------------------------------------------------------------

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def _skip_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()


def _members(text: str, place: int) -> Iterator[tuple[str, int, int]]:
    """Key, start and end of each value of the object that begins at ``place`` of the valid JSON ``text``."""
    place = _skip_space(text, place + 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        start = _skip_space(text, _skip_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, start)
        yield key, start, end
        place = _skip_space(text, end)
        if text[place] == ",":
            place = _skip_space(text, place + 1)


def _items(text: str, place: int) -> Iterator[tuple[int, int]]:
    """Start and end of each item of the array that begins at ``place`` of the valid JSON ``text``."""
    place = _skip_space(text, place + 1)
    while text[place] != "]":
        _, end = _DECODER.raw_decode(text, place)
        yield place, end
        place = _skip_space(text, end)
        if text[place] == ",":
            place = _skip_space(text, place + 1)


def _source_spans(document: str) -> Iterator[tuple[int, int] | None]:
    """For each cell, where the value of its ``source`` is."""
    top = _skip_space(document, 0)
    cells = next(start for key, start, _ in reversed(list(_members(document, top))) if key == "cells")
    for start, _ in _items(document, cells):
        span = None
        if document[start] == "{":
            for key, value_start, value_end in _members(document, start):
                if key == "source":
                    span = (value_start, value_end)
        yield span


def _encode_source(document: str, cell: Cell, source: str) -> str:
    """``source`` as JSON, laid out as the old value was; lines that did not change keep their spelling."""
    start, end = cell.span
    ascii_only = document.isascii()
    if document[start] != "[":
        return json.dumps(source, ensure_ascii=ascii_only)
    spans = list(_items(document, start))
    spelled = {json.loads(document[a:b]): document[a:b] for a, b in spans}
    lines = [spelled.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in split_rows(source)]
    if not lines:
        return "[]"
    before, after = _layout_of_list(document, start, spans, end)
    between = document[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + (before or " ")
    return "[" + before + between.join(lines) + after + "]"


def _layout_of_list(document: str, start: int, spans: list[tuple[int, int]], end: int) -> tuple[str, str]:
    """The white space after ``[`` and before ``]``; for an empty list, indented by two spaces as Jupyter writes it."""
    if spans:
        return document[start + 1 : spans[0][0]], document[spans[-1][1] : end - 1]
    line_start = document.rfind("\n", 0, start) + 1
    line = document[line_start:start]
    indent = line[: len(line) - len(line.lstrip())]
    if line_start == 0:
        return "", ""
    return f"\n{indent} ", f"\n{indent}"
