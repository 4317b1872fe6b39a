"""Questions about what a merge made of a method, whatever the merge itself thought of it.

Comes in: drafts. Goes out: review items on them. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.compose.assignment import read_too_early
from runner_sync.compose.soundness import unreachable, uses_of
from runner_sync.upgrade.doubts import review
from runner_sync.upgrade.job import Draft


def ask_about_order(draft: Draft, path: str) -> None:
    """Ask where a local is read above everything that sets it, and where a statement can never run."""
    if not _is_changed(draft):
        return
    known = read_too_early(draft.before)
    for name, line in read_too_early(draft.text).items():
        if name not in known:
            _ask(draft, path, f"{name} is read here before anything sets it", line)
    lines = draft.before.split("\n")
    idle = {lines[line - 1].strip() for line in unreachable(draft.before)}
    for line in unreachable(draft.text):
        if draft.text.split("\n")[line - 1].strip() not in idle:
            _ask(draft, path, "this can never run: the statement above it leaves the suite", line)


def ask_about_unknown(name: str, drafts: Iterable[Draft], path: str) -> None:
    """Ask where a name is read that neither the module nor any import at hand defines."""
    for draft in drafts:
        if _is_changed(draft):
            for line in uses_of(draft.text, name)[:1]:
                _ask(draft, path, f"nothing at hand defines {name}", line)


def _is_changed(draft: Draft) -> bool:
    return not draft.removed and draft.text != draft.before and bool(draft.text.strip())


def _ask(draft: Draft, path: str, reason: str, line: int) -> None:
    here = draft.text.split("\n")[line - 1]
    draft.reviews.append(review(draft, path, reason, 0.1, "", "", here, here, line=line))
