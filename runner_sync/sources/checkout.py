"""Read git checkouts: any revision from the object database, the work tree as it is, a file's history.

Comes in: a folder in a git repository and a revision. Goes out: trees, ``Revision`` lists, blob texts, dirty paths. May
touch: the repository through ``repository``, read only: neither the work tree nor the index is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from runner_sync.errors import InputError
from runner_sync.model import TITLES, Project, Source
from runner_sync.sources import changes, layout, remembering, version
from runner_sync.sources.folder import FolderTree, find_root, read_version_file
from runner_sync.sources.repository import Repository, open_repository
from runner_sync.user_paths import resolved

if TYPE_CHECKING:
    from runner_sync.model import Revision

_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")


class _GitTree:
    """Base of both git trees. ``prefix`` is the project's root in the repository (``""`` or ``some/folder/``)."""

    source: Source
    repository: Repository
    prefix: str
    _end: str | None = None
    """The commit that the tree shows; ``None`` is the work tree."""

    def history(self, *places: str) -> list[Revision]:
        """Return every revision of a file reachable from this tree's commit, newest first, including side branches.

        The file may have stood at several ``places``; where two of them exist, the first counts. A merge is listed only
        if its text differs from the text of every parent.
        """
        if self.source.revision is None:
            return []
        from runner_sync.sources import history  # a `check` asks for none

        names = {self.prefix + path: path for path in places}
        return history.read_revisions(self.repository, self.source.revision, names)

    def steps(self, paths: Sequence[str]) -> list[list[Revision]]:
        """Return the new revisions of ``paths`` for each first-parent commit that changed any of them, newest commit
        first.

        A merge counts as one commit that made all changes of its side branch.
        """
        if self.source.revision is None:
            return []
        from runner_sync.sources import history

        names = {self.prefix + path: path for path in paths}
        return history.read_steps(self.repository, self.source.revision, names)

    def read_blob(self, blob: str) -> str:
        """Return the text of a blob named by ``history`` or ``steps``, with LF newlines."""
        return layout.decode(self.repository.blob(blob), f"git object {blob[:10]}")

    def fork_point(self, since: str) -> str:
        """Return the commit at which this branch left ``since``. Raises ``InputError`` for an unknown revision."""
        if since not in self._fork_points:
            head = str(self.source.revision or "HEAD")
            self._fork_points[since] = changes.find_fork_point(self.repository, since, head)
        return self._fork_points[since]

    def changed_lines(self, since: str) -> dict[str, frozenset[int]]:
        """Return, by path, the 1-based lines that changed from where the branch left ``since`` to this tree.

        Raises ``InputError`` for an unknown revision.
        """
        return changes.find_changed_lines(self.repository, self.fork_point(since), to=self._end, prefix=self.prefix)

    def renamed(self, since: str) -> dict[str, str]:
        """Return ``{path now: path then}`` of the tracked files renamed since the branch left ``since``."""
        return changes.find_renames(self.repository, self.fork_point(since), to=self._end, prefix=self.prefix)

    @cached_property
    def _fork_points(self) -> dict[str, str]:
        """The fork points found so far: a run needs them for the changed lines of a branch and for the tree it began
        from."""
        return {}

    def is_shallow(self) -> bool:
        """Whether the clone has only a part of the history."""
        return self.repository.is_shallow()

    def list_missing(self, commits: Sequence[str]) -> list[str]:
        """Return those of ``commits`` that the repository does not have."""
        return self.repository.list_missing(commits)

    def release_before(self) -> str | None:
        """Return the nearest version tag among the ancestors of this commit; ``None`` unless this commit has one
        itself."""
        commit = str(self.source.revision)
        if self.source.revision is None or version.find_in_tags(self.repository.list_tags_at(commit)) is None:
            return None
        return self.repository.find_tag_before(commit, "v[0-9]*", "[0-9]*")


class WorkTree(FolderTree, _GitTree):
    """The files of a git checkout as they are, committed or not; ``source.revision`` is the commit of HEAD."""

    def __init__(self, source: Source, root: Path, *, repository: Repository, prefix: str) -> None:
        super().__init__(source, root)
        self.repository = repository
        self.prefix = prefix

    def dirty(self, paths: Iterable[str]) -> list[str]:
        """Return those of ``paths`` whose present content git could not restore, sorted.

        These files are modified, staged, conflicted, or untracked (ignored files included). For a symbolic link its
        target counts as well, because the target is what would be written.
        """
        names_of = {path: self._find_git_paths(path) for path in sorted(set(paths))}
        names = sorted({name for names in names_of.values() for name in names})
        if not names:
            return []
        changed, tracked = self._find_changed(names)
        untracked = {name for name in names if self._exists(name)} - tracked
        return [path for path, names in names_of.items() if not (changed | untracked).isdisjoint(names)]

    def is_changed(self) -> bool:
        """Whether any tracked file of the project differs from the commit checked out."""
        changed, _ = self._find_changed([self.prefix or "."])
        return bool(changed)

    def _find_changed(self, names: Sequence[str]) -> tuple[set[str], set[str]]:
        """Return the paths among and below ``names`` that differ from the checked-out commit, and all tracked ones."""
        status = self.repository.run_on_files("--literal-pathspecs", *_STATUS, "--", *names)
        listed = self.repository.run("--literal-pathspecs", "ls-files", "-v", "-z", "--", *names)
        flags = {entry[2:]: entry[:1] for entry in listed.split("\0") if entry}
        changed = {entry[3:] for entry in status.split("\0") if entry}
        return changed | {name for name, flag in flags.items() if flag != "H" and self._is_edited(name)}, {*flags}

    def _is_edited(self, name: str) -> bool:
        """Whether a file differs from the index although ``git status`` may not report it.

        Git ignores files marked ``--assume-unchanged`` or ``--skip-worktree``; a sparse checkout also marks absent
        files so.
        """
        if not self._exists(name):
            return False
        staged = self.repository.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", name)
        present = self.repository.run("hash-object", "--no-filters", "--", name)
        return present.strip() not in staged.split()

    def _find_git_paths(self, path: str) -> set[str]:
        """Return a file's paths in the repository: its own path and, for a symbolic link, the path of its target.

        Linked folders are resolved, because git tracks no path through a link, only the file in the linked folder.
        """
        file = self.root / path
        places = (resolved(file.parent) / file.name, resolved(file))
        found = [(self.repository.make_prefix(place.parent), place.name) for place in places]
        return {f"{folder}{name}" for folder, name in found if folder is not None} or {self.prefix + path}

    def changed_lines(self, since: str) -> dict[str, frozenset[int]]:
        """Return the changed lines as for every git tree; all lines of an untracked file count."""
        found = super().changed_lines(since)
        for path in changes.list_untracked(self.repository, prefix=self.prefix):
            if path.endswith(".py"):
                found[path] = frozenset(range(1, (self.read(path) or "").count("\n") + 2))
        return found

    def _exists(self, name: str) -> bool:
        file = self.repository.place / name
        return os.path.lexists(file) and not file.is_dir()


