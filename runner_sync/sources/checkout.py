"""Git checkouts: any revision read from the object database, the work tree as it is, a file's history.

Comes in: a folder in a git repository and a revision. Goes out: trees, ``Revision`` lists, blob texts, dirty paths.
May touch: the repository through ``repository``, read only: neither the work tree nor the index is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from runner_sync.errors import InputError
from runner_sync.model import TITLES, Project, Source
from runner_sync.sources import changes, layout, remembering, version
from runner_sync.sources.folder import FolderTree, find_root, version_text
from runner_sync.sources.repository import REGULAR_FILE, Repository, open_repository
from runner_sync.trees import Revision
from runner_sync.user_paths import resolved

_MARK = "\x01"
_WITH_ROOT = ("-c", "log.showRoot=true", "--literal-pathspecs", "log")
_LOG = (*_WITH_ROOT, "--full-history", "-c", "--raw", "--no-abbrev")
# What -m stands for; with another setting of the user's, merges are left out.
_MERGES = ("-c", "log.diffMerges=separate")
_STEPS = ("-c", "core.quotePath=false", *_MERGES, *_WITH_ROOT, "--first-parent", "-m", "--raw", "--no-abbrev")
_PLAIN = (
    "--no-renames",
    "--no-follow",
    "--no-color",
    "--no-show-signature",
    "--date-order",
    "--encoding=UTF-8",
    f"--format={_MARK}%H %s",
)
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")


class _GitTree:
    """What both git trees share. ``prefix`` is the project's root in the repository (``""`` or ``some/folder/``)."""

    source: Source
    repository: Repository
    prefix: str

    def history(self, path: str) -> list[Revision]:
        """Every revision of ``path`` reachable from this tree's commit, newest first, including side branches.

        A merge is listed only if none of its parents has the text that it made.
        """
        if self.source.revision is None:
            return []
        output = self.repository.run(*_LOG, *_PLAIN, self.source.revision, "--", self.prefix + path)
        return list(_revisions(output, path))

    def steps(self, paths: Sequence[str]) -> list[list[Revision]]:
        """For each first-parent commit that changed any of ``paths`` the new revisions of these, newest commit first.

        A merge counts as the one commit that made all changes of its side branch.
        """
        if self.source.revision is None:
            return []
        names = {self.prefix + path: path for path in paths}
        output = self.repository.run(*_STEPS, *_PLAIN, self.source.revision, "--", *names)
        return list(_steps(output, names))

    def read_blob(self, blob: str) -> str:
        """Text of a blob named by ``history`` or ``steps``, with LF newlines."""
        return layout.decode(self.repository.blob(blob), f"git object {blob[:10]}")

    def fork_point(self, since: str) -> str:
        """The commit at which this branch left ``since``. Raises ``InputError`` if git knows no such revision."""
        if since not in self._fork_points:
            head = str(self.source.revision or "HEAD")
            self._fork_points[since] = changes.fork_point(self.repository, since, head)
        return self._fork_points[since]

    @cached_property
    def _fork_points(self) -> dict[str, str]:
        """Those found so far: one run asks for the changed lines of a branch and for the tree that it began from."""
        return {}

    def release_before(self) -> str | None:
        """The nearest version tag among the ancestors of this commit; ``None`` unless this commit has one itself."""
        commit = str(self.source.revision)
        if self.source.revision is None or version.of_tags(self.repository.tags_at(commit)) is None:
            return None
        return self.repository.tag_before(commit, "v[0-9]*", "[0-9]*")


