"""Who wins where both sides have a claim.

Comes in and goes out: one frozen value. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Winner = Literal["omni", "upstream"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The winning side per kind of conflict. ``nesting`` is about statements that both sides put into other suites,
    ``first`` about the order of additions at one place. With ``updates_only`` upstream adds and removes nothing: only
    statements that both have are brought up to date."""

    edited_here_gone_there: Winner = "omni"
    gone_here_edited_there: Winner = "omni"
    both_edited: Winner = "omni"
    both_added: Winner = "omni"
    nesting: Winner = "upstream"
    first: Winner = "omni"
    updates_only: bool = False


def settled_for(policy: Policy, side: str) -> Policy:
    """``policy`` with every conflict settled for one side; any other word than a side changes nothing."""
    match side:
        case "omni" | "upstream":
            return replace(
                policy, edited_here_gone_there=side, gone_here_edited_there=side, both_edited=side, both_added=side
            )
        case _:
            return policy


FOLLOW = Policy()
"""For the upstream that the copy follows: its structure wins."""

TOUCH_UP = Policy(updates_only=True)
"""For a method of omni's own that shares some statements with its namesake, such as the unpacking of a record."""

RECORD = Policy(first="upstream")
"""For records such as a ``NamedTuple``: additions of upstream stand before omni's own."""

PORT = Policy(nesting="omni", first="upstream")
"""For the GPU twin, whose methods are built in another way: only what it adds comes in."""
