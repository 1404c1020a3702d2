"""Read and replace source files without changing what a fix does not mean to change."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import tokenize
from pathlib import Path


def read_source(path: Path) -> tuple[str, str]:
    """The text of a Python file, line endings as they are, and its encoding (``utf-8-sig`` with a byte order mark).

    Raises OSError if the file cannot be read, SyntaxError for a bad encoding declaration, UnicodeDecodeError if the
    bytes are not of that encoding.
    """
    data = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding), encoding


def write_atomic(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Replace a file by ``text``, wholly or not at all; mode bits stay, a symbolic link stays a link.

    What is no file (a pipe, ``/dev/stdout``) is written to directly.

    The text is written to a new file in the same folder, which then takes the place of the old one: a full disk, a
    crash or a reader at the same time never sees half a file. Line endings are written as they are.

    Raises OSError if the folder or the disk does not let it, UnicodeEncodeError if the text has characters that the
    encoding lacks; in either case the file is as it was.
    """
    data = text.encode(encoding)
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    target = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        else:
            temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
