"""Run the git commands that this room needs: revisions, objects, status.

Comes in: a folder. Goes out: command output, commit hashes, blob bytes. May touch: the repository, read only, through
git's commands. Objects are read through GitPython, imported on first use because ``check`` reads none.

Programs that a repository's configuration makes git run while it reads are disabled: file-system monitor, filters,
display of signatures, lazy fetching in partial clones. Git's ownership check stays on, and git never asks for a
password.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import weakref
from collections.abc import Iterator, Mapping, Sequence
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
"""Digits of an object name; GitPython reads no longer names."""

_ABOUT = ("--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir", "--show-cdup")
"""Questions of `open_repository` to git. Outside of a work tree git prints no line for the last one, the way up to the
top."""

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
"""Variables that are hidden from git.

Git hooks export most of them for their own repository, which may be another one (``git rev-parse --local-env-vars``,
without the configuration). The others change how commands read paths or write diffs.
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
    """A repository opened for reading; the helper process that reads objects ends when this object is freed."""

    def __init__(self, place: Path, *, is_bare: bool = False) -> None:
        self.place = place
        self.is_bare = is_bare

    def run_on_files(self, *arguments: str) -> str:
        """Like ``run``, for a command that compares work tree files: with filters disabled, so that plain bytes are
        compared."""
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

    def run(self, *arguments: str, settings: Mapping[str, str] | None = None, given: str = "") -> str:
        """Return the standard output of one git command, run with ``settings`` as configuration.

        ``given`` is its standard input.

        Raises ``InputError`` with the first line of git's own message if the command fails.
        """
        plain = ("-c", "core.fsmonitor=false", "-c", "diff.orderFile=/dev/null")
        command = ["git", "--no-optional-locks", *plain, *arguments]
        inherited = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        variables = inherited | _SETTINGS | _make_variables(settings or {})
        try:
            done = subprocess.run(
                command, cwd=self.place, env=variables, input=os.fsencode(given), capture_output=True, check=False
            )
        except OSError as error:
            if error.filename == "git":
                raise InputError("git is not installed: install git or give an unpacked tree.") from error
            raise InputError(self._explain_failure(str(error.strerror or error))) from error
        except ValueError as error:  # a NUL in a revision, say
            raise InputError(self._explain_failure(str(error))) from error
        if done.returncode:
            raise InputError(self._explain_failure(os.fsdecode(done.stderr)))
        return os.fsdecode(done.stdout)

    def make_prefix(self, place: Path) -> str | None:
        """Return ``place`` as a prefix of the repository's paths (``""`` or ``folder/``); ``None`` if it is outside."""
        try:
            inside = resolved(place).relative_to(resolved(self.place)).as_posix()
        except ValueError:
            return None
        return "" if inside == "." else inside + "/"

    def resolve(self, ref: str) -> str:
        """Return the full hash of a tag, branch, remote branch or commit hash; ``0.18.0`` finds ``v0.18.0``."""
        commit = self._find_commit(ref) or self._find_commit(f"v{ref}")
        if commit is None:
            commit = next(filter(None, map(self._find_commit, self._find_remote_branches(ref))), None)
        if commit is not None:
            return commit
        raise InputError(self._explain_unknown(ref))

    def read_head(self) -> tuple[str | None, list[str]]:
        """Return the full hash of the checked-out commit, ``None`` before the first one, and the tags that point at it.

        A name in git has no blanks, so ", " stands only between two of them.
        """
        plain = ("-1", "--encoding=UTF-8", "--no-color", "--no-show-signature")
        tags = ("--decorate=full", "--decorate-refs=refs/tags/")
        try:
            answer = self.run("log", *plain, *tags, "--format=%H %D", "HEAD", "--")
        except InputError:
            return None, []
        commit, _, names = answer.rstrip("\n").partition(" ")
        return commit, [name.removeprefix("tag: refs/tags/") for name in names.split(", ") if name]

    def find_merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor of two commits; ``None`` if this clone has none."""
        try:
            return self.run("merge-base", one, other).strip() or None
        except InputError:
            return None

    def is_shallow(self) -> bool:
        """Whether this clone has only a part of the history."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == "true"

    def list_missing(self, commits: Sequence[str]) -> list[str]:
        """Return those of ``commits`` (whole or abbreviated hashes) that this clone does not have."""
        asked = "".join(f"{commit}^{{commit}}\n" for commit in commits)
        answers = self.run("cat-file", "--batch-check", given=asked).splitlines()
        return [commit for commit, answer in zip(commits, answers, strict=True) if answer.endswith(" missing")]

    def list_tags_at(self, commit: str) -> list[str]:
        """Return the names of the tags that point at ``commit``."""
        return self.run("tag", "--points-at", commit).split()

    def find_tag_before(self, commit: str, *patterns: str) -> str | None:
        """Return the nearest tag among the ancestors of ``commit`` that matches one of ``patterns``; ``None`` if none
        does."""
        try:
            matches = (f"--match={pattern}" for pattern in patterns)
            return self.run("describe", "--tags", "--abbrev=0", *matches, f"{commit}^").strip() or None
        except InputError:
            return None

    def list_blobs(self, commit: str, prefix: str) -> dict[str, str]:
        """Return ``{path: blob id}`` of every regular file below ``prefix`` at ``commit`` (no links, no submodules)."""
        found = {}
        scope = ("--", prefix) if prefix else ()
        for entry in self.run("ls-tree", "-r", "-z", "--full-tree", commit, *scope).split("\0"):
            facts, _, path = entry.partition("\t")
            if REGULAR_FILE.match(facts):
                found[path.removeprefix(prefix)] = facts.split(" ")[2]
        return found

    def blob(self, digest: str) -> bytes:
        """Return the bytes of one object; all calls share one ``cat-file --batch`` process."""
        from git.exc import BadName, GitCommandError

        if len(digest) != _SHA_1:
            raise InputError(f"{self.place} has SHA-256 object names, which are not read: give an unpacked tree.")
        try:
            with _hide_variables():
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

    def _explain_failure(self, message: str) -> str:
        return f"git cannot read {self.place} ({_get_reason(message)}): {_choose_remedy(message, self.place)}."

    def _find_commit(self, name: str) -> str | None:
        try:
            found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
        except InputError:
            return None
        return found.strip() or None

    def _find_remote_branches(self, ref: str) -> list[str]:
        names = self.run("for-each-ref", "--format=%(refname)", "refs/remotes").split()
        found = [name for name in names if name.split("/", 3)[-1] == ref]
        return sorted(found, key=lambda name: (not name.startswith("refs/remotes/origin/"), name))

    def _explain_unknown(self, ref: str) -> str:
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
    """Return the repository that contains ``place``; ``None`` if there is none.

    Raises ``InputError`` if git is not installed or refuses to read the repository.
    """
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


