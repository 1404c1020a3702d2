"""Runs something right after a module was imported, without importing anything much before."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import importlib.machinery
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import Any

    Hook = Callable[[ModuleType], None]


class _Waiting:
    """A finder that runs a hook right after a module was imported, then leaves ``sys.meta_path``."""

    def __init__(self, name: str, hook: Hook) -> None:
        self._name = name
        self._hook = hook

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec that the other finders have, with the hook behind its loader."""
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec: Any = find(fullname, path, target) if find is not None else None
            if spec is not None:
                break
        else:
            sys.meta_path.insert(0, self)
            return None
        self._run_after(spec)
        return spec  # type: ignore[no-any-return]

    def _run_after(self, spec: importlib.machinery.ModuleSpec) -> None:
        loader: Any = spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module: ModuleType) -> None:
            # The loader goes back to what it was before the module can look at it.
            vars(loader).pop("exec_module", None)
            execute(module)
            self._hook(module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            sys.meta_path.append(self)


def when_imported(name: str, hook: Hook) -> None:
    """Run ``hook`` on the module ``name`` once it is imported, which may have happened already."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        hook(module)
    else:
        sys.meta_path.insert(0, _Waiting(name, hook))
