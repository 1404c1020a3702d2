"""A baseline knows findings by file, function, code and line text, and shrinks by itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from jitlint import baseline
from jitlint.baseline import Entry
from jitlint.findings import Finding, Severity, Span

LINES = {1: "if x > 0:", 2: "if x > 0:", 3: "while y:", 9: "    if  x  >  0:"}


def finding(row: int, code: str = "JIT101", qualname: str = "f", filename: str = "a.py") -> Finding:
    return Finding(code, "n", "m", filename, Span(row, 1, row, 2), Severity.ERROR, qualname=qualname)


@pytest.fixture
def prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> baseline.Fingerprints:
    monkeypatch.chdir(tmp_path)
    return baseline.Fingerprints(lambda found: LINES[found.span.row], tmp_path)


def test_rows_and_spacing_do_not_matter(prints: baseline.Fingerprints) -> None:
    known = prints.count([finding(1)])
    new, used = baseline.subtract([finding(9)], known, prints)
    assert new == []
    assert used == known


@pytest.mark.parametrize(
    "other", [finding(3), finding(1, code="JIT102"), finding(1, qualname="g"), finding(1, filename="b.py")]
)
def test_line_code_function_and_file_matter(other: Finding, prints: baseline.Fingerprints) -> None:
    assert baseline.subtract([other], prints.count([finding(1)]), prints)[0] == [other]


def test_one_more_of_a_kind_is_new(prints: baseline.Fingerprints) -> None:
    new, _ = baseline.subtract([finding(1), finding(2)], prints.count([finding(1)]), prints)
    assert new == [finding(2)]


def test_a_file_round_trips_sorted_one_entry_a_line(tmp_path: Path) -> None:
    path = tmp_path / "base.txt"
    known = Counter({Entry("src/b c.py", "A.f", "JIT101", "ff"): 2, Entry("a.py", "", "JIT401", "aa"): 1})
    baseline.write(path, known)
    assert baseline.read(path) == known
    assert path.read_text().splitlines()[1:] == ["a.py:: JIT401 aa 1", "src/b c.py::A.f JIT101 ff 2"]


def test_both_sides_of_a_merge_add_up(tmp_path: Path) -> None:
    path = tmp_path / "base.txt"
    path.write_text("a.py::f JIT101 aa 1\n\na.py::f JIT101 aa 1\n")
    assert baseline.read(path) == Counter({Entry("a.py", "f", "JIT101", "aa"): 2})


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", "a.py JIT101 aa 1", "a.py::f JIT101 aa one", "nonsense"])
def test_a_damaged_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "base.txt"
    path.write_text(f"# comment\n{line}\n")
    with pytest.raises(baseline.BaselineError, match=r"base\.txt:2: .*--write-baseline"):
        baseline.read(path)


def test_a_missing_or_binary_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(baseline.BaselineError, match=r"none\.txt.*--write-baseline"):
        baseline.read(tmp_path / "none.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(baseline.BaselineError, match="not UTF-8"):
        baseline.read(tmp_path / "binary")


def test_it_shrinks_only_by_what_the_run_could_judge(tmp_path: Path) -> None:
    for name in ("a.py", "other.py"):
        (tmp_path / name).touch()
    repaired, kept = Entry("a.py", "f", "JIT101", "aa"), Entry("a.py", "g", "JIT101", "bb")
    off, unchecked, gone = (
        Entry("a.py", "f", "JIT309", "cc"),
        Entry("other.py", "f", "JIT101", "dd"),
        Entry("gone.py", "f", "JIT101", "ee"),
    )
    rest = baseline.shrunk(
        Counter({repaired: 1, kept: 3, off: 1, unchecked: 1, gone: 1}),
        Counter({kept: 2}),
        checked_files=frozenset({"a.py"}),
        codes=frozenset({"JIT101"}),
        root=tmp_path,
    )
    assert rest == Counter({kept: 2, off: 1, unchecked: 1})
