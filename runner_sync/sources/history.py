"""Read the revisions of files from ``git log``.

Comes in: a repository, a commit, paths. Goes out: ``Revision`` lists. May touch: the repository through ``repository``,
read only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from runner_sync.model import Revision
from runner_sync.sources.repository import REGULAR_FILE, Repository

_MARK = "\x01"
_WITH_ROOT = ("-c", "log.showRoot=true", "--literal-pathspecs", "log")
_LOG = ("-c", "core.quotePath=false", *_WITH_ROOT, "--full-history", "-c", "--raw", "--no-abbrev")
# The meaning of -m: with another setting in the user's configuration, merges would be left out.
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


def read_revisions(repository: Repository, last: str, names: Mapping[str, str]) -> list[Revision]:
    """Return every revision of a file reachable from the commit ``last``, newest first.

    ``git log --raw`` prints a header line for each commit, then a line for each of ``names`` that the commit changed.
    With ``-c`` such a line begins with a colon for each parent. The modes of the parents and of the result follow, then
    the blobs of the parents and of the result. ``names`` maps paths in the repository to paths in the project. As long
    as one of them exists, those behind it do not count: they are other files.
    """
    output = repository.run(*_LOG, *_PLAIN, last, "--", *names)
    found, existing = list[Revision](), set[str]()
    for commit, subject, listed in reversed([*_split_log(output)]):
        blobs = {}
        for colons, words, path in re.findall(r"^(:+)([^\t\n]*)\t([^\n]*)$", listed, re.MULTILINE):
            parents, facts = len(colons), words.split(" ")
            existing.discard(path)
            if REGULAR_FILE.fullmatch(facts[parents]):
                existing.add(path)
                blobs[path] = facts[2 * parents + 1]
        path = next((name for name in names if name in existing), "")
        if path in blobs:
            found.append(Revision(commit, blobs[path], names[path], subject))
    return found[::-1]


def read_steps(repository: Repository, last: str, names: Mapping[str, str]) -> list[list[Revision]]:
    """Return the new revisions of files for each first-parent commit up to ``last`` that changed any, newest first.

    ``names`` maps paths in the repository to paths in the project.
    """
    output = repository.run(*_STEPS, *_PLAIN, last, "--", *names)
    return list(_read_steps(output, names))


def _read_steps(output: str, names: Mapping[str, str]) -> Iterable[list[Revision]]:
    for commit, subject, listed in _split_log(output):
        found = re.findall(r"^:([^:\t\n]*)\t([^\n]*)$", listed, re.MULTILINE)
        # Git quotes a path with a quote, a backslash or a control character; such a path has no steps.
        files = [(names[path], *facts.split(" ")) for facts, path in found if path in names]
        revisions = [
            Revision(commit, blob if REGULAR_FILE.fullmatch(mode) else "", path, subject)
            for path, _, mode, _, blob, *_ in files
        ]
        if revisions:
            yield revisions


def _split_log(output: str) -> Iterable[tuple[str, str, str]]:
    """Yield the commits of a log: hash, subject, and the lines about its files."""
    # The mark counts only at the start of a line: a subject may contain any character except a line end.
    for record in f"\n{output}".split(f"\n{_MARK}")[1:]:
        header, _, listed = record.partition("\n")
        commit, _, subject = header.partition(" ")
        yield commit, subject, listed