class WorkTree(FolderTree, _GitTree):
    """The files of a git checkout as they are, committed or not; ``source.revision`` is the commit of HEAD."""

    def __init__(self, source: Source, root: Path, *, repository: Repository, prefix: str) -> None:
        super().__init__(source, root)
        self.repository = repository
        self.prefix = prefix

    def dirty(self, paths: Iterable[str]) -> list[str]:
        """Those of ``paths`` whose present content git could not restore, sorted.

        That is: modified, staged, conflicted, or on disk without being tracked (ignored files included). Behind a
        symbolic link the file that it leads to counts as well, because that is the one that would be written.
        """
        names_of = {path: self._git_paths(path) for path in sorted(set(paths))}
        names = sorted({name for names in names_of.values() for name in names})
        if not names:
            return []
        changed, tracked = self._changed(names)
        untracked = {name for name in names if self._exists(name)} - tracked
        return [path for path, names in names_of.items() if not (changed | untracked).isdisjoint(names)]

    def is_changed(self) -> bool:
        """Whether any tracked file of the project differs from the commit checked out."""
        changed, _ = self._changed([self.prefix or "."])
        return bool(changed)

    def _changed(self, names: Sequence[str]) -> tuple[set[str], set[str]]:
        """The paths in the repository among and below ``names`` that differ from the commit checked out, and all that
        are tracked."""
        status = self.repository.run_on_files("--literal-pathspecs", *_STATUS, "--", *names)
        listed = self.repository.run("--literal-pathspecs", "ls-files", "-v", "-z", "--", *names)
        flags = {entry[2:]: entry[:1] for entry in listed.split("\0") if entry}
        changed = {entry[3:] for entry in status.split("\0") if entry}
        return changed | {name for name, flag in flags.items() if flag != "H" and self._is_edited(name)}, {*flags}

    def _is_edited(self, name: str) -> bool:
        """Whether a file differs from the index, of which ``git status`` need not tell: ``--assume-unchanged`` and
        ``--skip-worktree``, with which a sparse checkout also marks files that are not there."""
        if not self._exists(name):
            return False
        staged = self.repository.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", name)
        present = self.repository.run("hash-object", "--no-filters", "--", name)
        return present.strip() not in staged.split()

    def _git_paths(self, path: str) -> set[str]:
        """The paths of a file in the repository: its own, and that of the file which it is a symbolic link to.

        A folder that is a link is resolved: git tracks no path through it, but the file in the folder that it leads to.
        """
        file = self.root / path
        places = (resolved(file.parent) / file.name, resolved(file))
        found = [(self.repository.inside(place.parent), place.name) for place in places]
        return {f"{folder}{name}" for folder, name in found if folder is not None} or {self.prefix + path}

    def changed_lines(self, since: str) -> dict[str, frozenset[int]]:
        """1-based lines by path that changed from where the branch left ``since`` to the work tree as it is.

        All lines of an untracked file count. Raises ``InputError`` for an unknown revision.
        """
        found = changes.changed_lines(self.repository, self.fork_point(since), to=None, prefix=self.prefix)
        for path in changes.untracked(self.repository, prefix=self.prefix):
            if path.endswith(".py"):
                found[path] = frozenset(range(1, (self.read(path) or "").count("\n") + 2))
        return found

    def renamed(self, since: str) -> dict[str, str]:
        """``{path now: path then}`` of the tracked files that were renamed since the branch left ``since``."""
        return changes.renamed(self.repository, self.fork_point(since), to=None, prefix=self.prefix)

    def _exists(self, name: str) -> bool:
        file = self.repository.place / name
        return os.path.lexists(file) and not file.is_dir()


class RevisionTree(_GitTree):
    """A tree read from git's object database at one commit; the work tree is not looked at."""

    def __init__(self, source: Source, *, repository: Repository, prefix: str) -> None:
        self.source = source
        self.repository = repository
        self.prefix = prefix

    @cached_property
    def _blobs(self) -> dict[str, str]:
        return self.repository.blobs(str(self.source.revision), self.prefix)

    def read(self, path: str) -> str | None:
        """Text of ``path`` with LF newlines, or ``None`` when the commit has no such regular file."""
        blob = self._blobs.get(path)
        return None if blob is None else layout.decode(self.repository.blob(blob), f"{path} at {self.source.ref}")

    def changed_lines(self, since: str) -> dict[str, frozenset[int]]:
        """1-based lines by path that changed from where the branch of this revision left ``since`` to this revision."""
        start = self.fork_point(since)
        return changes.changed_lines(self.repository, start, to=str(self.source.revision), prefix=self.prefix)

    def renamed(self, since: str) -> dict[str, str]:
        """``{path now: path then}`` of the files that were renamed since the branch of this revision left ``since``."""
        start = self.fork_point(since)
        return changes.renamed(self.repository, start, to=str(self.source.revision), prefix=self.prefix)

    def paths(self, prefix: str = "") -> list[str]:
        """Every ``.py`` path of the package below ``prefix``, sorted."""
        return layout.package_files(self._blobs, self.source.project, prefix=prefix)

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """``{path: find(text)}`` for every file, from an earlier run if the file had the same git object then."""
        states = {path: self._blobs[path] for path in self.paths()}
        near = f"{self.repository.place} {self.prefix}"
        return remembering.remembered(
            what, f"{near}{self.source.revision}", states, lambda path: find(self.read(path) or ""), near=near
        )

    def metadata(self) -> str | None:
        """Text of the distribution's core metadata, which is hardly ever committed."""
        return self.read(layout.METADATA)