class RevisionTree(_GitTree):
    """A tree read from git's object database at one commit; the work tree is ignored."""

    def __init__(self, source: Source, *, repository: Repository, prefix: str) -> None:
        self.source = source
        self.repository = repository
        self.prefix = prefix
        self._end = str(source.revision)
        self._read_recent = lru_cache(maxsize=layout.RECENT)(self._read_text)

    @cached_property
    def _blobs(self) -> dict[str, str]:
        return self.repository.list_blobs(str(self.source.revision), self.prefix)

    def read(self, path: str) -> str | None:
        """Return the text of ``path`` with LF newlines; ``None`` if the commit has no such regular file."""
        return self._read_recent(path) if path in self._blobs else None

    def _read_text(self, path: str) -> str:
        return layout.decode(self.repository.blob(self._blobs[path]), f"{path} at {self.source.ref}")

    def paths(self, prefix: str = "") -> list[str]:
        """Return every ``.py`` path of the package below ``prefix``, sorted."""
        return layout.select_package_files(self._blobs, self.source.project, prefix=prefix)

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """Return ``{path: find(text)}`` for every file, from an earlier run if the file's git object was the same
        then."""
        states = {path: self._blobs[path] for path in self.paths()}
        near = f"{self.repository.place} {self.prefix}"
        return remembering.compute_cached(
            what, f"{near}{self.source.revision}", states, lambda path: find(self.read(path) or ""), near=near
        )


def open_checkout(project: Project, place: Path, *, ref: str | None) -> WorkTree | RevisionTree | None:
    """Open a folder inside a git repository; ``None`` if git does not track the project there.

    Raises ``InputError`` for an unknown revision and for a revision that has no such project in that folder.
    """
    repository = open_repository(place)
    if repository is None:
        return None
    if ref is None and not repository.is_bare:
        return _open_work_tree(project, place, repository)
    commit = repository.resolve(ref or "HEAD")
    prefix = _find_prefix(commit, project, repository=repository, inside=repository.make_prefix(place))
    if prefix is None:
        package = layout.PACKAGES[project]
        raise InputError(
            f"{place} holds no {package}/__init__.py at {ref or 'HEAD'}: give a revision of {TITLES[project]}."
        )
    return _open_revision_tree(Source(project, "git", str(place), None, commit), repository, prefix=prefix)


def _open_work_tree(project: Project, place: Path, repository: Repository) -> WorkTree | None:
    root = find_root(project, place)
    prefix = repository.make_prefix(root)
    init = f"{prefix}{layout.PACKAGES[project]}/__init__.py"
    # A site-packages folder in a checkout of another project, which ignores it, is a plain folder.
    if prefix is None or not repository.run("--literal-pathspecs", "ls-files", "--", init):
        return None
    commit, tags = repository.read_head()
    tree = WorkTree(Source(project, "git", str(root), None, commit), root, repository=repository, prefix=prefix)
    found = version.find_in_tags(tags)
    found = found or version.find_in_texts(tree.metadata(), read_version_file(tree))
    if not version.is_stale(found, commit):
        tree.source = replace(tree.source, version=found)
    return tree


def _open_revision_tree(source: Source, repository: Repository, *, prefix: str) -> RevisionTree:
    tree = RevisionTree(source, repository=repository, prefix=prefix)
    found = version.find_in_tags(repository.list_tags_at(str(source.revision))) or version.find_in_texts(
        None, read_version_file(tree)
    )
    tree.source = replace(source, version=found)
    return tree


def _find_prefix(commit: str, project: Project, *, repository: Repository, inside: str | None) -> str | None:
    """Return the project's root in the repository at ``commit``; ``inside`` is that folder or the package folder."""
    package = layout.PACKAGES[project]
    choices = [inside or ""]
    if inside and PurePosixPath(inside).name == package:
        choices.append(inside.removesuffix(f"{package}/"))
    for prefix in choices:
        if repository.run("ls-tree", "--full-tree", "--name-only", commit, "--", f"{prefix}{package}/__init__.py"):
            return prefix
    return None
