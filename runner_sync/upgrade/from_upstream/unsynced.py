"""Questions about additions that came in because the copy is taken to be older than its base.

Comes in: a merged draft and its base. Goes out: the draft with the questions. May touch: nothing.

The base already has these conditions and wrappers (``with``, ``try``), and omni's copy does not: omni may have removed
them, or was copied before them. Statements that read a local set by such a condition stay or go with it, so all of them
are one question.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from runner_sync import lineage
from runner_sync.compose.member_text import canonical
from runner_sync.confidence import INFERRED
from runner_sync.model import TITLES
from runner_sync.statements import below, in_suite, lines_of
from runner_sync.statements.dataflow import binds
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


def asking_about_unsynced(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """The draft with one question for each condition that the base has, omni's text lacked, and the merge brought in.

    Conditions that use locals set by an earlier one are part of its question.
    """
    known = {name for node in lineage.nodes_of(draft.before) for name in node.names}
    came = _conditions_that_came(draft, base)
    items = []
    for text, *others in _grouped([*came], known):
        reason = (
            f"new in {TITLES[base.ref.project]} {base.ref.ref} and not in omni's copy: taken to be newer than the "
            "copy; leave it out if omni had removed it"
        )
        more = f", with {len(others)} more below that {'hang' if len(others) > 1 else 'hangs'} on it" if others else ""
        for made, line in came[text]:
            shown = Shown(base=textwrap.dedent(text), upstream=made, chosen=made)
            item = review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=line)
            items.append(replace(item, reason=item.reason + more))
    return draft.asking(*items)


def _conditions_that_came(draft: Draft, base: Base) -> dict[str, list[tuple[str, int]]]:
    """For each such condition and wrapper of the base the texts as they came in, each with its line.

    The line is 1 where only one place has the text.
    """
    made, before = set(canonical(draft.text)), set(canonical(draft.before))
    found: dict[str, list[tuple[str, int]]] = {}
    for text in base.unsynced:
        news = set(canonical(text)) - before
        if WRAPPED in news:
            wrapper = _around_something(text, draft.text, news)
            found |= {text: [wrapper]} if wrapper is not None else {}
        elif news and news <= made:
            found[text] = _taken_apart(text, draft.text, news) or [(textwrap.dedent(text), 1)]
        elif news and (came := _under_another_condition(text, draft.text, before)):
            found[text] = [(came, 1)]
        elif changed := _taken_apart(text, draft.text, news):
            found[text] = changed
    return found


def _taken_apart(text: str, made: str, news: Collection[str]) -> list[tuple[str, int]]:
    """The statements of ``made`` under a new head of ``text``, and their lines, where none of them is all of ``text``.

    Upstream may have changed the suite since then, or split it, so that each part asks the same condition.
    """
    whole, own = canonical(text), lineage.nodes_of(textwrap.dedent(text))
    if whole[0] not in news or len(below(own, 0)) < len(own):
        return []
    nodes = lineage.nodes_of(made)
    parts = [[nodes[i] for i in below(nodes, k)] for k, node in enumerate(nodes) if node.canon == whole[0]]
    if any(tuple(node.canon for node in part if not node.is_comment) == whole for part in parts):
        return []
    return [(lines_of(made, part), part[0].start) for part in parts]


WRAPPED = "..."
"""What stands for the statements inside a wrapper."""


def _around_something(text: str, made: str, news: Collection[str]) -> tuple[str, int] | None:
    """The first statement of ``made`` that has the head of ``text``, and in it or its clauses one of the ``news``; and
    its line."""
    own = lineage.nodes_of(textwrap.dedent(text))
    head = next(own[node.parent].canon for node in own if node.canon == WRAPPED)
    nodes = lineage.nodes_of(made)
    for k, node in enumerate(nodes):
        if node.canon == head:
            body = {i for top in in_suite(nodes, k) if not nodes[top].is_clause for i in below(nodes, top)}
            if any(nodes[i].is_telling and nodes[i].canon in news for i in below(nodes, k) if i not in body):
                return lines_of(made, [nodes[i] for i in below(nodes, k)]), node.start
    return None


def _under_another_condition(text: str, made: str, before: set[str]) -> str:
    """The statement of ``made`` that has the same suite as ``text`` below a new condition, which upstream changed
    since.

    Empty where there is none, or where omni had the suite before.
    """
    inside = canonical(text)[1:]
    if not inside or before.issuperset(inside):
        return ""
    nodes = lineage.nodes_of(made)
    for k, node in enumerate(nodes):
        whole = [nodes[i] for i in below(nodes, k)] if node.compound and not node.is_clause else []
        if node.canon not in before and tuple(one.canon for one in whole[1:] if not one.is_comment) == inside:
            return lines_of(made, whole)
    return ""


def _grouped(texts: Sequence[str], known: Collection[str]) -> Iterator[list[str]]:
    """``texts`` in groups: each with the later ones that read a local which the group sets and which is not
    ``known``."""
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
