"""A plain unpacked tree.

Comes in: a path. Goes out: a ``Tree``. May touch: files below the path, read only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.model import TITLES, Project, Source
from runner_sync.sources import layout, remembering, version
from runner_sync.trees import Tree
from runner_sync.user_paths import resolved

_SKIPPED = frozenset({"__pycache__", "node_modules"})


@dataclass(eq=False)
class FolderTree:
    """A tree of files on disk. ``root`` is the folder that holds the package folder."""

    source: Source
    root: Path

    def read(self, path: str) -> str | None:
        """Text of ``path`` with LF newlines, or ``None`` when there is no such regular file."""
        if path not in self._texts:
            self._texts[path] = self._text(path)
        return self._texts[path]

    @cached_property
    def _texts(self) -> dict[str, str | None]:
        """The texts read so far, so that a run sees every file in one state."""
        return {}

    def _text(self, path: str) -> str | None:
        if not layout.is_inside(path):
            return None
        file = self.root / path
        try:
            if not file.is_file():
                return None
            layout.check_size(file.stat().st_size, str(file))
            return layout.decode(file.read_bytes(), str(file))
        except OSError as error:
            raise InputError(f"cannot read {file} ({error.strerror or error}): check its permissions.") from error

    def paths(self, prefix: str = "") -> list[str]:
        """Every ``.py`` path of the package below ``prefix``, sorted."""
        package, folder = layout.PACKAGES[self.source.project], prefix.removesuffix("/")
        is_folder = folder != prefix and folder.startswith(f"{package}/") and layout.is_inside(folder)
        # Listing the whole package would take a tenth of the time of a `check`, which needs one folder of it.
        top = folder if is_folder and package not in self._listed else package
        if top not in self._listed:
            found = (file.relative_to(self.root).as_posix() for file in _python_files(self.root / top))
            self._listed[top] = layout.package_files(found, self.source.project)
        return [path for path in self._listed[top] if layout.is_below(path, prefix)]

    @cached_property
    def _listed(self) -> dict[str, list[str]]:
        """The files of the folders listed so far, for the same reason."""
        return {}

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """``{path: find(text)}`` for every file, from an earlier run if its size and times were the same then."""
        states = {path: self._state(path) for path in self.paths()}
        return remembering.remembered(what, str(resolved(self.root)), states, lambda path: find(self._text(path) or ""))

    def _state(self, path: str) -> str:
        try:
            facts = (self.root / path).stat()
        except OSError:
            return ""
        # The content's time (mtime) can be set back by any program, the time of the last change of any kind cannot.
        return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"

    def metadata(self) -> str | None:
        """Text of the distribution's core metadata (``PKG-INFO`` or ``*.dist-info/METADATA``), if there is one."""
        own = self.read(layout.METADATA)
        if own is not None:
            return own
        package = layout.PACKAGES[self.source.project]
        for info in sorted(self.root.glob(f"{package}-*.dist-info")):
            return self.read(f"{info.name}/METADATA")
        return None


def open_folder(project: Project, place: Path) -> FolderTree:
    """Open a plain unpacked tree, without asking git about it."""
    root = find_root(project, place)
    tree = FolderTree(Source(project, "path", str(root)), root)
    return replace(tree, source=replace(tree.source, version=version.of_texts(tree.metadata(), version_text(tree))))


def version_text(tree: Tree) -> str | None:
    """Text of the version file that builds write into the package, if there is one."""
    package = layout.PACKAGES[tree.source.project]
    return tree.read(f"{package}/_version.py") or tree.read(f"{package}/version.py")


def find_root(project: Project, place: Path) -> Path:
    """The folder that holds the project's package, given it or a folder inside the package. Raises ``InputError``."""
    package = layout.PACKAGES[project]
    if (place / package / "__init__.py").is_file():
        return place
    whole = resolved(place)
    for folder in (whole, *whole.parents):
        if folder.name == package and (folder / "__init__.py").is_file():
            return folder.parent
    raise InputError(
        f"{place} is no {TITLES[project]} tree: it neither holds {package}/__init__.py nor lies in that package; "
        f"give the right folder with {layout.PATH_OPTIONS[project]}{_or_a_commit(project, place)}."
    )


def _or_a_commit(project: Project, place: Path) -> str:
    """The end of a sentence with another remedy, for a clone whose files are not checked out; else empty."""
    option = layout.PATH_OPTIONS[project].replace("-path", "-ref")
    is_empty_clone = (place / ".git").exists() and not any(place.glob("[!.]*"))
    # The omni tree is written to, so it has no such option.
    if not is_empty_clone or project == "vllm-omni":
        return ""
    return f", or a commit of this clone, which has no files checked out, with {option}"


def _python_files(top: Path) -> Iterator[Path]:
    """The Python files below a folder, also in folders that are symbolic links, which ``read`` follows, too."""
    for folder, names, files in os.walk(top, followlinks=True):
        names[:] = [name for name in names if name not in _SKIPPED and not name.startswith(".")]
        names[:] = [name for name in names if not _leads_back(Path(folder, name))]
        yield from (Path(folder, file) for file in files if file.endswith(".py"))


def _leads_back(place: Path) -> bool:
    """Whether a folder is a link to one that it lies in, by its own path or by that of a link on the way."""
    if not place.is_symlink():
        return False
    target = os.path.realpath(place)
    return any(Path(os.path.realpath(above)).is_relative_to(target) for above in place.absolute().parents)
