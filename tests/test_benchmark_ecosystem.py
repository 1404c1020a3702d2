"""The ecosystem run: its list and its record are sound, what it compares and counts, and a part of it for what is
installed anyway."""

import hashlib
import importlib.metadata
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.ecosystem import checks, figures, packages, record, robustness
from benchmarks.ecosystem.packages import Package, PackageError
from benchmarks.ecosystem.record import Key, Recorded
from jitlint.registry import all_rules

FAULTY = """\
import jax


@jax.jit
def relu(x):
    if x > 0:
        return x
    return 0 * x


relu(1.0)
"""


def wheel(folder: Path, files: dict[str, str]) -> Package:
    """A wheel in a cache folder, as it is pinned."""
    path = folder / "some_models-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return Package("some-models", "1.0", path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def finding(text: str = "if x > 0:", label: record.Label = "", severity: str = "warning", times: int = 1) -> Recorded:
    reason = "read" if label else ""
    return Recorded(Key("p", "p/m.py", "JIT101", "relu", text), severity, "m", label, reason, times=times)


def test_the_list_is_sound() -> None:
    listed = packages.load()
    assert len({package.name for package in listed}) == len(listed) >= 30
    assert all(len(package.sha256) == 64 and package.version in package.wheel for package in listed)
    assert {package.kind for package in listed} == {"library", "application"}


def test_the_record_is_sound() -> None:
    recorded = record.load()
    codes = {rule.code for rule in all_rules()} | {"JIT900"}
    assert {found.key.package for found in recorded} <= {package.name for package in packages.load()}
    assert {found.key.rule for found in recorded} <= codes
    assert [found.key for found in recorded if found.wants_label] == []
    assert not [found.key for found in recorded if found.severity == "error" and found.label != "true"]


def test_sources_are_unpacked_once_and_checked(tmp_path: Path) -> None:
    package = wheel(tmp_path, {"models/relu.py": FAULTY, "models/data.bin": "", "some_models-1.0.dist-info/RECORD": ""})
    folder = packages.sources(package, tmp_path)
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.is_file()] == [
        ".sha256",
        "models/relu.py",
    ]
    (tmp_path / package.wheel).unlink()
    assert packages.sources(package, tmp_path) == folder

    found = checks.check(folder)
    assert (found.files, found.jit_sites) == (1, 1)
    (one,) = record.from_run(package.name, found.findings)
    assert one.key == Key("some-models", "models/relu.py", "JIT101", "relu", "if x > 0:")
    assert one.severity == "error"


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    package = wheel(tmp_path, {"models/relu.py": FAULTY})
    with pytest.raises(PackageError, match="hash"):
        packages.sources(replace(package, sha256="0" * 64), tmp_path)


@pytest.mark.parametrize("name", ["../outside.py", "/outside.py", "models/../../outside.py"])
def test_nothing_is_written_elsewhere(tmp_path: Path, name: str) -> None:
    package = wheel(tmp_path, {name: FAULTY})
    with pytest.raises(PackageError, match="outside"):
        packages.sources(package, tmp_path)
    assert not list(tmp_path.parent.glob("outside.py"))


def test_unpacked_sources_are_taken_if_they_are_of_that_version(tmp_path: Path) -> None:
    package = wheel(tmp_path, {"models/relu.py": FAULTY})
    own = tmp_path / "unpacked" / "some_models"
    (own / "some_models-1.1.dist-info").mkdir(parents=True)
    assert packages.sources(package, tmp_path, [tmp_path / "unpacked"]) != own
    (own / "some_models-1.0.dist-info").mkdir()
    assert packages.sources(package, tmp_path, [tmp_path / "unpacked"]) == own


def test_wheels_for_one_platform_are_asked_for_by_it() -> None:
    package = Package("s", "1", "s-1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "")
    command = package.download_command(Path("d"))
    assert "--platform=manylinux_2_28_x86_64" in command
    assert command[command.index("--python-version") + 1] == "311"


def test_a_run_is_held_against_the_record() -> None:
    known, gone = finding("a", "true"), finding("b", "false")
    new, twice = finding("c"), replace(finding("a"), times=2)
    result = record.compare([known, gone], [twice, new], ["p"])
    assert (result.new, result.gone) == ([new], [gone])
    assert [(old.times, now.times, now.label) for old, now in result.changed] == [(1, 2, "true")]
    assert result.unlabelled == [new]
    assert record.compare([known, gone], [], ["another"]).gone == []


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    findings = [finding('print("\\t", x)', "true"), replace(finding("b", "true"), meant=True, times=3), finding("c")]
    record.write(findings, tmp_path / "findings.toml")
    assert record.load(tmp_path / "findings.toml") == sorted(findings, key=lambda each: each.key)


def test_labels_have_reasons() -> None:
    with pytest.raises(ValueError, match="reason"):
        replace(finding("a", "true"), reason="")
    with pytest.raises(ValueError, match="label is"):
        replace(finding("a"), label="maybe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="meant"):
        replace(finding("a", "false"), meant=True)


def test_shares_and_their_interval() -> None:
    low, high = figures.wilson(9, 10)
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
    assert figures.wilson(0, 0) == (0.0, 1.0)
    findings = [finding("a", "true", times=3), finding("b", "false"), finding("c", "undecided"), finding("d")]
    share = figures.Share.of(findings)
    assert (share.true, share.false, share.undecided, share.precision) == (1, 1, 1, 0.5)
    assert "| JIT101 warning | 3 | 0 | 1 | 1 | 0.75" in figures.by_rule(findings)


def test_the_sample_is_always_the_same() -> None:
    findings = [finding(str(n), "true") for n in range(300)]
    assert figures.sample(findings) == figures.sample(findings[::-1])
    assert len(set(figures.sample(findings))) == 100
    assert figures.sample([*findings[:3], finding("e", "true", "error")]) == findings[:3]


def test_robustness_takes_packages_and_single_modules_apart(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "inner.py").write_text("x = 1\n")
    (tmp_path / "single.py").write_text("x = 2\n")
    found = dict(robustness.pieces(tmp_path))
    assert found == {"package": [tmp_path / "package" / "inner.py"], "*.py 1": [tmp_path / "single.py"]}
    robustness.copied(found["package"], tmp_path, tmp_path / "copy", as_jax=True)
    assert (tmp_path / "copy" / "package" / "inner.py").read_text() == "x = 1\n\n# jax\n"


@pytest.mark.parametrize("name", ["equinox", "flax", "optax"])
def test_installed_packages(tmp_path: Path, name: str) -> None:
    """They come with what the tests need, so this needs no network."""
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    for file in distribution.files or ():
        if file.suffix == ".py" and ".." not in file.parts:
            place = tmp_path / file
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(distribution.locate_file(file)), place)
    found = record.from_run(name, checks.check(tmp_path).findings)
    assert [each.key for each in found if each.severity == "error"] == []
    pinned = next(package for package in packages.load() if package.name == name)
    if distribution.version == pinned.version:
        result = record.compare(record.load(), found, [name])
        assert [each.key for each in result.new] == []
        assert [each.key for each in result.gone] == []
