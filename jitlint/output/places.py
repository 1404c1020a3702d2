"""How places and texts are named to people: locations, source lines, counts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from jitlint.findings import Applicability, Certainty, Finding

TAB = 4


def source_key(filename: str, cell: int | None) -> str:
    """The name of a text: the filename, and for a notebook the cell with it (``nb.ipynb:cell 2``)."""
    return filename if cell is None else f"{filename}:cell {cell}"


def split_key(name: str) -> tuple[str, int | None]:
    """The filename and the number of the cell in ``nb.ipynb:cell 2``; None for a file."""
    filename, mark, number = name.rpartition(":cell ")
    return (filename, int(number)) if mark and number.isdigit() else (name, None)


def location(finding: Finding) -> str:
    """``file:row:column``, with the cell of a notebook: ``nb.ipynb:cell 2:3:5``."""
    span = finding.span
    return f"{source_key(finding.filename, finding.cell)}:{span.row}:{span.column}"


def headline(finding: Finding) -> str:
    """The message, with what is uncertain said."""
    return f"{finding.message} (possible)" if finding.certainty is Certainty.POSSIBLE else finding.message


def one_line(text: str) -> str:
    """The text with line breaks and control characters made visible or blank, safe to print to a terminal."""
    return "".join(map(_visible, text))


def expand(line: str, column: int) -> tuple[str, int]:
    """A source line as printed, and how many cells of the terminal lie before ``column`` (from 1).

    Tabs become spaces, control characters a visible sign, so that carets stay under what they mark.
    """
    shown: list[str] = []
    width = before = 0
    for position, char in enumerate(line, start=1):
        if position == column:
            before = width
        text = " " * (TAB - width % TAB) if char == "\t" else _visible(char)
        shown.append(text)
        width += sum(map(_width, text))
    if column > len(line):
        before = width + column - len(line) - 1
    return "".join(shown), before


def count(number: int, singular: str, plural: str | None = None) -> str:
    """``1 error``, ``2 errors``."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def fix_counts(findings: Iterable[Finding]) -> tuple[int, int]:
    """How many findings ``--fix`` repairs, and how many more ``--unsafe-fixes`` does."""
    levels = [finding.fix.applicability for finding in findings if finding.fix is not None]
    return levels.count(Applicability.SAFE), levels.count(Applicability.UNSAFE)


def _visible(char: str) -> str:
    if char in "\r\n":
        return " "
    if char < " ":
        return chr(0x2400 + ord(char))
    # Direction marks and other invisible controls could make a line look like another one.
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in ("Cc", "Cf") else char


def _width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def file_row(finding: Finding) -> int:
    """The row in the file: for formats that know files only. A row of a cell is none of the notebook's file."""
    return finding.span.row if finding.cell is None else 1


def file_message(finding: Finding) -> str:
    """The message for formats that know files only: in a notebook it begins with the place in its cell."""
    if finding.cell is None:
        return headline(finding)
    return f"cell {finding.cell}:{finding.span.row}:{finding.span.column}: {headline(finding)}"
