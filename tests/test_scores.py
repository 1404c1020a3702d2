"""The scores themselves: what counts as found, and that floors only rise."""

from __future__ import annotations

from pathlib import Path

from jitlint.findings import Finding, Severity, Span
from tests.judge.scores import Score, below_floor, read_floors, record_floors, score_cases, score_oracle, summary


def finding(filename: str, row: int, code: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code, "name", "message", filename, Span(row, 1, row, 9), severity)


def test_a_program_that_raises_is_found_by_a_finding_on_the_line() -> None:
    assert score_oracle([]).overall["raises_found"].hits == 0
    assert score_oracle([finding("cf_if.py", 13, "JIT101")]).overall["raises_found"].hits == 1
    assert score_oracle([finding("cf_if.py", 12, "JIT101")]).overall["raises_found"].hits == 0


def test_an_error_in_a_program_that_runs_is_false() -> None:
    loud = score_oracle([finding("cf_and_rhs.py", 13, "JIT101")])
    assert loud.overall["false_raises"].hits == 1
    assert "cf_and_rhs.py:13" in summary(loud, verbose=True)
    assert score_oracle([]).overall["quiet"].value == 1.0
    quiet = score_oracle([finding("cf_and_rhs.py", 13, "JIT401", Severity.WARNING)])
    assert quiet.overall["quiet"].value == 1.0


def test_a_case_is_found_by_a_code_of_its_kind() -> None:
    def check(code: str) -> Score:
        return score_cases(lambda files: [finding(str(files[0]), 18, code)] if "or-default" in str(files[0]) else [])

    assert check("JIT101").groups["traced-or"]["recall"].hits == 1
    assert check("JIT301").groups["traced-or"]["recall"].hits == 0
    trap = score_cases(lambda files: [finding(str(files[0]), 15, "JIT101")] if "or-default" in str(files[0]) else [])
    assert trap.overall["trap_lines"].hits == 1
    false = score_cases(lambda files: [finding(str(files[0]), 7, "JIT101")] if "/C001" in files[0].as_posix() else [])
    assert false.overall["clean_flagged"].hits == 1


def test_floors_only_rise(tmp_path: Path) -> None:
    file = tmp_path / "floors.toml"

    def scored(found: int, false: int) -> Score:
        score = Score()
        for at in range(3):
            score.add("raises_found", "group", at < found)
            score.add("false_raises", "group", at < false)
        return score

    record_floors("oracle", scored(2, 1), file)
    assert below_floor(scored(2, 1), read_floors("oracle", file)) == []
    assert below_floor(scored(1, 2), read_floors("oracle", file)) == [
        "group: false_raises is 2, recorded 1",
        "group: raises_found is 1, recorded 2",
        "overall: false_raises is 2, recorded 1",
        "overall: raises_found is 1, recorded 2",
    ]
    record_floors("oracle", scored(1, 2), file)
    assert below_floor(scored(2, 1), read_floors("oracle", file)) == []
    record_floors("oracle", scored(3, 0), file)
    assert below_floor(scored(2, 0), read_floors("oracle", file)) != []
    unrecorded = Score()
    unrecorded.add("extras", "faulty", True)
    assert below_floor(unrecorded, {}) == ["faulty: extras is 1, recorded 0", "overall: extras is 1, recorded 0"]
