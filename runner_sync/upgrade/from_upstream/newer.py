"""Questions about conditions that came in as newer than the copy, though the revision named as its base has them.

Comes in: a draft after its merge, and its base. Goes out: the draft with questions. May touch: nothing.

What reads a local that such a condition sets stays or goes with it, so all of that is one question.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from runner_sync import lineage
from runner_sync.confidence import INFERRED
from runner_sync.statements.dataflow import binds
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


def asking_about_unsynced(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """One question for each condition that came in although the revision named as base has it and omni has not, and for
    those that hang on it."""
    made, before = (set(lineage.fingerprint(text)) for text in (draft.text, draft.before))
    news = [(text, set(lineage.fingerprint(text)) - before) for text in base.unsynced]
    known = {name for node in lineage.nodes_of(draft.before) for name in node.names}
    items = []
    for text, *others in _together([text for text, canons in news if canons and canons <= made], known):
        reason = (
            f"new in {base.ref.project} {base.ref.ref} and not in omni's copy: taken to be newer than the copy; "
            "leave it out if omni had removed it"
        )
        said = textwrap.dedent(text)
        shown = Shown(base=said, upstream=said, chosen=said)
        item = review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown)
        more = f", with {len(others)} more below that {'hang' if len(others) > 1 else 'hangs'} on it" if others else ""
        items.append(replace(item, reason=item.reason + more))
    return draft.asking(*items)


def _together(texts: Sequence[str], known: Collection[str]) -> Iterator[list[str]]:
    """The texts, each with those behind it that name a local which it, or one of these, sets and nobody else knows."""
    rest = [*texts]
    while rest:
        group, names, left = [rest[0]], _new_locals(rest[0], known), []
        for text in rest[1:]:
            nodes = lineage.nodes_of(textwrap.dedent(text))
            if any(node.names & names for node in nodes):
                group.append(text)
                names |= _new_locals(text, known)
            else:
                left.append(text)
        yield group
        rest = left


def _new_locals(text: str, known: Collection[str]) -> set[str]:
    return {name for node in lineage.nodes_of(textwrap.dedent(text)) for name in binds(node)}.difference(known)
