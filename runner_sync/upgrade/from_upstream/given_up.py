"""Statements that a copy has from an upstream method that has been removed since.

Comes in: a copy, its base, the revisions at hand. Goes out: canonical statements. May touch: nothing.

People copy from the commit of the day. If upstream, between two releases, builds one method out of another and removes
the old one, such a copy may still have statements of the old method where its base has an edited form of them. Those
are older upstream text and no edits of omni's.
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
    """Canonical statements of ``text`` that replace statements of ``base`` and come from a removed upstream method.

    ``base`` is upstream's text at ``ref``, ``sides`` are the revisions of its module, oldest first. A removed method is
    one that class ``owner`` had before ``ref`` and no longer has at ``ref``. Texts are compared after renaming locals
    alike.
    """
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
    """Whether ``body`` contains all attribute names and called names of the statement ``canon``.

    These do not depend on how locals are named. False for a statement without any: it says too little. A quick filter.
    """
    words = _ATTRIBUTES_AND_CALLS.findall(canon)
    return bool(words) and all(word in body for word in words)


_ATTRIBUTES_AND_CALLS = re.compile(r"(?<=\.)\w+|\b\w+(?=\()")
