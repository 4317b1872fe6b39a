"""A git repository as this room needs it: commands, revisions, objects.

Comes in: a folder. Goes out: command output, commit hashes, blob bytes. May touch: the repository, read only, through
git's commands. Objects are read through GitPython, imported with the first of them because ``check`` reads none.

Programs that the configuration of a repository makes git run while it reads are switched off: file-system monitor,
filters, display of signatures, fetching of what a partial clone lacks. Git's ownership check stays on, and git never
asks for a password.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from runner_sync.errors import InputError
from runner_sync.user_paths import resolved

if TYPE_CHECKING:
    from git import Git

REGULAR_FILE = re.compile(r"100\d{3}")
_WHOLE = "fetch the whole repository (of a partial clone with `git fetch --refetch --no-filter`)"
_SHA_1 = 40
"""Digits of an object name; GitPython reads no longer ones."""

_ABOUT = ("--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir", "--show-cdup")
"""What `open_repository` asks git; outside of a work tree git gives no line for the last one, the way up to the top."""

_DROPPED = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
"""Variables that git never gets. Git hooks export most of them for *their* repository, which may be another one
(``git rev-parse --local-env-vars``, without the configuration), others change how commands read paths or write diffs.
"""

_SETTINGS = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "LANGUAGE": "C",
    "LC_ALL": "C",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class Repository:
    """One repository, opened for reading; the helper process that reads objects ends when this object is freed."""

    def __init__(self, place: Path, *, is_bare: bool = False) -> None:
        self.place = place
        self.is_bare = is_bare

    def run_on_files(self, *arguments: str) -> str:
        """``run`` for a command that compares files of the work tree: by their plain bytes, with filters disabled."""
        return self.run(*arguments, settings=self._no_filters)

    @cached_property
    def _no_filters(self) -> dict[str, str]:
        """Settings that disable every configured filter (``filter.NAME.clean``), in whichever file it is configured."""
        try:
            listed = self.run("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        except InputError:
            return {}  # no filter is configured
        names = dict.fromkeys(key.rpartition(".")[0] for key in listed.split("\0") if key)
        values = {"clean": "", "process": "", "required": "false"}
        return {f"{name}.{key}": value for name in names for key, value in values.items()}

    def run(self, *arguments: str, settings: Mapping[str, str] | None = None) -> str:
        """Standard output of one git command, run with ``settings`` as configuration. Raises ``InputError`` with the
        first line of git's own message if it fails."""
        plain = ("-c", "core.fsmonitor=false", "-c", "diff.orderFile=/dev/null")
        command = ["git", "--no-optional-locks", *plain, *arguments]
        inherited = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        variables = inherited | _SETTINGS | _variables(settings or {})
        try:
            done = subprocess.run(
                command, cwd=self.place, env=variables, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except OSError as error:
            if error.filename == "git":
                raise InputError("git is not installed: install git or give an unpacked tree.") from error
            raise InputError(self._unreadable(str(error.strerror or error))) from error
        except ValueError as error:  # a NUL in a revision, say
            raise InputError(self._unreadable(str(error))) from error
        if done.returncode:
            raise InputError(self._unreadable(os.fsdecode(done.stderr)))
        return os.fsdecode(done.stdout)

    def inside(self, place: Path) -> str | None:
        """``place`` as a prefix of the repository's paths (``""`` or ``folder/``), ``None`` if it is outside of it."""
        try:
            inside = resolved(place).relative_to(resolved(self.place)).as_posix()
        except ValueError:
            return None
        return "" if inside == "." else inside + "/"

    def resolve(self, ref: str) -> str:
        """Full hash of the commit named by a tag, branch, remote branch or hash; ``0.18.0`` finds ``v0.18.0``."""
        commit = self._commit(ref) or self._commit(f"v{ref}")
        if commit is None:
            commit = next(filter(None, map(self._commit, self._remote_branches(ref))), None)
        if commit is not None:
            return commit
        raise InputError(self._unknown(ref))

    def head(self) -> str | None:
        """Full hash of the commit checked out, ``None`` before the first commit."""
        return self._commit("HEAD")

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commits, ``None`` when this clone has none."""
        try:
            return self.run("merge-base", one, other).strip() or None
        except InputError:
            return None

    def is_shallow(self) -> bool:
        """Whether this clone has only a part of the history."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == "true"

    def tags_at(self, commit: str) -> list[str]:
        """Names of the tags that point at ``commit``."""
        return self.run("tag", "--points-at", commit).split()

    def tag_before(self, commit: str, *patterns: str) -> str | None:
        """The nearest tag that matches one of ``patterns`` among the ancestors of ``commit``; ``None`` for none."""
        try:
            matches = (f"--match={pattern}" for pattern in patterns)
            return self.run("describe", "--tags", "--abbrev=0", *matches, f"{commit}^").strip() or None
        except InputError:
            return None

    def blobs(self, commit: str, prefix: str) -> dict[str, str]:
        """``{path: blob id}`` of every regular file below ``prefix`` at ``commit`` (no links, no submodules)."""
        found = {}
        scope = ("--", prefix) if prefix else ()
        for entry in self.run("ls-tree", "-r", "-z", "--full-tree", commit, *scope).split("\0"):
            facts, _, path = entry.partition("\t")
            if REGULAR_FILE.match(facts):
                found[path.removeprefix(prefix)] = facts.split(" ")[2]
        return found

    def blob(self, digest: str) -> bytes:
        """Bytes of one object; all calls share one ``cat-file --batch`` process."""
        from git.exc import BadName, GitCommandError

        if len(digest) != _SHA_1:
            raise InputError(f"{self.place} has SHA-256 object names, which are not read: give an unpacked tree.")
        try:
            with _without_variables():
                return self._git.get_object_data(digest)[3]
        except (ValueError, BadName, GitCommandError, OSError) as error:
            self._git.clear_cache()  # the process has ended: start a new one, because the next object may exist
            raise InputError(f"{self.place} lacks the git object {digest}: {_WHOLE}.") from error

    @cached_property
    def _git(self) -> Git:
        """GitPython's git, used only to read objects."""
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        from git import Git

        git = Git(str(self.place))
        git.update_environment(**_SETTINGS)
        weakref.finalize(self, git.clear_cache)
        return git

    def _unreadable(self, message: str) -> str:
        return f"git cannot read {self.place} ({_reason(message)}): {_remedy(message, self.place)}."

    def _commit(self, name: str) -> str | None:
        try:
            found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
        except InputError:
            return None
        return found.strip() or None

    def _remote_branches(self, ref: str) -> list[str]:
        names = self.run("for-each-ref", "--format=%(refname)", "refs/remotes").split()
        found = [name for name in names if name.split("/", 3)[-1] == ref]
        return sorted(found, key=lambda name: (not name.startswith("refs/remotes/origin/"), name))

    def _unknown(self, ref: str) -> str:
        listed = self.run("for-each-ref", "--format=%(refname)", "refs/tags", "refs/heads", "refs/remotes").split()
        names = {re.sub(r"^refs/(tags|heads|remotes/[^/]+)/", "", name) for name in listed} - {"HEAD"}
        near = difflib.get_close_matches(ref, sorted(names), n=3, cutoff=0.5)
        hint = f" (near it: {', '.join(near)})" if near else ""
        remedy = "give a tag, a branch or a commit hash"
        if self.is_shallow():
            remote, _, branch = ref.partition("/")
            is_remote = branch and remote in self.run("remote").split()
            fetched = f" {remote} {branch}:refs/remotes/{ref}" if is_remote else " --tags"
            remedy += f", or complete this shallow clone with git fetch --unshallow{fetched}"
        return f"{self.place} has no revision {ref}{hint}: {remedy}."


def open_repository(place: Path) -> Repository | None:
    """The repository that ``place`` lies in, or ``None`` when it lies in none. Raises ``InputError`` if git is not
    installed, or refuses to read it."""
    folder = resolved(place)
    near = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)
    try:
        answer = Repository(near).run("rev-parse", *_ABOUT)
    except InputError as error:
        if "not a git repository" in str(error) and not _is_damaged(near / ".git"):
            return None
        raise
    bare, inside, folders = answer.removesuffix("\n").split("\n", 2)
    if inside == "false":
        return Repository(Path(folders), is_bare=bare == "true")
    return Repository(resolved(near / folders.rpartition("\n")[2]))


