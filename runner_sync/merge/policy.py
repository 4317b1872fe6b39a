"""Who wins where both sides have a claim.

Comes in and goes out: frozen values. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from runner_sync.merge.reason import Veto

Winner = Literal["omni", "upstream"]
Preference = Literal["omni", "upstream", "review"]
"""Which side people let win in a unit; ``review`` where each conflict has its own winner and is asked about."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The winning side per kind of conflict, ``first`` of the order of additions at one place.

    ``is_copy`` is whether omni's text was copied from upstream's: then upstream's structure wins, and what omni lacks
    it has removed. A text that was made in another way keeps its structure, and never had what it lacks. With
    ``updates_only`` upstream adds and removes nothing: only statements that both have are brought up to date."""

    edited_here_gone_there: Winner = "omni"
    gone_here_edited_there: Winner = "omni"
    both_edited: Winner = "omni"
    both_added: Winner = "omni"
    first: Winner = "omni"
    is_copy: bool = True
    updates_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the caller of a merge knows of its sides: which one wins, and which statements are of neither.

    ``heritage`` holds the canonical statements of other upstream revisions: one of omni's that stands in them is no
    edit of omni's but a part that was synced at another time (a composite base). ``veto`` gives the reason why a
    canonical statement of upstream must not come in. ``foreign`` are statements that upstream has from a third
    party: they neither come in nor are worth a question. ``versions`` are those of ``heritage`` that are of
    revisions which parts of the copy come from: what both sides changed may be merged from one of them. ``pinned``
    are statements that omni has from a third party: they do not go because upstream no longer has them.
    """

    policy: Policy
    heritage: Collection[str] = frozenset()
    veto: Veto | None = None
    foreign: Collection[str] = frozenset()
    pinned: Collection[str] = frozenset()
    versions: Collection[str] = frozenset()


def settled_for(policy: Policy, side: Preference) -> Policy:
    """``policy`` with every conflict settled for one side; as it is for ``review``."""
    if side == "review":
        return policy
    return replace(policy, edited_here_gone_there=side, gone_here_edited_there=side, both_edited=side, both_added=side)


FOLLOW = Policy()
"""For the upstream that the copy follows: its structure wins."""

TOUCH_UP = Policy(updates_only=True)
"""For a method of omni's own that shares some statements with its namesake, such as the unpacking of a record."""

RECORD = Policy(first="upstream")
"""For records such as a ``NamedTuple``: additions of upstream stand before omni's own."""

PORT = Policy(is_copy=False, first="upstream")
"""For the GPU twin, whose methods are built in another way: only what it adds comes in."""