def open_checkout(project: Project, place: Path, *, ref: str | None) -> WorkTree | RevisionTree | None:
    """Open a folder inside a git repository, or return ``None`` when git does not track the project there.

    Raises ``InputError`` for an unknown revision and for a revision that has no such project in that folder.
    """
    repository = open_repository(place)
    if repository is None:
        return None
    if ref is None and not repository.is_bare:
        return _work_tree(project, place, repository)
    commit = repository.resolve(ref or "HEAD")
    prefix = _prefix_at(commit, project, repository=repository, inside=repository.inside(place))
    if prefix is None:
        package = layout.PACKAGES[project]
        raise InputError(
            f"{place} holds no {package}/__init__.py at {ref or 'HEAD'}: give a revision of {TITLES[project]}."
        )
    return _revision_tree(Source(project, "git", str(place), None, commit), repository, prefix=prefix)


def _work_tree(project: Project, place: Path, repository: Repository) -> WorkTree | None:
    root = find_root(project, place)
    prefix = repository.inside(root)
    init = f"{prefix}{layout.PACKAGES[project]}/__init__.py"
    # A site-packages folder often lies in a checkout of another project, which ignores it: that is a plain folder.
    if prefix is None or not repository.run("--literal-pathspecs", "ls-files", "--", init):
        return None
    commit = repository.head()
    tree = WorkTree(Source(project, "git", str(root), None, commit), root, repository=repository, prefix=prefix)
    found = version.of_tags(repository.tags_at(commit)) if commit else None
    found = found or version.of_texts(tree.metadata(), version_text(tree))
    found = None if version.is_stale(found, commit) else found
    return WorkTree(Source(project, "git", str(root), found, commit), root, repository=repository, prefix=prefix)


def _revision_tree(source: Source, repository: Repository, *, prefix: str) -> RevisionTree:
    tree = RevisionTree(source, repository=repository, prefix=prefix)
    found = version.of_tags(repository.tags_at(str(source.revision))) or version.of_texts(None, version_text(tree))
    tree.source = replace(source, version=found)
    return tree


def _prefix_at(commit: str, project: Project, *, repository: Repository, inside: str | None) -> str | None:
    """The project's root in the repository at ``commit``, given that folder or the package folder as ``inside``."""
    package = layout.PACKAGES[project]
    choices = [inside or ""]
    if inside and PurePosixPath(inside).name == package:
        choices.append(inside.removesuffix(f"{package}/"))
    for prefix in choices:
        if repository.run("ls-tree", "--full-tree", "--name-only", commit, "--", f"{prefix}{package}/__init__.py"):
            return prefix
    return None


def _revisions(output: str, path: str) -> Iterable[Revision]:
    """Read ``git log --raw``: a header line for each commit, then a line with the blob of the path in that commit.

    With ``-c`` that line begins with a colon for each parent; then come the parents' modes and the result's, then the
    parents' blobs and the result's.
    """
    for commit, subject, listed in _records(output):
        match = re.search(r"^(:+)([^\t\n]*)\t", listed, re.MULTILINE)
        if match is None:
            continue
        parents, facts = len(match[1]), match[2].split(" ")
        mode, blob = facts[parents], facts[2 * parents + 1]
        if REGULAR_FILE.fullmatch(mode):
            yield Revision(commit, blob, path, subject)


def _steps(output: str, names: Mapping[str, str]) -> Iterable[list[Revision]]:
    """Read ``git log --first-parent --raw``; ``names`` maps paths in the repository to those in the project."""
    for commit, subject, listed in _records(output):
        found = re.findall(r"^:([^:\t\n]*)\t([^\n]*)$", listed, re.MULTILINE)
        # A path with a quote, a backslash or a control character is written another way, and has no steps.
        files = [(names[path], *facts.split(" ")) for facts, path in found if path in names]
        made = [
            Revision(commit, blob if REGULAR_FILE.fullmatch(mode) else "", path, subject)
            for path, _, mode, _, blob, *_ in files
        ]
        if made:
            yield made


def _records(output: str) -> Iterable[tuple[str, str, str]]:
    """The commits of a log: hash, subject, and the lines about its files."""
    # The mark counts only at the start of a line: a subject may contain any character except a line end.
    for record in f"\n{output}".split(f"\n{_MARK}")[1:]:
        header, _, listed = record.partition("\n")
        commit, _, subject = header.partition(" ")
        yield commit, subject, listed
