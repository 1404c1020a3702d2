"""Reading and writing source files as Python itself decodes them."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

from jitlint.project.index import MAX_BYTES, Unparsable

_MAX_NOTEBOOK_BYTES = 200 * 1024 * 1024
"""Notebooks carry their outputs, so only the code in them counts against ``MAX_BYTES``."""


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded file: line ends as they are, no byte order mark, and the encoding that gives the same bytes back."""

    text: str
    encoding: str


def read_source(path: Path) -> Source:
    """Read and decode the file at ``path``.

    Raises :class:`Unparsable` for a file that cannot be opened, is too large, or does not decode in the encoding
    that it declares (UTF-8 without a declaration).
    """
    limit = _MAX_NOTEBOOK_BYTES if path.suffix == ".ipynb" else MAX_BYTES
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except IsADirectoryError:
        raise Unparsable(1, 1, "is a directory") from None
    except OSError as error:
        raise Unparsable(1, 1, f"cannot be read: {error.strerror or error}") from None
    if len(data) > limit:
        raise Unparsable(1, 1, f"the file is larger than {limit // 1024 // 1024} MiB")
    return decode_source(data)


def decode_source(data: bytes) -> Source:
    """Decode ``data`` as Python would (byte order mark, PEP 263 comment, else UTF-8); raises :class:`Unparsable`."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        if "unknown encoding" in str(error):
            raise Unparsable(1, 1, str(error)) from None
        encoding = "utf-8"
    try:
        return Source(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        row = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        fault = f"not valid {error.encoding}; save the file as UTF-8 or declare its encoding in the first line"
        raise Unparsable(row, column, fault) from None
    except LookupError as error:
        raise Unparsable(1, 1, str(error)) from None
