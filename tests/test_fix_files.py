"""A file is replaced wholly or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from jitlint.fix.files import read_source, write_atomic


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"x = 1\r\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1"),
        (b"", "utf-8"),
    ],
)
def test_reading_and_writing_back_changes_nothing(tmp_path: Path, data: bytes, encoding: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    text, found = read_source(path)
    assert found == encoding
    write_atomic(path, text, found)
    assert path.read_bytes() == data


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    with pytest.raises(OSError):
        read_source(path)
    path.write_bytes(b"# coding: no-such\n")
    with pytest.raises(SyntaxError):
        read_source(path)
    path.write_bytes(b"x = '\xff'\n")
    with pytest.raises((UnicodeDecodeError, SyntaxError)):
        read_source(path)


def test_mode_and_link_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "real.py", tmp_path / "link.py"
    target.write_text("x = 1\n")
    target.chmod(0o751)
    link.symlink_to(target.name)
    write_atomic(link, "x = 2\n")
    assert link.is_symlink()
    assert target.read_text() == "x = 2\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.py", "real.py"]


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    write_atomic(tmp_path / "new.py", "x = 1\n")
    (tmp_path / "other.py").write_text("")
    assert (tmp_path / "new.py").stat().st_mode == (tmp_path / "other.py").stat().st_mode


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(path, "x\n")
        assert os.read(reader, 10) == b"x\n"
        assert stat.S_ISFIFO(path.stat().st_mode)
    finally:
        os.close(reader)


def test_a_folder_cannot_be_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        write_atomic(tmp_path, "x\n")
    assert list(tmp_path.iterdir()) == []
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}.*"))


def test_a_character_that_the_encoding_lacks_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    with pytest.raises(UnicodeEncodeError):
        write_atomic(path, "x = '漢'\n", "latin-1")
    assert path.read_text() == "x = 1\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, "x = 2\n" * 1000)
    assert path.read_text() == "x = 1\n"
    assert list(tmp_path.iterdir()) == [path]
