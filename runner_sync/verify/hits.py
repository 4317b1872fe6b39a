"""What the rules find: findings, and what makes them concern a branch.

Goes out: frozen dataclasses. May touch: nothing. No rule is imported, because a run that recalls what an earlier one
found needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runner_sync.errors import InputError
from runner_sync.model import Finding

Span = tuple[str, int, int]
"""A path, a first and a last line."""

Opinion = Callable[[Sequence[Finding]], Sequence[Finding]]
"""A further source of findings about breakage (a type checker): gets the rules' findings and returns others."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding, and what makes it concern a branch under `check --changed-since`.

    That is a change of its lines or of a span in ``also`` (path, first and last line); with ``is_branchs`` it always
    does. ``is_text``: it is about comments or layout, so changes of these count too. ``is_done``: the code is right and
    only the lock is outdated; that is a note. ``home``: the same at another place where an ignore comment counts.
    """

    finding: Finding
    also: tuple[Span, ...] = ()
    is_branchs: bool = False
    is_text: bool = False
    is_done: bool = False
    home: Finding | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What the rules found in a job, before a branch, a baseline or a severity narrows it.

    ``hits`` are unsilenced, by place. ``is_whole``: no conflict kept rules from running. The other fields are those of
    `CheckResult`.
    """

    hits: tuple[Hit, ...]
    ignored: int = 0
    is_whole: bool = True
    branch_error: InputError | None = None
    unfollowed: tuple[str, ...] = ()
    known: int = 0
