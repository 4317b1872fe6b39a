"""Which side wins a conflict.

Comes in and goes out: frozen values. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from runner_sync.merge.reason import Veto

Winner = Literal["omni", "upstream"]
Preference = Literal["omni", "upstream", "review"]
"""The side that wins all conflicts of a unit; with ``review`` each has its default winner and is asked about."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The winning side for each kind of conflict; ``first`` is the side whose additions stand first at one place.

    With ``is_copy``, omni's text was copied from upstream's: then upstream's structure wins, and omni has removed
    whatever it lacks. A text that is no copy keeps its structure, and never had what it lacks. With ``updates_only``
    upstream adds and removes nothing: only statements that both have are brought up to date."""

    edited_here_gone_there: Winner = "omni"
    gone_here_edited_there: Winner = "omni"
    both_edited: Winner = "omni"
    both_added: Winner = "omni"
    first: Winner = "omni"
    is_copy: bool = True
    updates_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the caller of a merge knows: which side wins, and where statements come from. All statements are canonical.

    - ``heritage``: statements of other upstream revisions. If omni has one of them, that is no edit of omni's, but a
      part that was synced at another time (a composite base).
    - ``versions``: those of ``heritage`` from revisions that parts of the copy are known to come from; a statement that
      both sides changed may be merged from one of them.
    - ``veto``: gives the reason why a statement of upstream must not come in.
    - ``foreign``: statements that upstream has from a third party; they neither come in nor are asked about.
    - ``pinned``: statements that omni has from a third party; that upstream no longer has them does not remove them.
    """

    policy: Policy
    heritage: Collection[str] = frozenset()
    veto: Veto | None = None
    foreign: Collection[str] = frozenset()
    pinned: Collection[str] = frozenset()
    versions: Collection[str] = frozenset()


def settled_for(policy: Policy, side: Preference) -> Policy:
    """``policy`` with every conflict settled for one side; unchanged for ``review``."""
    if side == "review":
        return policy
    return replace(policy, edited_here_gone_there=side, gone_here_edited_there=side, both_edited=side, both_added=side)


FOLLOW = Policy()
"""For a copy and the upstream that it follows: upstream's structure wins."""

TOUCH_UP = Policy(updates_only=True)
"""For a method of omni's own that shares some statements with its namesake, such as the unpacking of a record."""

RECORD = Policy(first="upstream")
"""For records such as a ``NamedTuple``: additions of upstream stand before omni's own."""

PORT = Policy(is_copy=False, first="upstream")
"""For the GPU twin, whose methods are structured differently: only what it adds comes in."""
