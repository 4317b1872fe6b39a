"""Selects the rules whose findings are reported, and where.

Comes in: codes and prefixes. Goes out: ``Codes``, and which rules ran. May touch: nothing; the rules themselves are
not imported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from runner_sync.verify.catalog import OF_BRANCHES, can_run, has_seen_all, known_codes

if TYPE_CHECKING:
    from runner_sync.verify.check_job import CheckJob

BREAKAGE = "RS3"
"""The prefix of the rules about breakage on other trees."""


_COMMENTS = frozenset({"RS491", "RS492"})
"""The rules about ignore comments."""


@dataclass(frozen=True, slots=True)
class Codes:
    """Rule codes or prefixes that are reported (none: all), those left out, and those left out by glob of the path."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_path: Mapping[str, tuple[str, ...]] | None = None

    def wants(self, code: str, path: str = "") -> bool:
        """Whether findings of rule ``code`` are reported for ``path`` (for any path, if none is given)."""
        extra = [c for glob, codes in (self.per_path or {}).items() if path and fnmatchcase(path, glob) for c in codes]
        return is_selected(code, self.select, self.ignore) and is_selected(code, (), extra)

    def to_run(self) -> Codes:
        """Return the rules to run: all of them, if only rules about ignore comments are wanted and RS491 (unused) is.

        Only findings show whether a comment is used.
        """
        is_about_comments = bool(self.select) and not self.wants_any(c for c in known_codes() if c not in _COMMENTS)
        return replace(self, select=(), ignore=()) if is_about_comments and self.wants("RS491") else self

    def wants_any(self, codes: Iterable[str]) -> bool:
        """Whether findings of one of the rules are reported."""
        return any(self.wants(code) for code in codes)

    def wants_group(self, prefix: str) -> bool:
        """Whether findings of some rule of a group such as ``RS3`` are reported."""
        return self.wants_any(code for code in known_codes() if code.startswith(prefix))


ALL = Codes()


def is_selected(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether ``code`` is reported: the longer prefix wins, `ignore` wins a draw; no `select` means all."""
    wanted = max((len(p) for p in _normalise_prefixes(select) if code.startswith(p)), default=-1 if select else 0)
    unwanted = max((len(p) for p in _normalise_prefixes(ignore) if code.startswith(p)), default=-1)
    return wanted > unwanted


def _normalise_prefixes(codes: Iterable[str]) -> Iterator[str]:
    return ("" if code.upper() == "ALL" else code.upper() for code in codes)


def make_has_run(
    job: CheckJob, codes: Codes, *, is_whole: bool, has_opinion: bool, failed: Collection[str] = ()
) -> Callable[[str], bool]:
    """Return a test whether the rule of a code ran in ``job``, so that its silence means something.

    A conflict, without which the job ``is_whole``, silences rules. The rules of ``failed`` made a mistake.
    """

    def has_run(code: str) -> bool:
        if not codes.wants(code) or not is_whole or code in OF_BRANCHES or code in failed:
            return False
        if code.startswith(BREAKAGE):
            return job.world is not None and (code != "RS390" or has_opinion)
        return code != "RS490" and can_run(code, job) and has_seen_all(code, job)

    return has_run
