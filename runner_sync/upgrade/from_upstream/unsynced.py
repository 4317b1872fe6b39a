"""Asks about additions that came in because the copy is taken to be older than its base.

Comes in: a merged draft and its base. Goes out: the draft with the questions. May touch: nothing.

The base already has these conditions and wrappers (``with``, ``try``), and omni's copy does not. Either omni removed
them, or the copy is older. Statements that read a local set by such a condition stay or go with it, so they share its
question.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from runner_sync import lineage
from runner_sync.confidence import INFERRED
from runner_sync.model import TITLES
from runner_sync.statements import below, in_suite, lines_of
from runner_sync.statements.dataflow import binds
from runner_sync.texts.member_text import canonical
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review


def ask_about_unsynced(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """Ask about each condition that the base has, omni's text lacked, and the merge brought in.

    Conditions that use locals set by an earlier one are part of its question.
    """
    known_names = {name for node in lineage.list_nodes(draft.before) for name in node.names}
    conditions = _find_new_conditions(draft, base)
    items = []
    for text, *others in _group_dependent([*conditions], known_names):
        reason = (
            f"{TITLES[base.ref.project]} {base.ref.ref} has this and omni's copy did not: it was added, because the "
            "copy seems to be older; take it out if omni had removed it"
        )
        more = f"; {len(others)} more below {'depend' if len(others) > 1 else 'depends'} on it" if others else ""
        for text_now, line in conditions[text]:
            shown = Shown(base=textwrap.dedent(text), upstream=text_now, chosen=text_now)
            item = make_review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=line)
            items.append(replace(item, reason=item.reason + more))
    return draft.with_questions(*items)


def _find_new_conditions(draft: Draft, base: Base) -> dict[str, list[tuple[str, int]]]:
    """Return for each such condition and wrapper of the base its texts as they came in, each with its line.

    A line of 1 leaves it to ``placing`` to find the text.
    """
    statements_now, before = set(canonical(draft.text)), set(canonical(draft.before))
    found: dict[str, list[tuple[str, int]]] = {}
    for text in base.unsynced:
        new_statements = set(canonical(text)) - before
        if WRAPPED in new_statements:
            wrapper = _find_wrapper(text, draft.text, new_statements)
            found |= {text: [wrapper]} if wrapper is not None else {}
        elif new_statements and new_statements <= statements_now:
            found[text] = _find_parts(text, draft.text, new_statements) or [(textwrap.dedent(text), 1)]
        elif new_statements and (changed_suite := _find_under_new_condition(text, draft.text, before)):
            found[text] = [(changed_suite, 1)]
        elif changed := _find_parts(text, draft.text, new_statements):
            found[text] = changed
    return found


def _find_parts(text: str, text_now: str, new_statements: Collection[str]) -> list[tuple[str, int]]:
    """Return the statements of ``text_now`` under a new head of ``text``, with lines, unless one is all of ``text``.

    Upstream may have changed the suite since then, or split it so that each part tests the same condition.
    """
    statements, nodes_of_text = canonical(text), lineage.list_nodes(textwrap.dedent(text))
    if statements[0] not in new_statements or len(below(nodes_of_text, 0)) < len(nodes_of_text):
        return []
    nodes = lineage.list_nodes(text_now)
    parts = [[nodes[i] for i in below(nodes, k)] for k, node in enumerate(nodes) if node.canon == statements[0]]
    if any(tuple(node.canon for node in part if not node.is_comment) == statements for part in parts):
        return []
    return [(lines_of(text_now, part), part[0].start) for part in parts]


WRAPPED = "..."
"""Stands for the statements inside a wrapper."""


def _find_wrapper(text: str, text_now: str, new_statements: Collection[str]) -> tuple[str, int] | None:
    """Return the first statement of ``text_now`` that has the head of ``text``, and its line.

    The head or its clauses must contain one of the ``new_statements``.
    """
    nodes_of_text = lineage.list_nodes(textwrap.dedent(text))
    head = next(nodes_of_text[node.parent].canon for node in nodes_of_text if node.canon == WRAPPED)
    nodes = lineage.list_nodes(text_now)
    for k, node in enumerate(nodes):
        if node.canon == head:
            body = {i for top in in_suite(nodes, k) if not nodes[top].is_clause for i in below(nodes, top)}
            if any(nodes[i].is_telling and nodes[i].canon in new_statements for i in below(nodes, k) if i not in body):
                return lines_of(text_now, [nodes[i] for i in below(nodes, k)]), node.start
    return None


def _find_under_new_condition(text: str, text_now: str, before: set[str]) -> str:
    """Return the statement of ``text_now`` that has the suite of ``text`` under a condition changed since.

    Returns an empty string if there is none, or if omni had the suite before.
    """
    inside = canonical(text)[1:]
    if not inside or before.issuperset(inside):
        return ""
    nodes = lineage.list_nodes(text_now)
    for k, node in enumerate(nodes):
        whole = [nodes[i] for i in below(nodes, k)] if node.compound and not node.is_clause else []
        if node.canon not in before and tuple(one.canon for one in whole[1:] if not one.is_comment) == inside:
            return lines_of(text_now, whole)
    return ""


def _group_dependent(texts: Sequence[str], known: Collection[str]) -> Iterator[list[str]]:
    """Yield ``texts`` in groups: each text with the later ones that read a local which the group sets.

    Ignores ``known`` locals.
    """
    rest = [*texts]
    while rest:
        group, names, left = [rest[0]], _collect_new_locals(rest[0], known), []
        for text in rest[1:]:
            nodes = lineage.list_nodes(textwrap.dedent(text))
            if any(node.names & names for node in nodes):
                group.append(text)
                names |= _collect_new_locals(text, known)
            else:
                left.append(text)
        yield group
        rest = left


def _collect_new_locals(text: str, known: Collection[str]) -> set[str]:
    return {name for node in lineage.list_nodes(textwrap.dedent(text)) for name in binds(node)}.difference(known)
