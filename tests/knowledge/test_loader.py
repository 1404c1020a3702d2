"""The loader: what it answers, and what it says of a file that is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jitlint.knowledge import AttributeModel, KnowledgeError, LibraryFile, MethodModel, Term, load

KNOWLEDGE = load()


def library(path: Path, text: str, name: str = "mylib") -> Path:
    file = path / f"{name}.toml"
    file.write_text(f'[library]\nname = "{name}"\n{text}', encoding="utf-8")
    return file


def test_a_row_says_what_must_be_concrete() -> None:
    arange = KNOWLEDGE.function("jax.numpy.arange")
    assert arange is not None and arange.documented
    assert arange.must_be_concrete("stop", ()) == "ConcretizationTypeError"
    assert arange.must_be_concrete("dtype", ()) is None
    assert arange.need["stop"] == "count"


def test_a_size_given_lifts_the_need() -> None:
    repeat = KNOWLEDGE.function("jax.numpy.repeat")
    assert repeat is not None
    assert repeat.must_be_concrete("repeats", ["a", "repeats"]) == "ConcretizationTypeError"
    assert repeat.must_be_concrete("repeats", ["a", "repeats", "total_repeat_length"]) is None


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("jax.tree_map", "jax.tree.map"),
        ("jax.tree_util.tree_map", "jax.tree.map"),
        ("jax.experimental.pjit.pjit", "jax.jit"),
        ("jax.experimental.shard_map.shard_map", "jax.shard_map"),
        ("flax.linen.relu", "jax.nn.relu"),
        ("flax.core.frozen_dict.freeze", "flax.core.freeze"),
        ("jax.numpy.sum", "jax.numpy.sum"),
    ],
)
def test_names_have_one_canonical_spelling(alias: str, name: str) -> None:
    assert KNOWLEDGE.canonical(alias) == name
    found = KNOWLEDGE.function(alias)
    assert found is not None and found.name == name and found.documented


def test_a_name_without_a_row_has_the_default_of_its_library() -> None:
    found = KNOWLEDGE.function("jax.numpy.sum_of_the_future")
    assert found is not None and not found.documented and found.result == Term("array")
    found = KNOWLEDGE.function("numpy.sum_of_the_future")
    assert found is not None and found.on_traced == Term("raises", ("TracerArrayConversionError",))


@pytest.mark.parametrize(
    "name", ["jax.numpy._private", "jax.numpy.pi", "jax.numpy.linalg", "torch.sum", "sum", "jax.Array"]
)
def test_what_is_no_function_has_no_model(name: str) -> None:
    assert KNOWLEDGE.function(name) is None


def test_constants_have_a_kind() -> None:
    assert KNOWLEDGE.constant("jax.numpy.newaxis") == "none"
    assert KNOWLEDGE.constant("jax.numpy.float32") == "dtype"
    assert KNOWLEDGE.constant("jax.numpy.sum") is None


def test_attributes_and_methods_of_arrays() -> None:
    shape, item, total = (KNOWLEDGE.attribute("array", name) for name in ("shape", "item", "sum"))
    assert isinstance(shape, AttributeModel) and shape.result == Term("static") and shape.type == "tuple"
    assert isinstance(item, MethodModel) and item.raises == "ConcretizationTypeError" and item.conversion
    assert isinstance(total, MethodModel) and total.call.must_be_concrete("axis", ()) == "ConcretizationTypeError"
    assert KNOWLEDGE.attribute("array", "no_such_thing") is None


def test_classes_have_a_kind() -> None:
    state = KNOWLEDGE.class_("flax.training.train_state.TrainState")
    assert state is not None and state.kind == "pytree" and state.static == ("apply_fn", "tx")
    assert KNOWLEDGE.class_("flax.linen.FrozenDict") == KNOWLEDGE.class_("flax.core.FrozenDict")
    assert KNOWLEDGE.class_("jax.numpy.sum") is None


def test_arguments_bind_by_position_and_name() -> None:
    clip = KNOWLEDGE.function("jax.numpy.clip")
    assert clip is not None
    first, second = clip.parameter(0), clip.parameter(1)
    assert first is not None and first.name == "arr" and first.kind == "positional"
    assert second is not None and second.name == "min" and second.optional
    assert clip.keyword("arr") is None and clip.keyword("max") is not None and clip.parameter(7) is None
    stack = KNOWLEDGE.function("jax.numpy.broadcast_arrays")
    assert stack is not None and stack.parameter(0) == stack.parameter(5)


def test_a_users_file_goes_before_the_built_in_one(tmp_path: Path) -> None:
    mine = library(tmp_path, '[functions.pad_to]\nparams = ["x", "n"]\nconcrete = { n = "TypeError" }\n')
    also = library(tmp_path, '[functions.sum]\nparams = ["a"]\nresult = "static"\n', "jax.numpy")
    knowledge = load([mine, also])
    found = knowledge.function("mylib.pad_to")
    assert found is not None and found.must_be_concrete("n", ()) == "TypeError"
    found = knowledge.function("jax.numpy.sum")
    assert found is not None and found.result == Term("static")
    kept = knowledge.function("jax.numpy.prod")
    assert kept is not None and kept.documented
    unknown = knowledge.function("jax.numpy.sum_of_the_future")
    assert unknown is not None and unknown.result == Term("array")
    assert "mylib" in knowledge.libraries()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[functions.f]\nresults = "array"\n', "functions.f: unknown key 'results'"),
        ('[functions.f]\nresult = "arrays"\n', "functions.f: result = 'arrays' is not one of"),
        ('[functions.f]\nparams = ["x"]\nconcrete = { y = "TypeError" }\n', "'y' is not a parameter (params: x)"),
        ('[functions.f]\nparams = ["x"]\nconcrete = { x = "TypError" }\n', "x = 'TypError' is not one of"),
        ('[functions.f]\nparams = ["x", "x"]\n', "params names a parameter twice"),
        ('[functions.f]\nparams = "x"\n', "params must be a list of strings"),
        ('[functions.f]\neffect = "noise"\n', "effect = 'noise' is not one of"),
        ('[functions.f]\non_traced = "raises:Whatever"\n', "on_traced = 'raises:Whatever' is not one of"),
        ('[functions.f]\ndynamic = { unless = ["size"] }\n', "functions.f.dynamic: there is no error"),
        ('[functions.f]\nresult = "array\n', "functions.f: "),
        ("[functions.f]\n[functions.f]\n", "[functions.f] is there twice"),
        ("[functions]\n", "[functions] needs a name"),
        ("[rows.f]\n", "unknown table [rows.f]"),
        ("[classes.C]\n", "classes.C: there is no kind"),
        ('[classes.C]\nkind = "tree-ish"\n', "kind = 'tree-ish' is not one of"),
        ('[classes.C]\nkind = "pytree"\nsource = "class C:"\n', "classes.C: source is not valid Python, in its line 1"),
        ("[constants]\npi = 3\n", "constants: pi must be a string"),
    ],
)
def test_a_wrong_file_is_refused_with_file_and_place(tmp_path: Path, text: str, problem: str) -> None:
    file = library(tmp_path, text)
    with pytest.raises(KnowledgeError) as error:
        load([file])
    assert str(error.value).startswith(f"{file}: ")
    assert problem in str(error.value)


def test_a_file_without_a_library_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("[functions.f]\n", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"there is no \[library\] table"):
        load([file])
    file.write_text('name = "x"\n[library]\nname = "x"\n', encoding="utf-8")
    with pytest.raises(KnowledgeError, match="keys before the first table"):
        load([file])


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="cannot be read"):
        load([tmp_path / "missing.toml"])
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KnowledgeError, match="is not UTF-8 text"):
        load([binary])


def test_every_built_in_file_is_valid() -> None:
    for name in KNOWLEDGE.libraries():
        file = KNOWLEDGE.file(name)
        file.validate()
        assert file.name == name


def test_files_are_read_only_when_asked_for() -> None:
    knowledge = load()
    knowledge.function("math.sqrt")
    assert list(knowledge._files) == ["math"]


def test_the_data_needs_no_library_to_load() -> None:
    code = (
        "import sys; from jitlint.knowledge import load; load().function('jax.numpy.sum');"
        "print(sorted({'jax', 'numpy', 'libcst', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_text_can_stand_in_for_a_file() -> None:
    file = LibraryFile(
        Path("x.toml"), '# comment\n[library]\nname = "x"\ndefault = { effect = "io" }\n[functions."a.b"]\n'
    )
    assert file.function("a.b").effect == "io"
    assert file.names("functions") == ["a.b"]
