"""Configuration: where it is found, how it adds up, what is refused and with which words."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from jitlint.findings import Certainty, Severity
from jitlint.project.config import (
    DEFAULT_EXCLUDE,
    Config,
    ConfigError,
    ConfigResolver,
    json_schema,
    load_config,
    options,
    parse_override,
    settings,
)
from jitlint.project.options import Glob

EVERYTHING = """
select = ["JIT1", "traced-branch", "ALL"]
ignore = ["JIT404"]
extend-select = ["JIT309"]
extend-ignore = ["JIT308"]
exclude = ["third_party"]
extend-exclude = ["old/*.py"]
respect-gitignore = false
force-exclude = true
jax-version = "0.4.30"
src = ["python", "."]
unroll-threshold = 10
captured-constant-bytes = 64
max-variants = 2
assume-jitted = ["models.step", "losses.*"]
extra-models = ["models/mylib.toml"]
min-severity = "warning"
min-certainty = "definite"
output-format = "concise"
fixable = ["JIT102"]
unfixable = ["JIT404"]
unsafe-fixes = true
baseline = "baseline.txt"
per-file-ignores = { "tests/**" = ["JIT404"] }
severity = { JIT404 = "info", traced-branch = "warning" }

[dynamic]
python = ".venv/bin/python"
timeout = 5
allow-import = false
signatures = { "models.step" = ["float32[8]", "train=True"] }
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_option_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "jitlint.toml", EVERYTHING)
    config = load_config(path)
    assert config.root == tmp_path
    assert config.source == path
    assert config.select == ("JIT1", "traced-branch", "ALL")
    assert config.exclude == (Glob("third_party", tmp_path),)
    assert config.src == (tmp_path / "python", tmp_path)
    assert config.extra_models == (tmp_path / "models/mylib.toml",)
    assert config.baseline == tmp_path / "baseline.txt"
    assert config.min_severity is Severity.WARNING
    assert config.min_certainty is Certainty.DEFINITE
    assert config.severity == {"JIT404": Severity.INFO, "traced-branch": Severity.WARNING}
    assert config.per_file_ignores == ((Glob("tests/**", tmp_path), ("JIT404",)),)
    assert config.dynamic.signatures == {"models.step": ("float32[8]", "train=True")}
    assert config.dynamic.timeout == 5.0
    assert not config.dynamic.allow_import
    defaults = settings(Config())
    assert all(value != defaults[key] for key, value in settings(config).items())


def test_settings_can_be_read_back(tmp_path: Path) -> None:
    config = load_config(write(tmp_path / "jitlint.toml", EVERYTHING))
    plain = settings(config)
    assert settings(Config().with_overrides(plain, "again", tmp_path)) == plain


