"""What came in because the copy is taken to be older than the revision that stands for its base: one question each.

Comes in: a merged draft and its base. Goes out: the draft with the questions. May touch: nothing.

What reads a local that such a condition sets stays or goes with it, so all of that is one question.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from runner_sync import lineage
from runner_sync.compose.member_text import canonical
from runner_sync.confidence import INFERRED
from runner_sync.model import TITLES
from runner_sync.statements import Node, below
from runner_sync.statements.dataflow import binds
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


def asking_about_unsynced(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """One question for each condition that came in although the revision named as base has it and omni has not, and for
    those that hang on it."""
    known = {name for node in lineage.nodes_of(draft.before) for name in node.names}
    came = _came(draft, base)
    items = []
    for text, *others in _together([*came], known):
        reason = (
            f"new in {TITLES[base.ref.project]} {base.ref.ref} and not in omni's copy: taken to be newer than the "
            "copy; leave it out if omni had removed it"
        )
        shown = Shown(base=textwrap.dedent(text), upstream=came[text], chosen=came[text])
        item = review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown)
        more = f", with {len(others)} more below that {'hang' if len(others) > 1 else 'hangs'} on it" if others else ""
        items.append(replace(item, reason=item.reason + more))
    return draft.asking(*items)


def _came(draft: Draft, base: Base) -> dict[str, str]:
    """What each such condition came in as."""
    made, before = set(canonical(draft.text)), set(canonical(draft.before))
    found: dict[str, str] = {}
    for text in base.unsynced:
        news = set(canonical(text)) - before
        if news and news <= made:
            found[text] = textwrap.dedent(text)
        elif news and (came := _under_another_condition(text, draft.text, before)):
            found[text] = came
    return found


def _under_another_condition(text: str, made: str, before: set[str]) -> str:
    """The suite in ``made`` of which only the condition is another one than in ``text``: upstream has changed that
    since. Empty where there is none."""
    inside = canonical(text)[1:]
    if not inside or before.issuperset(inside):
        return ""
    nodes = lineage.nodes_of(made)
    for k, node in enumerate(nodes):
        whole = [nodes[i] for i in below(nodes, k)] if node.compound and not node.is_clause else []
        if node.canon not in before and tuple(one.canon for one in whole[1:] if not one.is_comment) == inside:
            return _lines(made, whole)
    return ""


def _lines(text: str, whole: list[Node]) -> str:
    """The lines of a statement with all that is in it."""
    last = max(one.start - 1 + len(one.lines) for one in whole)
    return textwrap.dedent("\n".join(text.split("\n")[whole[0].start - 1 : last]))


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
