"""Find which lines and file names a branch changed.

Comes in: a repository, the commit at which the branch began, and its end (a commit or the work tree). Goes out: line
numbers and old paths, by path. May touch: the repository, read only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner_sync.errors import InputError
from runner_sync.sources.repository import Repository

_DIFF = ("--literal-pathspecs", "-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff")
_PLAIN = (
    "--text",  # git's attributes are the branch's own: `-diff` or `binary` would hide what it changed
    "--no-textconv",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--find-renames",
    "-l1000",
    "--no-relative",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def find_changed_lines(repository: Repository, start: str, *, to: str | None, prefix: str) -> dict[str, frozenset[int]]:
    """Return ``{path: lines}`` changed between the commits ``start`` and ``to``; ``None`` is the work tree.

    Includes only paths below ``prefix``, relative to it. Lines are 1-based lines of the new text; where lines were only
    removed, the two lines around them count. A renamed file is compared with its text under the old name.
    """
    changed = _read_changed_lines(_run_diff(repository, start, to, prefix))
    return {path.removeprefix(prefix): lines for path, lines in changed if path.startswith(prefix)}


def find_renames(repository: Repository, start: str, *, to: str | None, prefix: str) -> dict[str, str]:
    """Return ``{new path: old path}`` of the files renamed since the commit ``start``.

    The arguments are those of ``find_changed_lines``.
    """
    fields = _run_diff(repository, start, to, prefix, "--name-status", "-z", "--diff-filter=R").split("\0")
    pairs = zip(fields[1::3], fields[2::3], strict=False)
    return {new.removeprefix(prefix): old.removeprefix(prefix) for old, new in pairs if new.startswith(prefix)}


def _run_diff(repository: Repository, start: str, to: str | None, prefix: str, *options: str) -> str:
    revisions = (start,) if to is None else (start, to)
    scope = ("--", prefix) if prefix else ()
    return repository.run_on_files(*_DIFF, *_PLAIN, *options, *revisions, *scope)


def list_untracked(repository: Repository, *, prefix: str) -> list[str]:
    """Return the files of the work tree below ``prefix``, relative to it, that git neither tracks nor ignores."""
    scope = ("--", prefix) if prefix else ()
    listed = repository.run("--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", *scope)
    return [name.removeprefix(prefix) for name in listed.split("\0") if name.startswith(prefix) and name]


def find_fork_point(repository: Repository, since: str, head: str) -> str:
    """Return the commit at which ``head`` branched off from ``since``.

    Raises ``InputError`` for an unknown revision, and if the two have no common commit in this clone.
    """
    found = repository.find_merge_base(repository.resolve(since), repository.resolve(head))
    if found is not None:
        return found
    if repository.is_shallow():
        raise InputError(
            f"{repository.place} is a shallow clone without the commit at which this branch left {since}: complete it "
            "with git fetch --unshallow (in a workflow, check out with fetch-depth: 0)."
        )
    raise InputError(
        f"{repository.place}: {since} and this branch have no commit in common; name a revision that the branch is "
        "made from."
    )


def _read_changed_lines(diff: str) -> Iterator[tuple[str, frozenset[int]]]:
    path, lines = "", set[int]()
    rows = iter(diff.split("\n"))
    for row in rows:
        if row.startswith("+++ "):
            if path:
                yield path, frozenset(lines)
            path, lines = _read_path(row), set()
        elif hunk := _HUNK.match(row):
            gone, first, new = (int(hunk[k] or 1) for k in (1, 2, 3))
            lines |= set(range(first, first + new)) if new else {first, first + 1}
            _skip(rows, gone + new)
    if path:
        yield path, frozenset(lines)


def _skip(rows: Iterator[str], count: int) -> None:
    """Skip the ``count`` lines of a hunk, which may look like headers.

    Git's remark about a missing final newline is not counted.
    """
    while count > 0:
        count -= not next(rows, "+").startswith("\\")


def _read_path(row: str) -> str:
    """Return the path of a ``+++`` line; empty for a removed file."""
    name = row.removeprefix("+++ ").rstrip("\t")
    return name.removeprefix("b/") if name.startswith("b/") else ""
