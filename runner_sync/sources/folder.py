"""Read a plain unpacked tree.

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
        """Return the text of ``path`` with LF newlines; ``None`` if there is no such regular file.

        Raises ``InputError`` for a link that leads nowhere: whoever made it meant a file, and without it a run would
        silently leave out what the file holds.
        """
        if path not in self._texts:
            self._texts[path] = self._read_file(path)
        return self._texts[path]

    def peek(self, path: str) -> str | None:
        """Return what ``read`` returns without keeping it, unless it is kept already."""
        return self._texts[path] if path in self._texts else self._read_file(path)

    @cached_property
    def _texts(self) -> dict[str, str | None]:
        """The texts read so far, so that a run sees each file in one state only."""
        return {}

    def _read_file(self, path: str) -> str | None:
        if not layout.is_inside(path):
            return None
        file = self.root / path
        try:
            if not file.is_file():
                if _is_broken_link(file):
                    raise InputError(f"{file} is a symbolic link that leads to no file: mend or remove it.")
                return None
            layout.check_size(file.stat().st_size, str(file))
            return layout.decode(file.read_bytes(), str(file))
        except OSError as error:
            raise InputError(f"cannot read {file} ({error.strerror or error}): check its permissions.") from error

    def paths(self, prefix: str = "") -> list[str]:
        """Return every ``.py`` path of the package below ``prefix``, sorted.

        Editors mark an open file by a link beside it that leads nowhere, so such links are not listed.
        """
        package, folder = layout.PACKAGES[self.source.project], prefix.removesuffix("/")
        is_folder = folder != prefix and folder.startswith(f"{package}/") and layout.is_inside(folder)
        # Listing the whole package would take a tenth of the time of a `check`, which needs one folder.
        top = folder if is_folder and package not in self._listed else package
        if top not in self._listed:
            found = (file.relative_to(self.root).as_posix() for file in _iter_python_files(self.root / top))
            self._listed[top] = layout.select_package_files(found, self.source.project)
        return [path for path in self._listed[top] if layout.is_below(path, prefix)]

    @cached_property
    def _listed(self) -> dict[str, list[str]]:
        """The Python files of each folder listed so far, so that a run sees each folder in one state only."""
        return {}

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """Return ``{path: find(text)}`` for every file, from an earlier run if the file's size and times are the
        same."""
        states = {path: self._get_state(path) for path in self.paths()}
        return remembering.compute_cached(
            what, str(resolved(self.root)), states, lambda path: find(self._read_file(path) or "")
        )

    def _get_state(self, path: str) -> str:
        try:
            facts = (self.root / path).stat()
        except OSError:
            return ""
        # Any program can set the modification time (mtime) back, but not the time of the last change (ctime).
        return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"

    def metadata(self) -> str | None:
        """Return the text of the core metadata (``PKG-INFO`` or ``*.dist-info/METADATA``), if any."""
        own = self.read(layout.METADATA)
        if own is not None:
            return own
        package = layout.PACKAGES[self.source.project]
        for info in sorted(self.root.glob(f"{package}-*.dist-info")):
            return self.read(f"{info.name}/METADATA")
        return None


def open_folder(project: Project, place: Path) -> FolderTree:
    """Open a plain unpacked tree without consulting git."""
    root = find_root(project, place)
    tree = FolderTree(Source(project, "path", str(root)), root)
    tree.source = replace(tree.source, version=version.find_in_texts(tree.metadata(), read_version_file(tree)))
    return tree


def open_part(project: Project, place: Path) -> FolderTree:
    """Open a folder that may hold a part of the project's tree only, as the files that an upgrade wrote elsewhere."""
    root = resolved(place)
    return FolderTree(Source(project, "path", str(root)), root)


def read_version_file(tree: Tree) -> str | None:
    """Return the text of the version file that builds write into the package, if any."""
    package = layout.PACKAGES[tree.source.project]
    return tree.read(f"{package}/_version.py") or tree.read(f"{package}/version.py")


def find_root(project: Project, place: Path) -> Path:
    """Return the folder that holds the project's package, given this folder or one inside the package.

    Raises ``InputError`` if there is none.
    """
    package = layout.PACKAGES[project]
    if (place / package / "__init__.py").is_file():
        return place
    whole = resolved(place)
    for folder in (whole, *whole.parents):
        if folder.name == package and (folder / "__init__.py").is_file():
            return folder.parent
    raise InputError(
        f"{place} is no {TITLES[project]} tree: it neither holds {package}/__init__.py nor lies in that package; "
        f"give the right folder with {layout.PATH_OPTIONS[project]}{_suggest_commit(project, place)}."
    )


def _suggest_commit(project: Project, place: Path) -> str:
    """Return the end of a sentence with another remedy for a clone whose files are not checked out; else empty."""
    option = layout.PATH_OPTIONS[project].replace("-path", "-ref")
    is_empty_clone = (place / ".git").exists() and not any(place.glob("[!.]*"))
    # The omni tree is written to, so it has no such option.
    if not is_empty_clone or project == "vllm-omni":
        return ""
    return f", or a commit of this clone, which has no files checked out, with {option}"


def _iter_python_files(top: Path) -> Iterator[Path]:
    """Yield the Python files below a folder. Linked folders are followed, because ``read`` follows them, too."""
    for folder, names, files in os.walk(top, followlinks=True):
        names[:] = [name for name in names if name not in _SKIPPED and not name.startswith(".")]
        names[:] = [name for name in names if not _is_link_back(Path(folder, name))]
        places = (Path(folder, file) for file in files if file.endswith(".py"))
        yield from (place for place in places if not _is_broken_link(place))


def _is_broken_link(place: Path) -> bool:
    """Whether a file is a link that leads to nothing, or in a circle."""
    return place.is_symlink() and not place.exists()


def _is_link_back(place: Path) -> bool:
    """Whether a folder is a link to one of its own parents, by its own path or by the path of a link on the way."""
    if not place.is_symlink():
        return False
    target = os.path.realpath(place)
    return any(Path(os.path.realpath(above)).is_relative_to(target) for above in place.absolute().parents)
