"""Loads the recorder at the start of a Python process, then the ``sitecustomize`` that would have run without it.

``jitlint trace`` puts this folder first on ``PYTHONPATH``. Nothing else of jitlint need be installed for this Python.
"""

import sys


def _load_recorder() -> None:
    import importlib.util
    import os

    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "runtime")
    name = "jitlint.recorder.runtime"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    importlib.import_module(f"{name}.startup").start_from_environment()


def _load_next() -> None:
    import importlib
    import os

    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != own]
    this = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if this is not None:
            sys.modules["sitecustomize"] = this


try:
    _load_recorder()
except Exception as error:
    print(f"jitlint: this process is not recorded: {type(error).__name__}: {error}", file=sys.stderr)
_load_next()
