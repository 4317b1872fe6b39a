"""Define which side wins a conflict.

Comes in and goes out: frozen values. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from runner_sync.merge.reason import Veto

Winner = Literal["omni", "upstream"]
Preference = Literal["omni", "upstream", "review"]
"""The side that wins all conflicts of a unit; with ``review``, each keeps its default winner and is asked about."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The winning side for each kind of conflict.

    ``first`` is the side whose additions stand first at one place. With ``is_copy``, omni's text is a copy of
    upstream's: upstream's structure wins, and omni removed whatever it lacks. Otherwise omni's structure stays, and
    omni never had what it lacks.
    """

    edited_here_gone_there: Winner = "omni"
    gone_here_edited_there: Winner = "omni"
    both_edited: Winner = "omni"
    both_added: Winner = "omni"
    first: Winner = "omni"
    is_copy: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the caller of a merge knows: which side wins, and where canonical statements come from.

    - ``heritage``: statements of other upstream revisions. In omni's text, such a statement is not an edit, but a part
      that was synced at another time (a composite base).
    - ``versions``: the part of ``heritage`` from revisions that parts of the copy are known to come from. A statement
      that both sides changed may be merged from one of these.
    - ``veto``: returns why an upstream statement must not come in.
    - ``foreign``: statements that upstream has from a third party; they neither come in nor are asked about.
    - ``pinned``: statements that omni has from a third party; they stay when upstream drops them.
    - ``firm``: statements that did not move when upstream has them on the other side of others (`align_around`).
    """

    policy: Policy
    heritage: Collection[str] = frozenset()
    veto: Veto | None = None
    foreign: Collection[str] = frozenset()
    pinned: Collection[str] = frozenset()
    firm: Collection[str] = frozenset()
    versions: Collection[str] = frozenset()


def settle_for(policy: Policy, side: Preference) -> Policy:
    """Return ``policy`` with every conflict settled for one side; unchanged for ``review``."""
    if side == "review":
        return policy
    return replace(policy, edited_here_gone_there=side, gone_here_edited_there=side, both_edited=side, both_added=side)


FOLLOW = Policy()
"""For a copy and the upstream that it follows: upstream's structure wins."""

RECORD = Policy(first="upstream")
"""For records such as a ``NamedTuple``: upstream's additions stand before omni's."""

PORT = Policy(is_copy=False, first="upstream")
"""For the GPU twin, whose methods are structured differently: only its additions come in."""