def list_refs(place: Path) -> list[str]:
    """Return the branches, remote branches and tags of the repository that contains ``place``; none outside of one."""
    repository = open_repository(place)
    kinds = ("refs/heads", "refs/remotes", "refs/tags")
    return repository.run("for-each-ref", "--format=%(refname:short)", *kinds).split() if repository else []


def _is_damaged(link: Path) -> bool:
    """Whether a ``.git`` that git does not recognise is a repository nevertheless.

    This is the file of a linked work tree whose repository is elsewhere, as in a container, or an incomplete folder.
    Treating it as no repository would hide uncommitted changes.
    """
    return link.is_file() or (link / "HEAD").exists()


@contextmanager
def _hide_variables() -> Iterator[None]:
    """Remove the variables in ``_DROPPED`` from this process for the duration, because GitPython passes them on to
    git."""
    kept = {name: os.environ.pop(name) for name in _DROPPED if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def _make_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables that give git ``settings`` in addition to the settings already in the environment.

    Names of settings may contain any character.
    """
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0  # git itself complains about any other count
    given = {"GIT_CONFIG_COUNT": str(first + len(settings))} if settings else {}
    for number, (name, value) in enumerate(settings.items(), start=first):
        given |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return given


def _get_reason(stderr: str) -> str:
    """Return the first line of git's own message."""
    return next((line.strip(" .") for line in stderr.splitlines() if line.strip()), "it failed")


def _choose_remedy(stderr: str, place: Path) -> str:
    # Happens in containers, where the checkout belongs to a user of the host.
    if "dubious ownership" in stderr:
        return f"if you trust it, run `git config --global --add safe.directory {shlex.quote(str(place))}`"
    return "repair the checkout"
