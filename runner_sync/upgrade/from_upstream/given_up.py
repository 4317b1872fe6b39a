"""Statements that a copy has from a method which upstream has given up since: the copied one was made of it.

Comes in: a copy, its base, the revisions at hand. Goes out: canonical statements. May touch: nothing.

People copy from the commit of the day. When upstream makes a method of another one between two releases, such a copy
has, where its base has been edited since, the statement as the other method had it: no edit of omni's, but older.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner_sync import lineage, merge
from runner_sync.merge import align
from runner_sync.statements import flatten
from runner_sync.units import texts
from runner_sync.upgrade.job import ModuleRevision


def statements_of_given_up(
    text: str, base: str, owner: str, *, sides: Sequence[ModuleRevision], ref: str
) -> frozenset[str]:
    """What ``text`` has in the place of statements of ``base``, its text at ``ref``, and methods had that ``owner`` has
    no more at ``ref``, once locals are called alike. ``sides`` are the revisions, oldest first."""
    at = next((k for k, side in enumerate(sides) if side.ref == ref), 0)
    left = texts.members(sides[at].text, owner, sides[at].path) if at else {}
    gone = {
        body
        for side in sides[:at]
        for name, body in texts.members(side.text, owner, side.path).items()
        if name not in left
    }
    if not gone:
        return frozenset()
    mine = flatten(text)
    named = merge.named_alike(text, [base])[0]
    edited = {mine[pair.right].canon for pair in align(flatten(named), mine) if not pair.equal}
    alike = [body for body in sorted(gone) if any(_may_have(body, canon) for canon in edited)]
    known = {canon for body in merge.named_alike(text, alike) for canon in lineage.fingerprint(body)}
    return frozenset(edited & known)


def _may_have(body: str, canon: str) -> bool:
    """Whether a text has all the words of a statement that are called the same whatever its locals are; a statement
    without such words tells nothing."""
    words = _ATTRIBUTES_AND_CALLS.findall(canon)
    return bool(words) and all(word in body for word in words)


_ATTRIBUTES_AND_CALLS = re.compile(r"(?<=\.)\w+|\b\w+(?=\()")