def _is_damaged(link: Path) -> bool:
    """Whether a ``.git`` that git does not know as a repository is one all the same: the file of a linked work tree
    whose repository is elsewhere, as in a container, or a folder of which a part is missing. Without git nothing would
    tell what has not been committed."""
    return link.is_file() or (link / "HEAD").exists()


@contextmanager
def _without_variables() -> Iterator[None]:
    """This process without the variables that git must not get, as GitPython passes on those of the process."""
    kept = {name: os.environ.pop(name) for name in _DROPPED if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def _variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Environment variables that give git ``settings`` (names may contain any character), in addition to those that the
    environment gives it already."""
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0  # git itself complains about any other count
    given = {"GIT_CONFIG_COUNT": str(first + len(settings))} if settings else {}
    for number, (name, value) in enumerate(settings.items(), start=first):
        given |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return given


def _reason(stderr: str) -> str:
    """The first line of git's own message."""
    return next((line.strip(" .") for line in stderr.splitlines() if line.strip()), "it failed")


def _remedy(stderr: str, place: Path) -> str:
    # Happens in containers, where the checkout belongs to a user of the host.
    if "dubious ownership" in stderr:
        return f"if you trust it, run `git config --global --add safe.directory {shlex.quote(str(place))}`"
    return "repair the checkout"
