"""Every row names something that the installed library has, with the parameters that it has."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("jax")

from jitlint.knowledge import FunctionModel, LibraryFile, load
from tests.knowledge import probing

KNOWLEDGE = load()


def importable(library: str) -> bool:
    top = library.partition(".")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module(top)
        except Exception:
            return False
    return True


def installed() -> list[str]:
    """Libraries that can be imported here, in the version the rows were read off (stdlib ones in any)."""
    return [name for name in KNOWLEDGE.libraries() if importable(name)]


def has_tested_version(file: LibraryFile) -> bool:
    distribution, _, version = (file.tested or "").partition(" ")
    version = version.split(",")[0].split(" ")[0]
    try:
        return importlib.metadata.version(distribution) == version
    except importlib.metadata.PackageNotFoundError:
        return distribution == "Python" and version == f"{sys.version_info[0]}.{sys.version_info[1]}"


def functions(file: LibraryFile) -> Iterator[FunctionModel]:
    for name in file.names("functions"):
        yield file.function(name)


@pytest.mark.parametrize("library", installed())
def test_rows_name_what_exists(library: str) -> None:
    file = KNOWLEDGE.file(library)
    if not has_tested_version(file):
        pytest.skip(f"the rows were read off {file.tested}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gone = [model.name for model in functions(file) if model.removed is None and probing.found(model.name) is None]
        back = [model.name for model in functions(file) if model.removed and probing.found(model.name) is not None]
        classes = [f"{library}.{name}" for name in file.names("classes") if probing.found(f"{library}.{name}") is None]
        constants = [name for name in file.constants if name != "newaxis" and not _exists(f"{library}.{name}")]
    assert not gone, "rows of functions that are not there"
    assert not back, "rows marked as removed that are there"
    assert not classes, "rows of classes that are not there"
    assert not constants, "constants that are not there"


def _exists(dotted: str) -> bool:
    try:
        probing.resolve(dotted)
    except (AttributeError, ImportError):
        return False
    return True


@pytest.mark.parametrize("library", installed())
def test_rows_have_the_parameters_of_the_library(library: str) -> None:
    file = KNOWLEDGE.file(library)
    if not has_tested_version(file):
        pytest.skip(f"the rows were read off {file.tested}")
    wrong = {}
    for model in functions(file):
        call = probing.found(model.name)
        if model.params is None or call is None:
            continue
        signature = probing.signature(call)
        if signature is None or is_loose(signature):
            continue
        told = [(param.name, param.kind, param.optional) for param in model.params if not param.name.startswith("_")]
        real = [parameter(param) for param in signature.parameters.values() if not param.name.startswith("_")]
        if told != real:
            wrong[model.name] = (told, real)
    assert not wrong


def is_loose(signature: inspect.Signature) -> bool:
    """``(*args, **kwargs)`` says nothing: the row's own parameters are from the documentation."""
    kinds = {param.kind for param in signature.parameters.values()}
    return kinds <= {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def parameter(param: inspect.Parameter) -> tuple[str, str, bool]:
    kinds = {
        param.POSITIONAL_ONLY: "positional",
        param.POSITIONAL_OR_KEYWORD: "either",
        param.KEYWORD_ONLY: "keyword",
        param.VAR_POSITIONAL: "args",
        param.VAR_KEYWORD: "kwargs",
    }
    loose = param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD)
    return (param.name, kinds[param.kind], loose or param.default is not param.empty)


@pytest.mark.parametrize("library", installed())
def test_aliases_lead_to_rows(library: str) -> None:
    lost = []
    for alias, target in KNOWLEDGE.file(library).aliases.items():
        model = KNOWLEDGE.function(target)
        known = model is not None and model.documented
        if not known and KNOWLEDGE.class_(target) is None and not _is_module(target):
            lost.append(f"{alias} -> {target}")
    assert not lost


def _is_module(dotted: str) -> bool:
    return inspect.ismodule(probing.found(dotted)) or KNOWLEDGE.constant(dotted) is not None


def methods() -> list[tuple[str, str]]:
    return [(kind, name) for kind in ("jax.Array", "numpy.ndarray") for name in KNOWLEDGE.file(kind).names("methods")]


@pytest.mark.parametrize(("kind", "name"), methods())
def test_methods_exist_with_their_parameters(kind: str, name: str) -> None:
    jax = pytest.importorskip("jax")
    np = pytest.importorskip("numpy")
    value: Any = jax.numpy.arange(4.0) if kind == "jax.Array" else np.arange(4.0)
    owner = value.at[0] if name.startswith("at.") else value
    method = getattr(type(owner), name.removeprefix("at."))
    if method is None:
        assert name == "__hash__"
        return
    model = KNOWLEDGE.file(kind).method(name).call
    signature = probing.signature(method)
    if model.params is None or signature is None or is_loose(signature) or name in ("reshape", "transpose"):
        return
    own = list(signature.parameters.values())[1:]
    if is_loose(inspect.Signature(own)):
        return
    real = [parameter(param) for param in own]
    assert [(param.name, param.kind, param.optional) for param in model.params] == real
