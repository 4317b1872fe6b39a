"""Asks about upstream code in one copy whose counterpart came into another copy of the class.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

Code of its base that a copy lacks can come with an upgrade, because the copy is taken to be older than the base or
because upstream moved the code. A question there says so. In another copy of the class the counterpart still counts as
removed by omni, and no merge asks about it::

    vllm-ascend  execute_model    if self.balances: self.loads.begin()     came, and is asked about
                 sample_tokens    if self.balances: self.loads.end()       omni's copy never had it

Counterparts have the same test, or call the same method of the same object.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import list_nodes
from runner_sync.model import ReviewItem
from runner_sync.statements import Node, below, enclosing, lines_of
from runner_sync.texts.member_text import canonical
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.lines import strip_lines
from runner_sync.upgrade.questions.objects_used import is_on_kept_object
from runner_sync.upgrade.questions.reviews import Shown, make_review


@dataclass(frozen=True, slots=True)
class _Addition:
    """Upstream code that came into a copy, as one question shows it: its new tests and calls."""

    item: ReviewItem
    tests: frozenset[str]
    calls: frozenset[str]

    @classmethod
    def from_item(cls, item: ReviewItem, before: Collection[str]) -> _Addition:
        new_nodes = [node for node in list_nodes(textwrap.dedent(item.chosen)) if node.canon not in before]
        tests = {node.canon for node in new_nodes if node.keyword == "if"}
        return cls(
            item, frozenset(tests), frozenset(node.called for node in new_nodes if is_on_kept_object(node.called))
        )

    def is_counterpart_of(self, node: Node) -> bool:
        """Whether ``node`` has a test or call of the addition."""
        return node.canon in self.tests or node.called in self.calls


def ask_about_counterparts(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask once about each copy that lacks counterparts of additions to other copies of its class."""
    additions = [(draft, one) for draft in drafts for one in _find_additions(draft)]
    return [
        draft.with_questions(
            *_ask_about_missing(draft, job, [one for other, one in additions if _is_sibling(draft, other)])
        )
        for draft in drafts
    ]


def find_asked_counterparts(drafts: Sequence[Draft]) -> Iterator[tuple[str, str]]:
    """Yield pairs of ids: an item about upstream code that came, and one about a counterpart that was left out."""
    left_out = [
        (draft, item, list_nodes(textwrap.dedent(item.upstream)))
        for draft in drafts
        for item in draft.reviews
        if draft.kind == "copy" and not item.from_gpu and item.keeps_omni
    ]
    for draft in drafts:
        for addition in _find_additions(draft):
            for other, item, nodes in left_out:
                if _is_sibling(draft, other) and any(addition.is_counterpart_of(node) for node in nodes):
                    yield addition.item.id, item.id


def _is_sibling(draft: Draft, other: Draft) -> bool:
    return draft.owner == other.owner != "" and draft.name != other.name


def _find_additions(draft: Draft) -> Iterator[_Addition]:
    """Yield the upstream code that each question shows as new in the copy."""
    before = {*canonical(draft.before)}
    for item in draft.reviews if draft.kind == "copy" and not draft.removed else ():
        if not item.from_gpu and not item.omni.strip() and item.chosen.strip():
            yield _Addition.from_item(item, before)


def _ask_about_missing(draft: Draft, job: ModuleJob, additions: Sequence[_Addition]) -> Iterator[ReviewItem]:
    if not additions or draft.kind != "copy" or draft.upstream is None or draft.removed:
        return
    missing = _find_missing(draft, draft.upstream, additions)
    if missing:
        ids = ", ".join(dict.fromkeys(one.item.id for one, _ in missing))
        there = f"{job.upstream_title} has this as a counterpart of what {ids} added"
        reason = f"{there}, and omni's copy lacks it: take both or neither"
        shown = Shown(upstream="\n".join(text for _, text in missing))
        yield make_review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown)


def _find_missing(draft: Draft, upstream: str, additions: Sequence[_Addition]) -> list[tuple[_Addition, str]]:
    """Return the upstream statements that the draft lacks and does not ask about, each with its counterpart."""
    nodes, known = list_nodes(upstream), {*canonical(draft.text)}
    asked_lines = {line for item in draft.reviews for line in strip_lines(item.upstream)}
    known |= {node.canon for node in nodes if all(line.strip() in asked_lines for line in node.lines)}
    found: list[tuple[_Addition, str]] = []
    seen: set[int] = set()
    for k, node in enumerate(nodes):
        one = next((one for one in additions if one.is_counterpart_of(node)), None)
        if one is None or k in seen or node.canon in known:
            continue
        statement = below(nodes, _find_outermost(nodes, k, known))
        seen.update(statement)
        found.append((one, lines_of(upstream, [nodes[i] for i in statement])))
    return found


def _find_outermost(nodes: Sequence[Node], index: int, known: Collection[str]) -> int:
    """Return the outermost statement reached from a node through enclosing statements that are not ``known``."""
    top = index
    for head in enclosing(nodes, index):
        if nodes[head].canon in known or nodes[head].defines:
            break
        top = head
    return top
