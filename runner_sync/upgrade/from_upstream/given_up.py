"""Finds statements of a copy that come from an upstream method that has been removed since.

Comes in: a copy, its base, the revisions at hand. Goes out: canonical statements. May touch: nothing.

People copy from the commit of the day. Between two releases, upstream may build one method out of another and remove
the old one. Such a copy may still have statements of the old method where its base has an edited form of them. These
statements are older upstream text, not omni's edits.
"""

from __future__ import annotations

import re

from runner_sync import lineage, merge
from runner_sync.merge import align
from runner_sync.statements import flatten
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob


def collect_given_up_statements(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> frozenset[str]:
    """Return canonical statements of a copy that replace statements of its base and come from a removed method.

    A removed method is one that upstream's class had before the revision of the base and lacks there. Locals are
    renamed alike before texts are compared.
    """
    sides, owner, text = job.upstream.bases, job.module.anchor.name, draft.text
    at = next((k for k, side in enumerate(sides) if side.ref == origin.ref), 0)
    if not at or not draft.owner:
        return frozenset()
    statements = flatten(text)
    renamed_base = merge.rename_alike(text, [origin.text])[0]
    edited = {statements[pair.right].canon for pair in align(flatten(renamed_base), statements) if not pair.equal}
    # Splitting a module into its units takes long.
    earlier = [side for side in sides[:at] if any(_may_have(side.text, canon) for canon in edited)]
    members_left = sides[at].members(owner) if earlier else {}
    gone = {body for side in earlier for name, body in side.members(owner).items() if name not in members_left}
    alike = [body for body in sorted(gone) if any(_may_have(body, canon) for canon in edited)]
    known = {canon for body in merge.rename_alike(text, alike) for canon in lineage.fingerprint(body)}
    return frozenset(edited & known)


def _may_have(body: str, canon: str) -> bool:
    """Whether ``body`` contains all attribute names and called names of the statement ``canon``; a quick filter.

    These names do not depend on local names. Returns false for a statement without any, which says too little.
    """
    words = _ATTRIBUTES_AND_CALLS.findall(canon)
    return bool(words) and all(word in body for word in words)


_ATTRIBUTES_AND_CALLS = re.compile(r"(?<=\.)\w+|\b\w+(?=\()")
