"""The project: its modules, their names, and what their imports mean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from jitlint.collector import collector_paused
from jitlint.project.config import Config, ConfigResolver
from jitlint.project.discovery import Discovery, absolute_path, discover, display_path, is_excluded
from jitlint.project.index import Unparsable, index_source
from jitlint.project.layout import Layout
from jitlint.project.model import Module, ModuleIndex, Skipped, Unreadable
from jitlint.project.notebook import Notebook, OtherLanguage, parse_notebook
from jitlint.project.sources import Source, read_source

# Installed libraries that projects like to name folders and files after. Such a file next to a script is hardly ever
# what ``import jax`` means; only a regular package of that name is, in the sources of the library itself.
LIBRARIES = frozenset(
    {"jax", "jaxlib", "numpy", "scipy", "flax", "optax", "equinox", "haiku", "chex", "numpyro", "distrax", "brax"}
    | {"orbax", "diffrax", "jaxtyping", "jaxopt", "torch", "tensorflow", "pandas", "matplotlib", "numba", "triton"}
)

_EMPTY_INDEX = ModuleIndex((), frozenset(), mentions_jax=False)

Indexer = Callable[..., ModuleIndex]


def load_project(
    paths: Iterable[Path | str],
    config: Config | ConfigResolver,
    *,
    stdin: tuple[str, str] | None = None,
    overlay: Mapping[str, str] | None = None,
    indexer: Indexer = index_source,
) -> SourceProject:
    """Read what is to be checked under ``paths`` into a project.

    ``stdin`` is a file name and the text that stands for that file (which need not exist). ``overlay`` holds texts
    that replace those of files, by display or absolute path: module texts, so for a notebook that of all its cells.
    ``indexer`` is what indexes a text, for a cache to step in; it is called as :func:`index_source` is.

    Files that cannot be read or parsed are in ``unreadable``. Raises ``ConfigError`` only.
    """
    project = SourceProject(config, overlay or {}, indexer)
    with collector_paused():
        if stdin is not None:
            project.add_stdin(*stdin)
        project.add_discovered(discover(paths, config))
    return project


class SourceProject:
    """The modules under analysis and, as imports ask for them, their neighbours. Implements ``model.Project``."""

    def __init__(self, config: Config | ConfigResolver, overlay: Mapping[str, str], indexer: Indexer) -> None:
        self._config = config
        self._overlay = {absolute_path(name): text for name, text in overlay.items()}
        self._indexer = indexer
        self._given: set[Path] = set()
        """Files that a text was given for."""
        self._checked: dict[Path, Module] = {}
        self._neighbours: dict[Path, Module | None] = {}
        self._namespaces: dict[Path, Module] = {}
        self._names: set[str] = set()
        self._unreadable: list[Unreadable] = []
        self._skipped: list[Skipped] = []
        self._layout = Layout()
        self._resolved: dict[tuple[Path, bool, str, int], Module | None] = {}
        self._parents: tuple[int, set[Path]] = (0, set())
        """How many modules were checked when it was asked last, and the answer."""

    @property
    def modules(self) -> tuple[Module, ...]:
        """The modules to report on, then those loaded so far because one imports them; each sorted by display path."""
        neighbours = [module for module in self._neighbours.values() if module is not None]
        return (*_by_display(self._checked.values()), *_by_display(neighbours))

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """Files that could not be read or parsed, sorted by display path."""
        return tuple(sorted(self._unreadable, key=lambda fault: (fault.display, fault.row, fault.column)))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was found under the given paths and left alone."""
        return tuple(self._skipped)

    def config_for(self, module: Module) -> Config:
        """The configuration that holds for ``module``; raises ``ConfigError``."""
        return self._config_for(module.path.parent)

    def add_discovered(self, found: Discovery) -> None:
        """Load the files of a discovery as modules to report on, but for those that standard input stands for."""
        self._unreadable += found.missing
        self._skipped += found.skipped
        for path in found.files:
            if path in self._given:
                continue
            try:
                source = read_source(path)
            except Unparsable as fault:
                self._unreadable.append(_unreadable(path, display_path(path), fault))
            else:
                self._add_checked(path, display_path(path), source)

    def add_stdin(self, filename: str, text: str) -> None:
        """Load ``text`` as the file ``filename``, unless ``force-exclude`` leaves that out."""
        path = absolute_path(filename)
        config = self._config_for(path.parent)
        if config.force_exclude and is_excluded(path, config):
            self._skipped.append(Skipped(path, "excluded by the configuration (force-exclude)"))
            return
        self._given.add(path)
        self._add_checked(path, filename, Source(text.removeprefix("\ufeff"), "utf-8"))

    def add_neighbour(self, path: Path) -> Module | None:
        """Load the file at the absolute ``path`` as a module that is run and not reported on; None if it is unreadable.

        A module that is reported on already stays so.
        """
        return self._load_neighbour(path)

    def resolve(self, importer: Module, dotted: str, level: int = 0) -> Module | None:
        """What ``import dotted`` means in ``importer``; see :meth:`jitlint.project.model.Project.resolve`."""
        key = (importer.path.parent, importer.is_package, dotted, level)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(importer, dotted, level)
        found = self._resolved[key]
        return None if found is importer and level == 0 and not importer.is_package else found

    def submodules(self, package: Module) -> list[str]:
        """The names of the modules and packages directly in a package, sorted."""
        return self._layout.members(package.path.parent)

    # --- loading ---

    def _config_for(self, directory: Path) -> Config:
        return self._config if isinstance(self._config, Config) else self._config.for_directory(directory)

    def _add_checked(self, path: Path, display: str, source: Source) -> None:
        """Add the module to report on, or to what is unreadable or skipped."""
        notebook = None
        overlaid = self._overlay.get(path)
        text = source.text if overlaid is None else overlaid
        try:
            if path.suffix == ".ipynb":
                notebook, text = self._read_notebook(path, display, source.text, overlaid)
            self._checked[path] = self._module(path, display, text, source.encoding, notebook, reported=True)
        except OtherLanguage as fault:
            self._skipped.append(Skipped(path, fault.message))
        except Unparsable as fault:
            self._unreadable.append(_unreadable(path, display, fault))

    def _read_notebook(self, path: Path, display: str, document: str, overlaid: str | None) -> tuple[Notebook, str]:
        """The notebook and its module text, without cells that do not parse, which are reported."""
        notebook, faults = parse_notebook(document).without_faulty_cells()
        if overlaid is not None:
            notebook, faults = parse_notebook(notebook.rewritten(overlaid)).without_faulty_cells()
        for number, fault in faults:
            self._unreadable.append(Unreadable(path, display, fault.row, fault.column, fault.message, number))
        return notebook, notebook.text

    def _module(
        self, path: Path, display: str, text: str, encoding: str, notebook: Notebook | None, *, reported: bool
    ) -> Module:
        name, is_package = self._layout.name_of(path, self._config_for(path.parent))
        package = name if is_package else name.rpartition(".")[0]
        index = self._indexer(text, package=package)
        return Module(
            name=self._unique(name, path),
            path=path,
            display=display,
            text=text,
            is_package=is_package,
            index=index,
            reported=reported,
            encoding=encoding,
            notebook=notebook,
        )

    def _unique(self, name: str, path: Path) -> str:
        """``name``, or where a module of another directory has it, the longer name from the root of the project."""
        if name in self._names:
            root = self._layout.project_root(path.parent)
            name = ".".join(path.relative_to(root).with_suffix("").parts)
        candidate, number = name, 1
        while candidate in self._names:
            number += 1
            candidate = f"{name}#{number}"
        self._names.add(candidate)
        return candidate

    def _load_neighbour(self, path: Path) -> Module | None:
        """The module at ``path``: a checked one, or one that is read now for its definitions, or None if unreadable."""
        if path in self._checked:
            return self._checked[path]
        if path not in self._neighbours:
            try:
                source = read_source(path)
                text = self._overlay.get(path, source.text)
                module = self._module(path, display_path(path), text, source.encoding, None, reported=False)
            except Unparsable:
                module = None
            self._neighbours[path] = module
        return self._neighbours[path]

    # --- imports ---

    def _resolve(self, importer: Module, dotted: str, level: int) -> Module | None:
        parts = tuple(part for part in dotted.split(".") if part)
        if level > 0:
            base = importer.path.parent
            for _ in range(level - 1):
                base = base.parent
            return self._find(base, parts)
        if not parts:
            return None
        for base, allowed in self._import_roots(importer, parts[0]):
            if allowed and (found := self._find(base, parts)) is not None:
                return found
        return None

    def _find(self, base: Path, parts: tuple[str, ...]) -> Module | None:
        found = self._layout.find(base, parts)
        if found is None:
            return None
        if found.suffix in (".py", ".pyi"):
            return self._load_neighbour(found)
        if found not in self._namespaces:
            self._namespaces[found] = Module(
                name=".".join(parts),
                path=found / "__init__.py",
                display=display_path(found),
                text="",
                is_package=True,
                index=_EMPTY_INDEX,
                reported=False,
            )
        return self._namespaces[found]

    def _import_roots(self, importer: Module, top: str) -> Iterator[tuple[Path, bool]]:
        """The directories that an absolute import in ``importer`` looks into, and whether ``top`` may be found there.

        In order: a script's own directory, the parent of the importer's package, the source roots, the project, the
        parents of packages that are checked in the same run, and last the importer's own directory, for modules of a
        package that are run as scripts. Installed libraries lie side by side and have nothing else in common: what one
        of them imports of another is a library to it, as anywhere else; in its own directory, what is none of them.
        """
        own = importer.path.parent
        is_installed = top in LIBRARIES or top in sys.stdlib_module_names
        installation = self._layout.installation(own)
        if installation is not None:
            yield installation, importer.path.relative_to(installation).parts[0] in (top, f"{top}.py")
            yield own, not is_installed and self._layout.find(installation, (top,)) is None
            return
        in_package = self._layout.is_regular_package(own)
        is_script_module = top not in LIBRARIES
        if not in_package:
            yield own, is_script_module
        for base in (self._layout.package_parent(own), *self._layout.source_roots(own, self._config_for(own))):
            yield base, not is_installed or self._layout.is_regular_package(base / top)
        if not is_installed:
            parents = self._package_parents()
            candidates = sorted(parent for parent in parents if self._layout.is_regular_package(parent / top))
            if len(candidates) == 1:
                yield candidates[0], True
        yield own, not is_installed

    def _package_parents(self) -> set[Path]:
        """The parents of the packages that are checked."""
        known, parents = self._parents
        if known != len(self._checked):
            folders = {path.parent for path in self._checked}
            parents = {self._layout.package_parent(each) for each in folders if self._layout.is_regular_package(each)}
            self._parents = len(self._checked), parents
        return parents


def _by_display(modules: Iterable[Module]) -> list[Module]:
    return sorted(modules, key=lambda module: module.display)


def _unreadable(path: Path, display: str, fault: Unparsable) -> Unreadable:
    return Unreadable(path, display, fault.row, fault.column, fault.message)