def test_defaults() -> None:
    config = Config()
    assert config.select is None
    assert config.unroll_threshold == 32
    assert config.captured_constant_bytes == 1024 * 1024
    assert [glob.pattern for glob in config.exclude] == list(DEFAULT_EXCLUDE)
    assert {".git", ".venv", "venv", "node_modules", "build", "dist", "__pycache__", "site-packages"} <= set(
        DEFAULT_EXCLUDE
    )


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ('selct = ["JIT1"]', "selct", "did you mean `select`?"),
        ("max_variants = 3", "max_variants", "did you mean `max-variants`?"),
        ("zzz = 3", "zzz", "there is no such option"),
        ('root = "x"', "root", "there is no such option"),
        ('select = "JIT1"', "select", 'must be a list of strings, not "JIT1"'),
        ("select = [1]", "select", "not 1"),
        ('select = ["E501"]', "select", 'not "E501"'),
        ('per-file-ignores = { "a" = "JIT1" }', "per-file-ignores", "must be a list of strings"),
        ("per-file-ignores = []", "per-file-ignores", "must be a table of patterns"),
        ('respect-gitignore = "yes"', "respect-gitignore", "must be true or false"),
        ("unroll-threshold = 0", "unroll-threshold", "an integer of at least 1, not 0"),
        ("unroll-threshold = true", "unroll-threshold", "not true"),
        ("max-variants = 1.5", "max-variants", "not 1.5"),
        ('jax-version = "latest"', "jax-version", 'a version such as "0.4.30"'),
        ('jax-version = ""', "jax-version", "a version"),
        ('min-severity = "wraning"', "min-severity", "did you mean `warning`?"),
        ('output-format = "xml"', "output-format", "must be one of full, concise"),
        ('severity = { JIT101 = "bad" }', "severity", "must be one of"),
        ('severity = "info"', "severity", "must be a table"),
        ('assume-jitted = ["a b"]', "assume-jitted", "a dotted name"),
        ("extra-models = [3]", "extra-models", "must be a path"),
        ("baseline = 3", "baseline", "must be a path"),
        ("dynamic = 3", "dynamic", "must be a table"),
        ("[dynamic]\ntimeuot = 3", "dynamic.timeuot", "did you mean `timeout`?"),
        ("[dynamic]\ntimeout = 0", "dynamic.timeout", "a number of at least 1"),
        ("[dynamic]\nsignatures = []", "dynamic.signatures", "must be a table of functions"),
        ("extend = 3", "extend", "must be the path"),
        ('extend = "nowhere.toml"', "extend", "there is no file"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, key: str, message: str) -> None:
    path = write(tmp_path / "jitlint.toml", text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    error = caught.value
    assert error.source == str(path)
    assert error.key == key
    assert message in error.message
    assert str(error) == f"{path}: `{key}`: {error.message}"


@pytest.mark.parametrize("data", [b"select = [", b"x = '\xff'"])
def test_a_file_that_is_no_toml(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "jitlint.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load_config(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "missing.toml")


def test_the_section_of_pyproject_must_be_a_table(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", "[tool]\njitlint = 3\n")
    with pytest.raises(ConfigError, match=r"`tool\.jitlint`: must be a table"):
        load_config(path)


def test_the_nearest_directory_wins(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.jitlint]\nmax-variants = 1\n")
    write(tmp_path / "a/pyproject.toml", "[project]\nname = 'no section of ours'\n")
    write(tmp_path / "a/b/jitlint.toml", "max-variants = 2\n")
    write(tmp_path / "a/b/c/.jitlint.toml", "max-variants = 3\n")
    write(tmp_path / "a/b/c/jitlint.toml", "max-variants = 4\n")
    write(tmp_path / "a/b/c/d/jitlint.toml", "max-variants = 5\n")
    write(tmp_path / "a/b/c/d/pyproject.toml", "[tool.jitlint]\nmax-variants = 6\n")
    resolver = ConfigResolver()

    def found(name: str) -> int:
        return resolver.for_file(tmp_path / name / "x.py").max_variants

    assert [found(name) for name in (".", "a", "a/b", "a/b/c", "a/b/c/d", "a/b/other")] == [1, 1, 2, 3, 5, 2]
    assert resolver.for_file(tmp_path / "x.py") is resolver.for_file(tmp_path / "a/y.py")


def test_a_broken_file_on_the_way_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: is not valid TOML"):
        ConfigResolver().for_directory(tmp_path / "a")


def test_extend(tmp_path: Path) -> None:
    write(
        tmp_path / "shared/base.toml",
        'select = ["JIT1"]\nextend-select = ["JIT309"]\nextend-exclude = ["x"]\nignore = ["JIT101"]\n'
        'baseline = "known.txt"\n[dynamic]\ntimeout = 7\n',
    )
    write(tmp_path / "middle.toml", 'extend = "shared/base.toml"\nextend-ignore = ["JIT404"]\n')
    config = load_config(
        write(
            tmp_path / "p/pyproject.toml",
            '[tool.jitlint]\nextend = "../middle.toml"\nextend-select = ["JIT411"]\nextend-exclude = ["y"]\n'
            'ignore = ["JIT102"]\n[tool.jitlint.dynamic]\npython = "python3"\n',
        )
    )
    assert config.select == ("JIT1",)
    assert config.extend_select == ("JIT309", "JIT411")
    assert config.extend_ignore == ("JIT404",)
    assert config.extend_exclude == (Glob("x", tmp_path / "shared"), Glob("y", tmp_path / "p"))
    assert config.ignore == ("JIT102",)
    assert config.baseline == tmp_path / "shared/known.txt"
    assert (config.dynamic.timeout, config.dynamic.python) == (7.0, "python3")
    assert config.root == tmp_path / "p"


def test_extend_in_a_circle(tmp_path: Path) -> None:
    path = write(tmp_path / "jitlint.toml", 'extend = "other.toml"')
    write(tmp_path / "other.toml", 'extend = "jitlint.toml"')
    with pytest.raises(ConfigError, match="in turn"):
        load_config(path)


def test_an_extended_file_is_blamed_for_its_own_mistakes(tmp_path: Path) -> None:
    other = write(tmp_path / "other.toml", "max-variants = 0")
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path / "jitlint.toml", 'extend = "other.toml"'))
    assert caught.value.source == str(other)


@pytest.mark.parametrize(
    ("argument", "key", "expected"),
    [
        ("max-variants = 3", "max-variants", 3),
        ("max-variants=3", "max-variants", 3),
        ("output-format=json", "output-format", "json"),
        ("min-severity = 'error'", "min-severity", "error"),
        ("select=JIT1,JIT401", "select", ["JIT1", "JIT401"]),
        ('select=["JIT1"]', "select", ["JIT1"]),
        ("unsafe-fixes=true", "unsafe-fixes", True),
        ("jax-version=0.4.30", "jax-version", "0.4.30"),
    ],
)
def test_overrides(argument: str, key: str, expected: object, tmp_path: Path) -> None:
    override = parse_override(argument)
    assert override == {key: expected}
    assert settings(ConfigResolver([override], isolated=True).for_directory(tmp_path))[key] == expected


def test_overrides_reach_into_the_table(tmp_path: Path) -> None:
    resolver = ConfigResolver(
        [parse_override("dynamic.timeout = 9"), parse_override("dynamic.python=py")], isolated=True
    )
    dynamic = resolver.for_directory(tmp_path).dynamic
    assert (dynamic.timeout, dynamic.python) == (9.0, "py")


@pytest.mark.parametrize("argument", ["nonsense", "=3", 'a = "', "a = [1"])
def test_an_override_that_is_none(argument: str) -> None:
    with pytest.raises(ConfigError, match="neither a file nor"):
        parse_override(argument)


def test_an_override_that_is_wrong_blames_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        ConfigResolver([{"max-variant": 3}], isolated=True).for_directory(tmp_path)
    assert str(caught.value) == "--config: `max-variant`: there is no such option; did you mean `max-variants`?"


def test_overrides_lie_over_files_and_accumulate(tmp_path: Path) -> None:
    write(tmp_path / "jitlint.toml", 'max-variants = 3\nextend-select = ["JIT1"]\nunroll-threshold = 7\n')
    resolver = ConfigResolver([{"max-variants": 4}, {"extend-select": ["JIT2"]}])
    config = resolver.for_directory(tmp_path)
    assert (config.max_variants, config.unroll_threshold, config.extend_select) == (4, 7, ("JIT1", "JIT2"))


def test_isolated_reads_nothing(tmp_path: Path) -> None:
    write(tmp_path / "jitlint.toml", "this is no TOML")
    assert ConfigResolver(isolated=True).for_directory(tmp_path).source is None


def test_a_given_file_replaces_the_search(tmp_path: Path) -> None:
    write(tmp_path / "a/jitlint.toml", "max-variants = 1")
    given = write(tmp_path / "given.toml", "max-variants = 2")
    assert ConfigResolver(config_file=given).for_file(tmp_path / "a/x.py").max_variants == 2


def test_every_option_is_documented_with_an_example_that_works(tmp_path: Path) -> None:
    described = options()
    assert {option.key for option in described} == set(_flat(settings(Config())))
    for option in described:
        assert option.doc.endswith(".")
        assert option.type
        table = tomllib.loads(option.example)
        nested: dict[str, Any] = {"dynamic": table} if option.key.startswith("dynamic.") else table
        shown = _flat(settings(Config().with_overrides(nested, "example", tmp_path)))
        assert shown[option.key] != option.default


def test_defaults_in_the_documentation_are_the_defaults() -> None:
    assert {option.key: option.default for option in options()} == _flat(settings(Config()))


def test_the_schema_describes_every_option() -> None:
    schema: Any = json_schema()
    properties = schema["properties"]
    keys = {*properties, *(f"dynamic.{key}" for key in properties["dynamic"]["properties"])}
    assert keys - {"dynamic", "extend"} == {option.key for option in options()}
    assert schema["additionalProperties"] is False
    assert properties["min-severity"]["enum"] == ["error", "warning", "info"]
    assert properties["unroll-threshold"] == {
        "description": properties["unroll-threshold"]["description"],
        "type": "integer",
        "minimum": 1,
        "default": 32,
    }
    assert all(property["description"] for property in properties.values())


def _flat(plain: dict[str, Any]) -> dict[str, object]:
    inner = plain.pop("dynamic")
    return plain | {f"dynamic.{key}": value for key, value in inner.items()}
